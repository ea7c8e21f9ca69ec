/**
 * Dot products of all pairs of vectors, at every width. They are sums over dimensions, so while they are added up the total is
 * written down at each width: later, any width is a look into a table.
 */
import { dot } from './sums.ts'
import { widthsOf } from './widths.ts'

export interface RunningTotals {
  readonly count: number
  readonly widths: readonly number[]
  /** For each width: the upper triangle with its diagonal, row by row. */
  readonly totals: Float64Array
}

/** `vectors` holds `count` vectors one after another. */
export function runningTotals(vectors: Float32Array, count: number): RunningTotals {
  const width = count === 0 ? 0 : vectors.length / count
  const widths = widthsOf(width)
  const pairs = (count * (count + 1)) / 2
  const totals = new Float64Array(pairs * widths.length)
  let from = 0
  for (const [place, to] of widths.entries()) {
    addBlock(vectors, width, from, to, totals, place * pairs, place === 0 ? undefined : (place - 1) * pairs)
    from = to
  }
  return { count, widths, totals }
}

/** Adds the dimensions `from` to `to` of every pair to its total at the width before. */
function addBlock(
  vectors: Float32Array,
  width: number,
  from: number,
  to: number,
  totals: Float64Array,
  at: number,
  before: number | undefined,
): void {
  const count = vectors.length / width
  const size = to - from
  // The block alone, already as doubles: it fits near the processor, and no number is widened twice.
  const block = new Float64Array(count * size)
  for (let one = 0; one < count; one++)
    block.set(vectors.subarray(one * width + from, one * width + to), one * size)
  const sums = new Float64Array(4)
  let pair = 0
  for (let one = 0; one < count; one++) {
    let other = one
    for (; other + 3 < count; other += 4) {
      dotsOfFour(block, size, one, other, sums)
      for (let lane = 0; lane < 4; lane++, pair++)
        totals[at + pair] = sums[lane]! + (before === undefined ? 0 : totals[before + pair]!)
    }
    for (; other < count; other++, pair++)
      totals[at + pair] =
        dot(block, block, size, one * size, other * size) +
        (before === undefined ? 0 : totals[before + pair]!)
  }
}

/** One vector with the four from `other` on: each number of the one is read once for all four. */
function dotsOfFour(block: Float64Array, size: number, one: number, other: number, sums: Float64Array): void {
  const start = one * size
  const a = other * size
  const b = a + size
  const c = b + size
  const d = c + size
  let first = 0
  let second = 0
  let third = 0
  let fourth = 0
  for (let i = 0; i < size; i++) {
    const own = block[start + i]!
    first += own * block[a + i]!
    second += own * block[b + i]!
    third += own * block[c + i]!
    fourth += own * block[d + i]!
  }
  sums[0] = first
  sums[1] = second
  sums[2] = third
  sums[3] = fourth
}

/** All cosines at one width, as a whole square. A vector of length zero is like nothing: 0. */
export function cosinesAt(
  { count, totals }: RunningTotals,
  place: number,
  cosines: Float64Array = new Float64Array(count * count),
): Float64Array {
  const start = (place * count * (count + 1)) / 2
  const inverse = new Float64Array(count)
  for (let one = 0, diagonal = start; one < count; diagonal += count - one, one++) {
    const square = totals[diagonal]!
    inverse[one] = square > 0 ? 1 / Math.sqrt(square) : 0
  }
  let pair = start
  for (let one = 0; one < count; one++)
    for (let other = one; other < count; other++, pair++) {
      const cosine =
        one === other ? (inverse[one]! > 0 ? 1 : 0) : totals[pair]! * inverse[one]! * inverse[other]!
      cosines[one * count + other] = cosine
      cosines[other * count + one] = cosine
    }
  return cosines
}
