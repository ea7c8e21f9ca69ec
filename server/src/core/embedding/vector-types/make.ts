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

const HALF = 128

/** The same bits as `ubinary`; each byte less 128. */
export function binaryOf(values: Float32Array): Int8Array<ArrayBuffer> {
  const bytes = ubinaryOf(values)
  const less = new Int8Array(bytes.length)
  for (let index = 0; index < bytes.length; index += 1) less[index] = (bytes[index] as number) - HALF
  return less
}
