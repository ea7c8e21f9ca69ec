/**
 * What smaller vectors keep: each is cut, brought back to unit length, and only then turned into its type, as the gateway does it.
 * Pure, with tests.
 */
import type { Vectors } from './answer.ts'
import { keptOf, meanOf, nearestOf, NEIGHBOURS } from './neighbours.ts'
import { dot } from './sums.ts'

/** From the largest to the smallest in memory. `rescored`: found by their bits, then ordered by their float16. */
export const VECTOR_TYPES = ['float', 'float16', 'rescored', 'binary'] as const
export type VectorType = (typeof VECTOR_TYPES)[number]

/** Candidates that rescoring looks at for each neighbour. */
const CANDIDATES_PER_NEIGHBOUR = 4

/** Draws of the bootstrap: the interval then varies by less than a tenth of itself. */
const DRAWS = 400

/** The mean share of the ten nearest that stay, and half the width of its 95% interval. */
export interface KeptShare {
  readonly mean: number
  readonly plusMinus: number
}

/** undefined: this width has no whole bytes of bits. */
export type KeptByType = Readonly<Record<VectorType, KeptShare | undefined>>

/** Bytes of one vector in memory. */
export function bytesOf(type: VectorType, width: number): number {
  const bits = { float: 32, float16: 16, rescored: 1, binary: 1 }[type]
  return (width * bits) / 8
}

/** What each type keeps of `nearest`, those at full width in float, when vectors are cut to `cut`. */
export function keptByType({ count, width, values }: Vectors, cut: number, nearest: Int32Array): KeptByType {
  const floats = unitVectors(values, { count, width, cut })
  const halves = floats.map(toFloat16)
  const float16 = cosinesOf(halves, count)
  const kept = (cosines: ArrayLike<number>): KeptShare =>
    withInterval(keptOf(nearest, nearestOf(cosines, count), count))
  const bits = cut % 8 === 0 ? likenessOfBits(toBits(floats), count) : undefined
  return {
    float: kept(cosinesOf(floats, count)),
    float16: kept(float16),
    rescored: bits && kept(rescored(bits, float16, count)),
    binary: bits && kept(bits),
  }
}

interface Cut {
  readonly count: number
  readonly width: number
  readonly cut: number
}

/** The first `cut` numbers of each vector, at unit length; in float32, as they would be stored. A vector of zeros stays one. */
export function unitVectors(values: Float32Array, { count, width, cut }: Cut): Float64Array {
  const units = new Float64Array(count * cut)
  for (let one = 0; one < count; one++) {
    let squares = 0
    for (let i = 0; i < cut; i++) squares += values[one * width + i]! ** 2
    const length = Math.sqrt(squares) || 1
    for (let i = 0; i < cut; i++) units[one * cut + i] = Math.fround(values[one * width + i]! / length)
  }
  return units
}

/** The nearest float16, of two equally near the even one. Numbers of unit vectors never overflow. */
export function toFloat16(value: number): number {
  const size = Math.abs(value)
  // Eleven significant bits; below 2^-14 the steps stay those of 2^-14.
  const step = 2 ** (Math.max(-14, Math.floor(Math.log2(size || 1))) - 10)
  const steps = value / step
  const low = Math.floor(steps)
  const rest = steps - low
  return (rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low) * step
}

/** One bit for each number, 1 above zero, eight in a byte with the first one highest. */
export function toBits(units: Float64Array): Uint8Array {
  const bytes = new Uint8Array(units.length / 8)
  for (let at = 0; at < units.length; at++) if (units[at]! > 0) bytes[at >> 3]! |= 0x80 >> (at & 7)
  return bytes
}

function cosinesOf(vectors: Float64Array, count: number): Float64Array {
  const width = vectors.length / count
  const lengths = Float64Array.from({ length: count }, (_, one) =>
    Math.sqrt(dot(vectors, vectors, width, one * width, one * width)),
  )
  return pairs(count, (one, other) => {
    const product = lengths[one]! * lengths[other]!
    return product > 0 ? dot(vectors, vectors, width, one * width, other * width) / product : 0
  })
}

/** The negative Hamming distance. */
function likenessOfBits(bytes: Uint8Array, count: number): Float64Array {
  const width = bytes.length / count
  const ones = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length)
  return pairs(count, (one, other) => {
    let distance = 0
    for (let i = 0; i < width; i++) distance += ones[bytes[one * width + i]! ^ bytes[other * width + i]!]!
    return -distance
  })
}

/** The cosines of those that are nearest by their bits; all others are out of reach. */
function rescored(bits: Float64Array, cosines: Float64Array, count: number): Float64Array {
  const candidates = nearestOf(bits, count, NEIGHBOURS * CANDIDATES_PER_NEIGHBOUR)
  const each = candidates.length / count
  const reached = new Float64Array(count * count).fill(Number.NEGATIVE_INFINITY)
  for (let at = 0; at < candidates.length; at++) {
    const pair = Math.floor(at / each) * count + candidates[at]!
    reached[pair] = cosines[pair]!
  }
  return reached
}

function pairs(count: number, likeness: (one: number, other: number) => number): Float64Array {
  const square = new Float64Array(count * count)
  for (let one = 0; one < count; one++)
    for (let other = 0; other <= one; other++)
      square[one * count + other] = square[other * count + one] = likeness(one, other)
  return square
}

/** By drawing as many inputs again and again, with the same draws each time. */
function withInterval(shares: Float64Array): KeptShare {
  const means = new Float64Array(DRAWS)
  let state = 1
  for (let draw = 0; draw < DRAWS; draw++) {
    let sum = 0
    for (let i = 0; i < shares.length; i++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      sum += shares[Math.floor((state / 2 ** 32) * shares.length)]!
    }
    means[draw] = sum / shares.length
  }
  means.sort()
  const [low, high] = [means[Math.floor(DRAWS * 0.025)]!, means[Math.ceil(DRAWS * 0.975) - 1]!]
  return { mean: meanOf(shares), plusMinus: (high - low) / 2 }
}

/** Widths at which models are cut, widest first. */
const USUAL_WIDTHS = [4096, 3072, 2048, 1536, 1024, 768, 512, 256, 128, 64, 32, 16, 8]
/** The columns of the table: more would not fit beside what each type is stored as. */
const MAX_WIDTHS = 5

/** The full width and those that a caller may ask for, widest first; of many, each at most half of the one before. */
export function typeWidths(width: number, narrower: 'any' | 'none' | readonly number[]): number[] {
  if (narrower === 'none') return [width]
  const offered = (narrower === 'any' ? USUAL_WIDTHS : narrower.toSorted((a, b) => b - a)).filter(
    (one) => one < width,
  )
  if (narrower !== 'any' && offered.length < MAX_WIDTHS) return [width, ...offered]
  const widths = [width]
  for (const one of offered)
    if (one * 2 <= (widths.at(-1) ?? 0) && widths.length < MAX_WIDTHS) widths.push(one)
  return widths
}
