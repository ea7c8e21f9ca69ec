/** The widths at which vectors can be looked at: cut there, and brought back to unit length. */

/** Each costs one running total of all pairs, which bounds how many there may be. */
const MAX_WIDTHS = 48
const STEPS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

/** Ascending; the last one is the full width. Wide models go by 64, as their makers cut them. */
export function widthsOf(width: number): number[] {
  const wanted = width >= 1024 ? 64 : width >= 256 ? 32 : 1
  const step =
    STEPS.find((one) => one >= wanted && width / one <= MAX_WIDTHS) ?? Math.ceil(width / MAX_WIDTHS)
  const widths: number[] = []
  for (let at = step; at < width; at += step) widths.push(at)
  return [...widths, width]
}

/** The place of the width that is nearest to the one asked for. */
export function nearestWidth(widths: readonly number[], width: number): number {
  let best = 0
  for (const [place, one] of widths.entries())
    if (Math.abs(one - width) < Math.abs((widths[best] ?? 0) - width)) best = place
  return best
}
