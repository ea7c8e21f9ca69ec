/** Vectors of other types than float32, as providers make them natively. */
import { Refusal, type Answer, type Encoding, type Fields } from './wire.ts'

export const vectorTypes = ['float', 'int8', 'uint8', 'binary', 'ubinary'] as const

export type VectorType = (typeof vectorTypes)[number]

/** One value to a byte of int8 and uint8, eight to a byte of binary and ubinary: the sign, most significant bit first. */
export function typedNumbers(
  vector: Float32Array,
  type: Exclude<VectorType, 'float'>,
  /** What a value is multiplied with before it is rounded and clipped to int8. */
  scale: number,
): number[] {
  if (type === 'ubinary') return bitsOf(vector)
  if (type === 'binary') return bitsOf(vector).map((byte) => byte - 128)
  const shift = type === 'uint8' ? 128 : 0
  return Array.from(vector, (value) => Math.max(-128, Math.min(127, Math.round(value * scale))) + shift)
}

/**
 * A provider's own scale: values of a unit vector are near 1/√width, so that `spread` times that stays within int8 for almost all of
 * them. Every provider has another `spread`: its int8 fits no one else's.
 */
function nativeScale(vector: Float32Array, spread: number): number {
  return spread * Math.sqrt(vector.length)
}

/** A vector as JSON text: numbers, or the bytes of its type in base64. */
export function typedText(
  { text }: Pick<Answer, 'text'>,
  vector: Float32Array,
  { type, spread, encoding }: { type: VectorType; spread: number; encoding: Encoding },
): string {
  if (type === 'float') return text(vector, encoding)
  const numbers = typedNumbers(vector, type, nativeScale(vector, spread))
  if (encoding === 'float') return JSON.stringify(numbers)
  return `"${Buffer.from(Uint8Array.from(numbers, (number) => number & 255)).toString('base64')}"`
}

export function typeField<Type extends string>(
  fields: Fields,
  name: string,
  types: readonly Type[],
): Type | null {
  const value = fields[name] ?? null
  if (value === null) return null
  const type = types.find((known) => known === value)
  if (type !== undefined) return type
  throw new Refusal(400, `'${name}' must be one of ${types.join(', ')}.`)
}

/** Bits are packed by eight. */
export function refuseUnpackable(type: string, width: number): void {
  if (!type.includes('binary') || width % 8 === 0) return
  throw new Refusal(400, `${type} needs a dimension that is a multiple of 8, not ${width}.`)
}

function bitsOf(vector: Float32Array): number[] {
  return Array.from({ length: Math.floor(vector.length / 8) }, (_, byte) =>
    vector.subarray(byte * 8, byte * 8 + 8).reduce((bits, value) => bits * 2 + (value > 0 ? 1 : 0), 0),
  )
}
