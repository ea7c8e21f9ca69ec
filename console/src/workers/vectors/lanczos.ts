/**
 * The largest eigenvalues of a symmetric matrix that is only ever multiplied, by Lanczos with full reorthogonalisation. Plain
 * power iteration would need hundreds of rounds where eigenvalues lie close together, as they do between equal clusters.
 */
import { dot, multiply, subtract } from './sums.ts'
import { eigenOf } from './tridiagonal.ts'

export interface Leading {
  readonly values: readonly number[]
  /** Unit length, in the order of the values. */
  readonly vectors: readonly Float64Array[]
}

interface LanczosOptions {
  readonly size: number
  readonly count: number
  /** Writes the matrix times `vector` into `into`. */
  readonly product: (vector: Float64Array, into: Float64Array) => void
  /** Where to begin; near the answer is quicker. Never changes the answer beyond the tolerance. */
  readonly start?: Float64Array | undefined
}

/** Against the largest eigenvalue. The images need 1e-4. */
const TOLERANCE = 1e-7
/** Random vectors, whose eigenvalues are the closest, need about a hundred rounds. */
const MAX_ROUNDS = 240

export function leading({ size, count, product, start }: LanczosOptions): Leading {
  const most = Math.min(size, MAX_ROUNDS)
  const basis = new Basis(size, most)
  const diagonal: number[] = []
  const offDiagonal: number[] = []
  const times = new Float64Array(size)
  let next = firstOf(size, start)
  let nextCheck = Math.min(most, 12)
  while (basis.rows < most) {
    basis.add(next)
    product(next, times)
    diagonal.push(dot(next, times))
    const rest = times.slice()
    const length = basis.orthogonalise(rest)
    const scale = Math.abs(diagonal[0] ?? 0) + Math.abs(offDiagonal[0] ?? 0)
    const isSpent = length <= 1e-13 * Math.max(scale, Number.MIN_VALUE)
    if (basis.rows === most) break
    if (basis.rows >= nextCheck && !isSpent) {
      if (isFound(diagonal, offDiagonal, length, count)) break
      nextCheck = Math.ceil(nextCheck * 1.25)
    }
    // What the start could not reach is looked for from another one.
    offDiagonal.push(isSpent ? 0 : length)
    const fresh = isSpent ? anotherOf(size, basis) : rest
    if (fresh === undefined) break
    if (!isSpent) for (let i = 0; i < size; i++) fresh[i]! /= length
    next = fresh
  }
  return combined(basis, diagonal, offDiagonal, Math.min(count, basis.rows))
}

/** Vectors of unit length at right angles to each other, one after another. */
class Basis {
  rows = 0
  readonly #size: number
  readonly #vectors: Float64Array
  readonly #along: Float64Array

  constructor(size: number, most: number) {
    this.#size = size
    this.#vectors = new Float64Array(size * most)
    this.#along = new Float64Array(most)
  }

  add(vector: Float64Array): void {
    this.#vectors.set(vector, this.rows * this.#size)
    this.rows++
  }

  /** Removes the components along the basis and returns the length of the rest. */
  orthogonalise(vector: Float64Array): number {
    // Twice: the first pass leaves its own rounding behind.
    for (let time = 0; time < 2; time++) {
      multiply(this.#vectors, vector, this.#along, this.rows)
      subtract(vector, this.#vectors, this.#along, this.rows)
    }
    return Math.sqrt(dot(vector, vector))
  }

  /** The sum of its vectors, each as often as `times` says. */
  sum(times: Float64Array): Float64Array {
    const made = new Float64Array(this.#size)
    subtract(
      made,
      this.#vectors,
      times.map((one) => -one),
      this.rows,
    )
    return made
  }
}

/** Whether what is left outside of the basis can no longer move the leading eigenvectors. */
function isFound(
  diagonal: readonly number[],
  offDiagonal: readonly number[],
  length: number,
  count: number,
): boolean {
  const { values, vectors } = eigenOf(diagonal, offDiagonal, 'last row')
  const order = descending(values)
  const largest = Math.max(Math.abs(values[order[0] ?? 0] ?? 0), Number.MIN_VALUE)
  return order.slice(0, count).every((k) => length * Math.abs(vectors[k] ?? 0) <= TOLERANCE * largest)
}

function combined(
  basis: Basis,
  diagonal: readonly number[],
  offDiagonal: readonly number[],
  count: number,
): Leading {
  const { values, vectors } = eigenOf(diagonal, offDiagonal)
  const size = values.length
  const chosen = descending(values).slice(0, count)
  return {
    values: chosen.map((k) => values[k] ?? 0),
    vectors: chosen.map((k) => {
      const made = basis.sum(Float64Array.from({ length: size }, (_, row) => vectors[row * size + k] ?? 0))
      const length = Math.sqrt(dot(made, made)) || 1
      return made.map((value) => value / length)
    }),
  }
}

function descending(values: Float64Array): number[] {
  return Array.from(values.keys()).toSorted((a, b) => (values[b] ?? 0) - (values[a] ?? 0))
}

/** Deterministic pseudo-random start vector. */
function firstOf(size: number, start: Float64Array | undefined): Float64Array {
  const made = new Float64Array(size)
  for (let i = 0; i < size; i++) made[i] = (start?.[i] ?? 0) + (start ? 1e-3 : 1) * noise(i, 0)
  const length = Math.sqrt(dot(made, made)) || 1
  return made.map((value) => value / length)
}

function anotherOf(size: number, basis: Basis): Float64Array | undefined {
  for (let turn = 1; turn < 4; turn++) {
    const made = Float64Array.from({ length: size }, (_, i) => noise(i, basis.rows * 4 + turn))
    const length = basis.orthogonalise(made)
    if (length > 1e-6) return made.map((value) => value / length)
  }
  return undefined
}

/** Deterministic noise between −1 and 1. */
function noise(index: number, turn: number): number {
  const wave = Math.sin((index + 1) * 12.9898 + (turn + 1) * 78.233) * 43_758.5453
  return 2 * (wave - Math.floor(wave)) - 1
}
