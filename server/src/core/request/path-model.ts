import { Fault } from '../fault/fault.ts'
import { named, shown } from '../fault/shown.ts'

/** The model that the path names. `pathWins`: as Azure does, ignore the model of the body. */
export interface PathModel {
  readonly model: string
  readonly pathWins: boolean
}

/** The model that a request asks for, by its path or its body. */
export function modelIn(value: unknown, path: PathModel | undefined): string {
  if (path) {
    if (path.pathWins || value === undefined || value === null || value === path.model) return path.model
    throw new Fault(
      'model_mismatch',
      `The path names the model ${named(path.model)}, and the body names ${shown(value)}. Send the same model in both.`,
      {
        param: 'model',
      },
    )
  }
  if (value === undefined || value === null) {
    throw new Fault(
      'missing_parameter',
      'model is missing. GET /v1/models lists the models that this key may use.',
      {
        param: 'model',
      },
    )
  }
  if (typeof value !== 'string' || value === '') {
    throw new Fault('invalid_parameter', 'model must be the id of a model, as a string.', { param: 'model' })
  }
  return value
}
