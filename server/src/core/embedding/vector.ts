/**
 * Vectors, carried in the form in which they arrived so that no number is parsed without need:
 * - `base64`: standard base64 of little-endian float32, the form OpenAI's SDKs ask for;
 * - `base64Bytes`: the same as the ASCII bytes that the upstream sent, for many vectors that are only passed on;
 * - `text`: the JSON array as the upstream wrote it, as bytes with their brackets;
 * - `float32`: the values.
 * Conversions are exact: float32 → text → float32 and float32 → base64 → float32 give the same bits.
 */
import { faultInTyped, type WholeType } from '../catalog/vector-type.ts'
import { numberTextOf } from './number-text.ts'

export type Vector = Base64Vector | Base64BytesVector | TextVector | Float32Vector
export type VectorForm = Vector['form']

interface Base64Vector {
  readonly form: 'base64'
  readonly base64: string
}
interface Base64BytesVector {
  readonly form: 'base64Bytes'
  readonly bytes: Uint8Array
}
interface TextVector {
  readonly form: 'text'
  readonly text: Uint8Array
}
export interface Float32Vector {
  readonly form: 'float32'
  readonly values: Float32Array
}

const STRICT = { lastChunkHandling: 'strict' } as const
const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1

export function valuesOf(vector: Vector): Float32Array {
  switch (vector.form) {
    case 'float32':
      return vector.values
    case 'base64':
      return decodeBase64(vector.base64)
    case 'base64Bytes':
      return decodeBase64(asciiOf(vector.bytes))
    case 'text':
      return Float32Array.from(JSON.parse(asciiOf(vector.text)) as number[])
  }
}

export function base64Of(vector: Vector): string {
  if (vector.form === 'base64') return vector.base64
  return vector.form === 'base64Bytes' ? asciiOf(vector.bytes) : encodeBase64(valuesOf(vector))
}

/** The JSON array, as ASCII bytes. */
export function jsonOf(vector: Vector): Uint8Array {
  return vector.form === 'text' ? vector.text : numberTextOf(valuesOf(vector))
}

/** Strict: refuses characters, padding or lengths that Node's own decoder would quietly accept. */
export function decodeBase64(base64: string): Float32Array {
  const bytes = Uint8Array.fromBase64(base64, STRICT)
  // The language's decoder skips white space, which the next reader may not.
  if (base64.length !== 4 * Math.ceil(bytes.length / 3)) throw new RangeError('white space inside base64')
  if (bytes.length % 4 !== 0)
    throw new RangeError(`${bytes.length} bytes are no whole number of float32 values`)
  if (LITTLE_ENDIAN) return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return Float32Array.from({ length: bytes.length / 4 }, (_, index) => view.getFloat32(index * 4, true))
}

export function encodeBase64(values: Float32Array): string {
  if (LITTLE_ENDIAN) return new Uint8Array(values.buffer, values.byteOffset, values.byteLength).toBase64()
  const bytes = new Uint8Array(values.length * 4)
  const view = new DataView(bytes.buffer)
  values.forEach((value, index) => view.setFloat32(index * 4, value, true))
  return bytes.toBase64()
}

/** Matryoshka: the first `width` values at length one. Computed in float64; a zero vector stays unchanged. */
export function truncate(values: Float32Array, width: number): Float32Array {
  const head = values.slice(0, width)
  let squares = 0
  for (const value of head) squares += value * value
  const length = Math.sqrt(squares)
  return length === 0 ? head : head.map((value) => value / length)
}

/** Tolerance of the squared length of a unit vector of float32 values: rounding, not another length. */
const UNIT_ERROR = 1e-5

/** Scales to length one. A vector that has that length already stays unchanged, bit by bit. */
export function toUnitLength(values: Float32Array): Float32Array {
  let squares = 0
  for (const value of values) squares += value * value
  return Math.abs(squares - 1) <= UNIT_ERROR ? values : truncate(values, values.length)
}

/** Length of the base64 text of a vector of this width. */
export function base64LengthOf(width: number): number {
  return 4 * Math.ceil((4 * width) / 3)
}

/** What is wrong with a vector. */
export interface VectorFault {
  readonly reason: string
  /** Set for a vector that has values, but not as many as it should. */
  readonly wrongWidth?: number | undefined
}

/**
 * Undefined for a valid vector. One sum of squares finds both faults: it is zero only if every value is (squares of float32
 * can't underflow in float64), and not finite only if one value is not.
 */
export function faultIn(values: Float32Array, width: number): VectorFault | undefined {
  if (values.length !== width) return widthFault(values.length, width)
  // Four parallel sums: the CPU need not wait for one addition to end before the next.
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  const whole = width - (width % 4)
  for (let index = 0; index < whole; index += 4) {
    const w = values[index] as number
    const x = values[index + 1] as number
    const y = values[index + 2] as number
    const z = values[index + 3] as number
    a += w * w
    b += x * x
    c += y * y
    d += z * z
  }
  for (let index = whole; index < width; index += 1) a += (values[index] as number) ** 2
  const squares = a + b + c + d
  if (squares === 0) return { reason: 'a vector of zeros' }
  if (!Number.isFinite(squares)) return { reason: 'a vector with a value that is not a finite number' }
  return undefined
}

/** The same for a vector whose upstream made its type. A vector of whole numbers may be all zero. */
export function faultInType(
  values: Float32Array,
  width: number,
  type: WholeType | undefined,
): VectorFault | undefined {
  if (type === undefined) return faultIn(values, width)
  if (values.length !== width) return widthFault(values.length, width)
  const reason = faultInTyped(values, type)
  return reason === undefined ? undefined : { reason }
}

export function widthFault(actual: number, width: number): VectorFault {
  const reason = `a vector of ${actual} dimensions instead of ${width}`
  return actual === 0 ? { reason } : { reason, wrongWidth: actual }
}

/** Reused buffer: an answer that goes out as base64 is only checked, never kept as numbers. */
let scratch = new Float32Array(0)
let scratchBytes = new Uint8Array(0)

/** As `faultIn`, for a vector that stays base64. */
export function faultInBase64(base64: string, width: number): VectorFault | undefined {
  if (!LITTLE_ENDIAN || base64.length !== base64LengthOf(width)) return faultIn(decodeBase64(base64), width)
  if (scratch.length !== width) {
    scratch = new Float32Array(width)
    scratchBytes = new Uint8Array(scratch.buffer)
  }
  const { read, written } = scratchBytes.setFromBase64(base64, STRICT)
  if (read !== base64.length || written !== scratchBytes.length) return faultIn(decodeBase64(base64), width)
  return faultIn(scratch, width)
}

export function asciiOf(bytes: Uint8Array): string {
  let text = ''
  // In parts: the arguments of one call are bounded by the stack.
  for (let start = 0; start < bytes.length; start += 8192) {
    text += String.fromCharCode(...bytes.subarray(start, start + 8192))
  }
  return text
}
