/** Calibrations: the ranges by which int8 and uint8 are made of the vectors of one space. */
import { z } from 'zod'
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import { answeringSpace, spaceOf } from '#core/embedding/space.ts'
import {
  calibrationId,
  faultInRanges,
  MIN_CALIBRATION_VECTORS,
  type Calibration,
} from '#core/embedding/vector-types/calibration.ts'
import { decodeBase64 } from '#core/embedding/vector.ts'
import type { Actor } from '#ports/audit.ts'
import { conflict, invalidField } from '../shared/faults.ts'
import { storable, time } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { isoOf } from '../shared/times.ts'

export const calibration = z
  .object({
    id: z.string().describe('Eight hex digits, as in the names of spaces: `…/int8:cal-9f31abcd`.'),
    space: z.string().describe('The space of the float vectors that it was made from.'),
    width: z.int(),
    vectors: z.int().describe('How many vectors it was made from.'),
    made_at: time,
    made_by: z.string(),
  })
  .meta({ id: 'Calibration' })

/** Base64 of 65,536 float32 values, the widest vector that a configuration takes. */
const MAX_RANGE_TEXT = 350_000

const range = storable(MAX_RANGE_TEXT).min(1)

export const calibrationBody = z
  .strictObject({
    space: storable(400)
      .min(1)
      .optional()
      .describe("The space of the vectors, as `x-torana-space` named it. Default: the model's present one."),
    mins: range.describe('The least value of each dimension: base64 of little-endian float32.'),
    maxs: range.describe('The greatest value of each dimension, in the same form.'),
    vectors: z
      .int()
      .min(MIN_CALIBRATION_VECTORS)
      .describe(`How many vectors they were taken from: at least ${MIN_CALIBRATION_VECTORS}.`),
  })
  .meta({ id: 'NewCalibration', examples: [{ mins: 'AACAvwAAgL8=', maxs: 'AACAPwAAgD8=', vectors: 10_000 }] })

/** Stores it, unless it is there: equal ranges are one calibration. */
export async function calibrate(
  model: EmbeddingModel,
  body: z.output<typeof calibrationBody>,
  actor: Actor,
  { spaceGuard, clock }: Pick<ControlNode, 'spaceGuard' | 'clock'>,
): Promise<z.output<typeof calibration>> {
  const ranges = { mins: valuesIn(body.mins, 'mins'), maxs: valuesIn(body.maxs, 'maxs') }
  const width = ranges.mins.length
  const { dimensions: full } = model.facts
  if (width > full)
    throw invalidField(
      `Vectors of ${model.id} have ${full} dimensions, and mins has ${width} values.`,
      'mins',
    )
  const fault = faultInRanges(ranges, width)
  if (fault !== undefined) throw invalidField(`The ranges can't be used: ${fault}.`, 'mins')
  const now = spaceGuard.spaceNow(model) ?? { model: model.id, generation: 1 }
  const space = spaceOf(model.id, width, now.generation)
  const answered = answeringSpace(now, width)
  if (body.space !== undefined && body.space !== space && body.space !== answered)
    throw conflict(`The vectors are of the space ${body.space}, and ${model.id} is in ${space} now.`)
  const id = calibrationId(model.id, space, width, ranges)
  const made = { ...ranges, id, model: model.id, space, width, vectors: body.vectors }
  return calibrationOf(
    await spaceGuard.calibrations.add({ ...made, madeAtMs: clock.nowMs(), madeBy: actor.name }, actor),
  )
}

export function calibrationOf(one: Calibration): z.output<typeof calibration> {
  const { id, space, width, vectors, madeAtMs, madeBy } = one
  return { id, space, width, vectors, made_at: isoOf(madeAtMs), made_by: madeBy }
}

function valuesIn(base64: string, field: string): Float32Array {
  try {
    return decodeBase64(base64)
  } catch {
    throw invalidField(`${field} is not base64 of little-endian float32 values.`, field)
  }
}
