/** Where most cosines lie, so that few far ones do not take the colours from all others. */

const SHARE_LEFT_OUT = 0.02

/** The 2nd and the 98th percentile of all pairs of two different texts. */
export function middleOf(cosines: ArrayLike<number>, count: number): readonly [low: number, high: number] {
  const values = new Float64Array((count * (count - 1)) / 2)
  let at = 0
  for (let row = 0; row < count; row++)
    for (let column = row + 1; column < count; column++) values[at++] = cosines[row * count + column]!
  values.sort()
  const last = values.length - 1
  if (last < 0) return [0, 1]
  const [low, high] = [
    values[Math.floor(last * SHARE_LEFT_OUT)]!,
    values[Math.ceil(last * (1 - SHARE_LEFT_OUT))]!,
  ]
  return high > low ? [low, high] : [low - 0.5, low + 0.5]
}
