/** Answers by another model than the one that was asked for, by what the upstream itself says. */
import type { Upstream } from './catalog.ts'

export interface Substitution {
  readonly deployment: string
  /** The upstream's name for the model that was asked for. */
  readonly asked: string
  /** The name in its answer. */
  readonly answered: string
}

interface Asked {
  readonly id: string
  readonly upstream: Pick<Upstream, 'dialect'>
  readonly upstreamModel: string
  readonly answersAs?: readonly string[] | undefined
}

/** Names that are no model ids become this one, and so do all beyond the names that are counted apart. */
export const OTHER_MODEL = 'other'

const MODEL_ID = /^[\x21-\x7e]{1,200}$/

/** Undefined: the answer is by the model that was asked for, or does not say. Names are compared, never interpreted. */
export function substitutionIn(
  { id, upstream, upstreamModel, answersAs }: Asked,
  answered: unknown,
): Substitution | undefined {
  if (answered === upstreamModel || typeof answered !== 'string' || answered === '') return undefined
  // On Azure the operator chose the name of the deployment: it says nothing about the model.
  if (answersAs === undefined ? upstream.dialect === 'azure' : answersAs.includes(answered)) return undefined
  const name = MODEL_ID.test(answered) ? answered : OTHER_MODEL
  return { deployment: id, asked: upstreamModel, answered: name }
}
