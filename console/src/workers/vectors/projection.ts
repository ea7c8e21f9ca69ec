/**
 * Where texts lie on the map: principal components of their vectors at unit length. They are found from the cosines alone: the
 * eigenvectors of the doubly centred matrix, times the roots of its eigenvalues, are the same coordinates.
 */
import { leading } from './lanczos.ts'
import { multiply } from './sums.ts'

export interface Projection {
  /** x and y of each text, one after another. */
  readonly points: Float64Array
  /** How much of all variance lies along x, and along y. */
  readonly shares: readonly [x: number, y: number]
  /** Where one more vector lies that did not take part, by its cosines to those that did. */
  readonly place: (cosines: ArrayLike<number>) => readonly [x: number, y: number]
  /** What the next projection begins with, so that the map does not turn over between two widths. */
  readonly axes: readonly Float64Array[]
}

const AXES = 2

/** `cosines` is a square of `count`. */
export function projectionOf(
  cosines: Float64Array,
  count: number,
  before: readonly Float64Array[] = [],
): Projection {
  const { means, mean, trace } = centring(cosines, count)
  const centred = new Float64Array(count)
  const found = leading({
    size: count,
    count: AXES,
    start: before.length === 0 ? undefined : sumOf(before),
    product: (vector, into) => {
      centre(vector, centred)
      multiply(cosines, centred, into)
      centre(into, into)
    },
  })
  const values = found.values.map((value) => Math.max(0, value))
  const axes = found.vectors.map((vector, axis) => turned(vector, before[axis]))
  const points = new Float64Array(count * AXES)
  for (const [axis, vector] of axes.entries())
    for (let i = 0; i < count; i++) points[i * AXES + axis] = vector[i]! * Math.sqrt(values[axis] ?? 0)
  const along = (axis: number): number => (trace > 0 ? (values[axis] ?? 0) / trace : 0)
  return {
    points,
    axes,
    shares: [along(0), along(1)],
    place: (own) => {
      const ownMean = meanOf(own, count)
      const at = (axis: number): number => {
        const [vector, value = 0] = [axes[axis], values[axis]]
        if (vector === undefined || value <= trace * 1e-12) return 0
        let sum = 0
        for (let i = 0; i < count; i++) sum += vector[i]! * ((own[i] ?? 0) - ownMean - means[i]! + mean)
        return sum / Math.sqrt(value)
      }
      return [at(0), at(1)]
    },
  }
}

function centring(cosines: Float64Array, count: number) {
  const means = new Float64Array(count)
  let [mean, diagonal] = [0, 0]
  for (let row = 0; row < count; row++) {
    let sum = 0
    for (let column = 0; column < count; column++) sum += cosines[row * count + column]!
    means[row] = sum / count
    mean += sum / count / count
    diagonal += cosines[row * count + row]!
  }
  return { means, mean, trace: Math.max(0, diagonal - mean * count) }
}

function centre(vector: Float64Array, into: Float64Array): void {
  const mean = meanOf(vector, vector.length)
  for (let i = 0; i < vector.length; i++) into[i] = vector[i]! - mean
}

function meanOf(values: ArrayLike<number>, count: number): number {
  let sum = 0
  for (let i = 0; i < count; i++) sum += values[i] ?? 0
  return count === 0 ? 0 : sum / count
}

/** An axis has no direction of its own: it looks as it did before, else to its farthest text. */
function turned(vector: Float64Array, before: Float64Array | undefined): Float64Array {
  let [farthest, likeness] = [0, 0]
  for (let i = 0; i < vector.length; i++) {
    // The margin: two that are equally far must not take turns by rounding.
    if (Math.abs(vector[i]!) > Math.abs(vector[farthest]!) * (1 + 1e-6)) farthest = i
    likeness += vector[i]! * (before?.[i] ?? 0)
  }
  const looks = before === undefined || Math.abs(likeness) < 1e-6 ? vector[farthest]! : likeness
  return looks < 0 ? vector.map((value) => -value) : vector
}

function sumOf(vectors: readonly Float64Array[]): Float64Array {
  const sum = new Float64Array(vectors[0]?.length ?? 0)
  for (const vector of vectors) for (let i = 0; i < sum.length; i++) sum[i]! += vector[i]!
  return sum
}
