/** The ranges by which Torana makes int8 and uint8 of one model at one width in one space. A calibration never changes. */
import { checksum } from '../../keys/key.ts'
import type { Ranges } from './make.ts'

export interface Calibration extends Ranges {
  /** Eight hex digits of everything that decides the bytes: model, space, width and ranges. */
  readonly id: string
  readonly model: string
  /** The space of the float vectors that it was made from. */
  readonly space: string
  readonly width: number
  /** Vectors that it was made from. */
  readonly vectors: number
  /** Unix milliseconds. */
  readonly madeAtMs: number
  readonly madeBy: string
}

/** Vectors of the smallest calibration. Fewer leave the rare values of a dimension out, and they are all cut to one byte. */
export const MIN_CALIBRATION_VECTORS = 1000

export function calibrationId(model: string, space: string, width: number, { mins, maxs }: Ranges): string {
  let text = `${model}\n${space}\n${width}\n`
  for (const values of [mins, maxs])
    for (const byte of new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
      text += String.fromCharCode(byte)
  return checksum(text)
}

/** Why ranges can't be used. Undefined: they can. */
export function faultInRanges({ mins, maxs }: Ranges, width: number): string | undefined {
  if (mins.length !== width || maxs.length !== width)
    return `${mins.length} least and ${maxs.length} greatest values for ${width} dimensions`
  let empty = 0
  for (let index = 0; index < width; index += 1) {
    const min = mins[index] as number
    const max = maxs[index] as number
    if (!Number.isFinite(min) || !Number.isFinite(max))
      return `dimension ${index} has a range that is not finite`
    if (min > max) return `dimension ${index} has a least value above its greatest`
    if (min === max) empty += 1
  }
  return empty > width / 2
    ? `${empty} of ${width} dimensions have one value only: the vectors are copies of one text`
    : undefined
}
