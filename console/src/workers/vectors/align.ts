/** Two maps of the same texts are laid side by side alike: one is turned, mirrored and scaled onto the other (Procrustes). */

/** x and y one after another; both have the same texts in the same order. Only images are moved, never vectors. */
export function aligned(points: Float64Array, onto: Float64Array): Float64Array {
  const count = Math.min(points.length, onto.length) / 2
  // A map has its middle at zero. The four sums say how the axes of one lie in the other.
  let [xx, xy, yx, yy, own] = [0, 0, 0, 0, 0]
  for (let i = 0; i < count; i++) {
    const [x, y, u, v] = [points[2 * i]!, points[2 * i + 1]!, onto[2 * i]!, onto[2 * i + 1]!]
    xx += x * u
    xy += x * v
    yx += y * u
    yy += y * v
    own += x * x + y * y
  }
  const turnedFit = Math.hypot(xx + yy, xy - yx)
  const mirroredFit = Math.hypot(xx - yy, xy + yx)
  const fit = Math.max(turnedFit, mirroredFit)
  if (own === 0 || fit === 0) return Float64Array.from(points)
  const isMirrored = mirroredFit > turnedFit
  const [cosine, sine] = isMirrored
    ? [(xx - yy) / mirroredFit, (xy + yx) / mirroredFit]
    : [(xx + yy) / turnedFit, (xy - yx) / turnedFit]
  const scale = fit / own
  const moved = new Float64Array(points.length)
  for (let i = 0; i < points.length; i += 2) {
    const [x, y] = [points[i]!, isMirrored ? -points[i + 1]! : points[i + 1]!]
    moved[i] = scale * (cosine * x - sine * y)
    moved[i + 1] = scale * (sine * x + cosine * y)
  }
  return moved
}
