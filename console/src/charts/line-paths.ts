/** Lines as paths of SVG. Pure. */

export interface LinePoint {
  readonly x: number
  /** null: nothing is known, and the line has a gap. */
  readonly y: number | null
}

export interface LinePaths {
  readonly line: string
  /** Below the line, down to the bottom. */
  readonly area: string
  /** Values between two gaps: a line through one point would not be seen. */
  readonly alone: readonly { readonly x: number; readonly y: number }[]
}

/** `isStep`: a value holds until the next point, or until `endX`. */
export function linePaths(
  points: readonly LinePoint[],
  { isStep, bottom, endX }: { readonly isStep: boolean; readonly bottom: number; readonly endX: number },
): LinePaths {
  let [line, area] = ['', '']
  const alone: { x: number; y: number }[] = []
  for (let first = 0; first < points.length; first += 1) {
    if (points[first]?.y == null) continue
    let last = first
    while (points[last + 1]?.y != null) last += 1
    const drawn = points.slice(first, last + 1).map(({ x, y }) => ({ x: round(x), y: round(y ?? 0) }))
    const [start, end] = [drawn[0], drawn.at(-1)]
    if (start === undefined || end === undefined) continue
    const stop = isStep ? round(points[last + 1]?.x ?? endX) : end.x
    const path =
      `M${start.x} ${start.y}` +
      drawn
        .slice(1)
        .map(({ x, y }) => (isStep ? `H${x}V${y}` : `L${x} ${y}`))
        .join('') +
      (isStep ? `H${stop}` : '')
    line += path
    area += `${path}V${bottom}H${start.x}Z`
    if (stop === start.x) alone.push(start)
    first = last
  }
  return { line, area, alone }
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}
