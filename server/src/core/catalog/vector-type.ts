/** The types in which the numbers of a vector are written. `binary` and `ubinary` hold eight dimensions in a byte. */

export const VECTOR_TYPES = ['float', 'float16', 'int8', 'uint8', 'binary', 'ubinary'] as const
export type VectorType = (typeof VECTOR_TYPES)[number]

/** Types whose numbers are whole. */
export type WholeType = Exclude<VectorType, 'float' | 'float16'>
/** One bit for each dimension. */
export type BitType = 'binary' | 'ubinary'
/** One byte for each dimension, by a scale. */
export type ByteType = 'int8' | 'uint8'

/** What a model's vectors keep in other types. */
export interface TypeFacts {
  /**
   * Whether one bit for each dimension keeps enough: the maker trained the model for it, or the operator accepted the loss.
   * Undefined: not known, so Torana makes no binary vectors of it.
   */
  readonly binary?: 'trained' | 'accepted' | undefined
}

/** What a deployment's upstream makes itself. */
export interface TypeCapabilities {
  /** Undefined: float alone. */
  readonly outputTypes?: readonly VectorType[] | undefined
  /** The upstream's name for `output_dtype`. */
  readonly outputTypeField?: string | undefined
}

export type TypedValues = Float32Array | Float16Array | Int8Array | Uint8Array

export function isVectorType(value: unknown): value is VectorType {
  return (VECTOR_TYPES as readonly unknown[]).includes(value)
}

export function isBitType(type: VectorType): type is BitType {
  return type === 'binary' || type === 'ubinary'
}

export function isByteType(type: VectorType): type is ByteType {
  return type === 'int8' || type === 'uint8'
}

export const DIMENSIONS_PER_BYTE = 8

/** Numbers of a vector of this type and width. */
export function numbersOf(type: VectorType, width: number): number {
  return isBitType(type) ? Math.ceil(width / DIMENSIONS_PER_BYTE) : width
}

const NUMBER_BYTES: Readonly<Record<VectorType, number>> = {
  float: 4,
  float16: 2,
  int8: 1,
  uint8: 1,
  binary: 1,
  ubinary: 1,
}

/** Bytes of a vector of this type and width. */
export function bytesOf(type: VectorType, width: number): number {
  return numbersOf(type, width) * NUMBER_BYTES[type]
}

const SMALLEST: Readonly<Record<WholeType, number>> = { int8: -128, uint8: 0, binary: -128, ubinary: 0 }
const BYTE_VALUES = 256

/** Why these numbers of an upstream are no vector of the type. Undefined: they are one. */
export function faultInTyped(values: Float32Array, type: WholeType): string | undefined {
  const smallest = SMALLEST[type]
  for (const value of values)
    if (!Number.isInteger(value) || value < smallest || value >= smallest + BYTE_VALUES)
      return `a vector of ${type} with a number that is no whole number from ${smallest} to ${smallest + BYTE_VALUES - 1}`
  return undefined
}
