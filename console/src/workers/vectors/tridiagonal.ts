/** Eigenvalues and eigenvectors of a small symmetric tridiagonal matrix, by implicit QL steps. */

export interface Eigen {
  readonly values: Float64Array
  /** Row by row: the vector of value `k` has its entries at `k`, `size + k`, `2 * size + k` … It is column k. */
  readonly vectors: Float64Array
}

/** A value is found in two or three steps; more than these means numbers that are not finite. */
const MAX_STEPS = 60
/** Of the largest entry: what is smaller changes no digit of any value, and would only be lost on the way. */
const NOTHING = Number.EPSILON ** 2
/** Below it numbers lose digits, and a rotation would no longer be one. */
const LEAST = 1e-290

/** `offDiagonal[i]` is the entry between `diagonal[i]` and `diagonal[i + 1]`. Rows that are not asked for are not computed. */
export function eigenOf(
  diagonal: ArrayLike<number>,
  offDiagonal: ArrayLike<number>,
  wanted: 'all rows' | 'last row' = 'all rows',
): Eigen {
  const size = diagonal.length
  const firstRow = wanted === 'all rows' ? 0 : size - 1
  const values = Float64Array.from(diagonal)
  const off = new Float64Array(size)
  for (let i = 0; i + 1 < size; i++) off[i] = offDiagonal[i] ?? 0
  const vectors = new Float64Array((size - firstRow) * size)
  for (let row = firstRow; row < size; row++) vectors[(row - firstRow) * size + row] = 1
  const nothing = Math.max(LEAST, NOTHING * largestOf(values, off))
  for (let low = 0; low < size; low++)
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      const high = endOfBlock(values, off, low, nothing)
      if (high === low) break
      sweep(values, off, vectors, low, high)
    }
  return { values, vectors }
}

function largestOf(...lists: readonly Float64Array[]): number {
  return lists.flatMap((list) => [...list]).reduce((largest, entry) => Math.max(largest, Math.abs(entry)), 0)
}

/** Up to where the rows from `low` on hang together. */
function endOfBlock(values: Float64Array, off: Float64Array, low: number, nothing: number): number {
  let high = low
  while (high + 1 < values.length) {
    const scale = Math.abs(values[high]!) + Math.abs(values[high + 1]!)
    if (Math.abs(off[high]!) <= Number.EPSILON * scale + nothing) break
    high++
  }
  return high
}

/** One step: a shift near an eigenvalue, chased up the block by rotations that are also put into the vectors. */
function sweep(
  values: Float64Array,
  off: Float64Array,
  vectors: Float64Array,
  low: number,
  high: number,
): void {
  const size = values.length
  const half = (values[low + 1]! - values[low]!) / (2 * off[low]!)
  const root = Math.hypot(half, 1)
  let g = values[high]! - values[low]! + off[low]! / (half + (half < 0 ? -root : root))
  let [sine, cosine, shift] = [1, 1, 0]
  for (let i = high - 1; i >= low; i--) {
    const f = sine * off[i]!
    const b = cosine * off[i]!
    const r = Math.hypot(f, g)
    off[i + 1] = r
    if (r === 0) {
      values[i + 1]! -= shift
      off[high] = 0
      return
    }
    sine = f / r
    cosine = g / r
    const p = values[i + 1]! - shift
    const turned = (values[i]! - p) * sine + 2 * cosine * b
    shift = sine * turned
    values[i + 1] = p + shift
    g = cosine * turned - b
    for (let at = i; at < vectors.length; at += size) {
      const left = vectors[at]!
      const right = vectors[at + 1]!
      vectors[at + 1] = sine * left + cosine * right
      vectors[at] = cosine * left - sine * right
    }
  }
  values[low]! -= shift
  off[low] = g
  off[high] = 0
}
