import { truncated, vectorOf } from './vectors.ts'
import type { Item } from './wire.ts'

type Variation = (vector: Float32Array, text: string) => Float32Array

/** What can become of a model's vectors while its name stays: each as a caller would see it. */
const variations = {
  'other-model': (vector, text) => vectorOf(`other model: ${text}`, vector.length),
  'other-pooling': (vector, text) => turned(vector, `other pooling: ${text}`, 0.9),
  // Another model of the same maker: near enough for the order of neighbours, and outside of the model's own space.
  sibling: (vector, text) => turned(vector, `sibling: ${text}`, 0.97),
  slightly: (vector, text) => turned(vector, `slightly: ${text}`, 0.995),
  scaled: (vector) => vector.map((value) => value * 1.05),
  // A length of its own for each text, between 2 and 10, as models have that leave normalising to their caller.
  unnormalised: (vector, text) => {
    const [spread = 0] = vectorOf(`length: ${text}`, 2)
    return vector.map((value) => value * (6 + 4 * spread))
  },
  'other-width': (vector, text) => vectorOf(text, vector.length === 1 ? 2 : Math.floor(vector.length / 2)),
  noise: (vector) => vector.map((value) => value * (1 + 1e-4 * (2 * Math.random() - 1))),
  float16: (vector) => vector.map(Math.f16round),
  swapped: (vector) => vector, // a matter between the items of a call
} as const satisfies Record<string, Variation>

export type VectorKind = keyof typeof variations

export const vectorKinds = Object.keys(variations) as VectorKind[]

export function isVectorKind(word: string): word is VectorKind {
  return Object.hasOwn(variations, word)
}

/** The vector that a model answers in the place of the right one. Null: it has not changed. */
export function drifted(kind: VectorKind | null, vector: Float32Array, text: string): Float32Array {
  return kind === null ? vector : variations[kind](vector, text)
}

/** A unit vector whose values are off by up to about `size`, in a way that depends on the seed. */
export function noisy(vector: Float32Array, { size, seed }: { size: number; seed: string }): Float32Array {
  const noise = vectorOf(`noise ${seed}`, vector.length)
  const largest = noise.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  const moved = vector.map((value, position) => value + (size * (noise[position] ?? 0)) / largest)
  return truncated(moved, moved.length)
}

/** Gives the first input the vector of the last, and the other way round. A call with one input has nothing to swap. */
export function swapEnds(items: Item[]): void {
  const first = items.at(0)
  const last = items.at(-1)
  if (first === undefined || last === undefined) return
  const { vector } = first
  first.vector = last.vector
  last.vector = vector
}

/** A unit vector with exactly this cosine to the given one, in a direction that depends on the seed. */
function turned(vector: Float32Array, seed: string, cosine: number): Float32Array {
  const other = vectorOf(seed, vector.length)
  const along = vector.reduce((sum, value, position) => sum + value * (other[position] ?? 0), 0)
  const across = other.map((value, position) => value - along * (vector[position] ?? 0))
  const unit = truncated(across, across.length)
  const sine = Math.sqrt(1 - cosine ** 2)
  return vector.map((value, position) => cosine * value + sine * (unit[position] ?? 0))
}
