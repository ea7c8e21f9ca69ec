/** float32 → smaller types. A vector is cut to its width and scaled to length one before its type is made, never after. */
import { DIMENSIONS_PER_BYTE } from '../../catalog/vector-type.ts'

/** Smallest size that rounds to infinity in float16: halfway between 65,504, the largest finite value, and the next step. */
const FLOAT16_OVERFLOW = 65_520

/** Round to nearest, ties to even. Call it only for values that `fitsFloat16`. */
export function float16Of(values: Float32Array): Float16Array<ArrayBuffer> {
  return Float16Array.from(values)
}

/** Whether no value becomes infinite in float16. */
export function fitsFloat16(values: Float32Array): boolean {
  for (const value of values) if (Math.abs(value) >= FLOAT16_OVERFLOW) return false
  return true
}

/** The rule `gt0`: a bit is 1 where the value is above zero. The first dimension is the most significant bit of the first byte. */
export function ubinaryOf(values: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil(values.length / DIMENSIONS_PER_BYTE))
  for (let index = 0; index < values.length; index += 1)
    if ((values[index] as number) > 0)
      bytes[index >> 3] = (bytes[index >> 3] as number) | (0x80 >> (index & 7))
  return bytes
}

/** The same bits as `ubinary`; each byte less 128. */
export function binaryOf(values: Float32Array): Int8Array<ArrayBuffer> {
  return lessHalf(ubinaryOf(values))
}

/** Least and greatest value of each dimension. */
export interface Ranges {
  readonly mins: Float32Array
  readonly maxs: Float32Array
}

const STEPS = 255
const HALF = 128

/**
 * 256 equal steps between the ranges of each dimension; values outside get the first or the last. Every operation is rounded
 * to float32, so that the result is bit-equal to `quantize_embeddings` of sentence-transformers.
 */
export function uint8Of(values: Float32Array, { mins, maxs }: Ranges): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(values.length)
  for (let index = 0; index < values.length; index += 1) {
    const min = mins[index] as number
    const step = Math.fround(Math.fround((maxs[index] as number) - min) / STEPS)
    // A dimension that never changes has no range: its values fall on the first step.
    const place = Math.fround(Math.fround((values[index] as number) - min) / (step === 0 ? 1 : step))
    bytes[index] = Math.min(Math.max(Math.floor(place), 0), STEPS)
  }
  return bytes
}

export function int8Of(values: Float32Array, ranges: Ranges): Int8Array<ArrayBuffer> {
  return lessHalf(uint8Of(values, ranges))
}

function lessHalf(bytes: Uint8Array): Int8Array<ArrayBuffer> {
  const values = new Int8Array(bytes.length)
  for (let index = 0; index < bytes.length; index += 1) values[index] = (bytes[index] as number) - HALF
  return values
}

/** Collects the ranges of vectors, one by one. */
export class RangeCollector {
  readonly mins: Float32Array<ArrayBuffer>
  readonly maxs: Float32Array<ArrayBuffer>
  vectors = 0

  constructor(width: number) {
    this.mins = new Float32Array(width).fill(Infinity)
    this.maxs = new Float32Array(width).fill(-Infinity)
  }

  add(values: Float32Array): void {
    const { mins, maxs } = this
    for (let index = 0; index < mins.length; index += 1) {
      const value = values[index] as number
      if (value < (mins[index] as number)) mins[index] = value
      if (value > (maxs[index] as number)) maxs[index] = value
    }
    this.vectors += 1
  }
}
