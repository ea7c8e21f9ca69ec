/**
 * The largest eigenvalues of a symmetric matrix that is only ever multiplied, by Lanczos with full reorthogonalisation. Plain
 * power iteration would need hundreds of rounds where eigenvalues lie close together, as they do between equal clusters.
 */
import { dot, subtract } from './sums.ts'
import { eigenOf } from './tridiagonal.ts'

export interface Leading {
  readonly values: readonly number[]
  /** Unit length, in the order of the values. */
  readonly vectors: readonly Float64Array[]
}

interface LanczosOptions {
  readonly size: number
  readonly wanted: number
  /** Writes the product with `vector` into `into`. */
  readonly multiply: (vector: Float64Array, into: Float64Array) => void
  /** Where to begin; near the answer is quicker. Never changes the answer beyond the tolerance. */
  readonly start?: Float64Array | undefined
}

/** Against the largest eigenvalue. The pictures need 1e-4. */
const TOLERANCE = 1e-7
/** Random vectors, whose eigenvalues are the closest, need about a hundred rounds. */
const MAX_ROUNDS = 240

export function leading({ size, wanted, multiply, start }: LanczosOptions): Leading {
  const basis: Float64Array[] = []
  const diagonal: number[] = []
  const beside: number[] = []
  const most = Math.min(size, MAX_ROUNDS)
  const product = new Float64Array(size)
  let next = firstOf(size, start)
  let look = Math.min(most, 12)
  while (basis.length < most) {
    const vector = next
    basis.push(vector)
    multiply(vector, product)
    diagonal.push(dot(vector, product))
    const rest = product.slice()
    const length = orthogonal(rest, basis)
    const scale = Math.abs(diagonal[0] ?? 0) + Math.abs(beside[0] ?? 0)
    const isSpent = length <= 1e-13 * Math.max(scale, Number.MIN_VALUE)
    if (basis.length === most) break
    if (basis.length >= look && !isSpent) {
      if (isFound(diagonal, beside, length, wanted)) break
      look = Math.ceil(look * 1.25)
    }
    // What the start could not reach is looked for from another one.
    beside.push(isSpent ? 0 : length)
    const fresh = isSpent ? anotherOf(size, basis) : rest
    if (fresh === undefined) break
    if (!isSpent) for (let i = 0; i < size; i++) fresh[i]! /= length
    next = fresh
  }
  return combined(basis, diagonal, beside, Math.min(wanted, basis.length))
}

/** Whether what is left outside of the basis can no longer move the wanted eigenvectors. */
function isFound(
  diagonal: readonly number[],
  beside: readonly number[],
  length: number,
  wanted: number,
): boolean {
  const { values, vectors } = eigenOf(diagonal, beside, 'last row')
  const order = descending(values)
  const largest = Math.max(Math.abs(values[order[0] ?? 0] ?? 0), Number.MIN_VALUE)
  return order.slice(0, wanted).every((k) => length * Math.abs(vectors[k] ?? 0) <= TOLERANCE * largest)
}

function combined(
  basis: readonly Float64Array[],
  diagonal: readonly number[],
  beside: readonly number[],
  wanted: number,
): Leading {
  const { values, vectors } = eigenOf(diagonal, beside)
  const size = values.length
  const chosen = descending(values).slice(0, wanted)
  return {
    values: chosen.map((k) => values[k] ?? 0),
    vectors: chosen.map((k) => {
      const made = new Float64Array(basis[0]?.length ?? 0)
      for (const [row, one] of basis.entries()) subtract(made, one, -(vectors[row * size + k] ?? 0))
      const length = Math.sqrt(dot(made, made)) || 1
      return made.map((value) => value / length)
    }),
  }
}

function descending(values: Float64Array): number[] {
  return Array.from(values.keys()).toSorted((a, b) => (values[b] ?? 0) - (values[a] ?? 0))
}

/** Takes away what lies along the basis, and tells the length of the rest. */
function orthogonal(vector: Float64Array, basis: readonly Float64Array[]): number {
  const before = Math.sqrt(dot(vector, vector))
  for (const one of basis) subtract(vector, one, dot(one, vector))
  const length = Math.sqrt(dot(vector, vector))
  if (length > before * 0.5) return length
  // Much was taken away, so that what is left has much rounding in it: once more.
  for (const one of basis) subtract(vector, one, dot(one, vector))
  return Math.sqrt(dot(vector, vector))
}

/** The same each time, and alike to nothing. */
function firstOf(size: number, start: Float64Array | undefined): Float64Array {
  const made = new Float64Array(size)
  for (let i = 0; i < size; i++) made[i] = (start?.[i] ?? 0) + (start ? 1e-3 : 1) * noise(i, 0)
  const length = Math.sqrt(dot(made, made)) || 1
  return made.map((value) => value / length)
}

function anotherOf(size: number, basis: readonly Float64Array[]): Float64Array | undefined {
  for (let turn = 1; turn < 4; turn++) {
    const made = Float64Array.from({ length: size }, (_, i) => noise(i, basis.length * 4 + turn))
    const length = orthogonal(made, basis)
    if (length > 1e-6) return made.map((value) => value / length)
  }
  return undefined
}

/** Between −1 and 1; spread as if by chance, and yet the same each time. */
function noise(index: number, turn: number): number {
  const wave = Math.sin((index + 1) * 12.9898 + (turn + 1) * 78.233) * 43_758.5453
  return 2 * (wave - Math.floor(wave)) - 1
}
