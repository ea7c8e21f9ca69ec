/** Arithmetic of simulated models: vectors of unit length, and rotations that cost next to nothing. */

export type Vectors = readonly Float32Array[]

/** Numbers of a bell curve and between 0 and 1, the same for the same seed. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let value = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.next()
  }

  bell(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next())
  }

  pick<One>(all: readonly One[]): One {
    return all[Math.floor(this.next() * all.length)] as One
  }
}

export function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector))
  return vector.map((value) => value / length)
}

export function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let index = 0; index < one.length; index += 1) sum += (one[index] as number) * (other[index] as number)
  return sum
}

/** Sum of `one` and `share` of `other`. */
export function plus(one: Float32Array, other: Float32Array, share: number): Float32Array {
  return one.map((value, index) => value + share * (other[index] as number))
}

export function meanOf(vectors: Vectors): Float32Array {
  const sum = new Float32Array(vectors[0]?.length ?? 0)
  for (const vector of vectors)
    for (let index = 0; index < sum.length; index += 1) sum[index]! += vector[index]!
  return sum.map((value) => value / vectors.length)
}

/** A rotation of all dimensions among one another: three rounds of random signs and a Walsh–Hadamard transform. */
export class Rotation {
  readonly #signs: readonly Float32Array[]

  /** `width`: a power of two. */
  constructor(width: number, chance: Chance) {
    this.#signs = [0, 1, 2].map(() =>
      Float32Array.from({ length: width }, () => (chance.next() < 0.5 ? -1 : 1)),
    )
  }

  of(vector: Float32Array): Float32Array {
    const turned = Float32Array.from(vector)
    for (const signs of this.#signs) {
      multiply(turned, signs)
      hadamard(turned)
    }
    return turned
  }

  back(vector: Float32Array): Float32Array {
    const turned = Float32Array.from(vector)
    for (const signs of this.#signs.toReversed()) {
      hadamard(turned)
      multiply(turned, signs)
    }
    return turned
  }

  /** Turns every vector by this angle, each in the planes of this rotation. */
  by(degrees: number, vector: Float32Array): Float32Array {
    const [cosine, sine] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)]
    const turned = this.of(vector)
    for (let at = 0; at < turned.length; at += 2) {
      const [one, other] = [turned[at]!, turned[at + 1]!]
      turned[at] = cosine * one - sine * other
      turned[at + 1] = sine * one + cosine * other
    }
    return this.back(turned)
  }
}

function multiply(values: Float32Array, signs: Float32Array): void {
  for (let at = 0; at < values.length; at += 1) values[at]! *= signs[at]!
}

/** In place. */
function hadamard(values: Float32Array): void {
  for (let half = 1; half < values.length; half *= 2)
    for (let start = 0; start < values.length; start += 2 * half)
      for (let at = start; at < start + half; at += 1) {
        const [one, other] = [values[at]!, values[at + half]!]
        values[at] = one + other
        values[at + half] = one - other
      }
  const scale = 1 / Math.sqrt(values.length)
  for (let at = 0; at < values.length; at += 1) values[at]! *= scale
}

/** Nearest of an index to a query, without the text itself. */
export function nearest(
  query: Float32Array,
  index: Vectors,
  self: number,
  wanted: number,
): readonly number[] {
  const scores = Float64Array.from(index, (vector, at) => (at === self ? -Infinity : dot(query, vector)))
  const limit = scores.toSorted().at(-wanted) ?? -Infinity
  return [...scores.keys()].filter((at) => scores[at]! >= limit)
}
