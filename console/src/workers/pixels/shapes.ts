/** Shapes that are painted into a mask. Pixels have no half tones: one is inside when its middle is. */
import { type Box, type Mask } from './mask.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

/** A round brush drawn from one point to another, with a radius at each end: pens press. Returns what it may have touched. */
export function paintCapsule(
  mask: Mask,
  from: Point,
  to: Point,
  {
    fromRadius,
    toRadius = fromRadius,
    isPainted,
  }: { fromRadius: number; toRadius?: number; isPainted: boolean },
): Box {
  const radius = Math.max(fromRadius, toRadius)
  const box = boxWithin(mask, {
    left: Math.min(from.x, to.x) - radius,
    top: Math.min(from.y, to.y) - radius,
    right: Math.max(from.x, to.x) + radius,
    bottom: Math.max(from.y, to.y) + radius,
  })
  const sides = sidesOf(from, to, fromRadius, toRadius)
  for (let y = box.top; y < box.bottom; y += 1) {
    const middle = y + 0.5
    let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const [centre, reach] of [
      [from, fromRadius],
      [to, toRadius],
    ] as const) {
      const half = reach * reach - (middle - centre.y) ** 2
      if (half < 0) continue
      left = Math.min(left, centre.x - Math.sqrt(half))
      right = Math.max(right, centre.x + Math.sqrt(half))
    }
    for (const [one, other] of sides) {
      const [top, bottom] = one.y < other.y ? [one, other] : [other, one]
      if (middle < top.y || middle > bottom.y || top.y === bottom.y) continue
      const x = top.x + ((middle - top.y) / (bottom.y - top.y)) * (bottom.x - top.x)
      left = Math.min(left, x)
      right = Math.max(right, x)
    }
    if (left < right) mask.span(y, firstInside(left), firstInside(right), isPainted)
  }
  return box
}

/** The two straight edges between the ends. One end may lie inside of the other: then there are none. */
function sidesOf(from: Point, to: Point, fromRadius: number, toRadius: number): (readonly [Point, Point])[] {
  const [dx, dy] = [to.x - from.x, to.y - from.y]
  const length = Math.hypot(dx, dy)
  if (length <= Math.abs(fromRadius - toRadius)) return []
  const along = (fromRadius - toRadius) / length
  const across = Math.sqrt(1 - along * along)
  return [1, -1].map((side) => {
    const x = (dx * along - side * dy * across) / length
    const y = (dy * along + side * dx * across) / length
    return [
      { x: from.x + x * fromRadius, y: from.y + y * fromRadius },
      { x: to.x + x * toRadius, y: to.y + y * toRadius },
    ] as const
  })
}

export function paintRectangle(mask: Mask, area: Box, isPainted: boolean): Box {
  const box = boxWithin(mask, area)
  for (let y = box.top; y < box.bottom; y += 1) mask.span(y, box.left, box.right, isPainted)
  return box
}

/** A closed line; where it crosses itself, what lies inside twice is inside. */
export function paintPolygon(mask: Mask, points: readonly Point[], isPainted: boolean): Box {
  const box = boxWithin(mask, {
    left: Math.min(...points.map(({ x }) => x)),
    top: Math.min(...points.map(({ y }) => y)),
    right: Math.max(...points.map(({ x }) => x)),
    bottom: Math.max(...points.map(({ y }) => y)),
  })
  for (let y = box.top; y < box.bottom; y += 1) {
    let around = 0
    let from = 0
    for (const { x, turn } of crossings(points, y + 0.5)) {
      if (around === 0) from = x
      around += turn
      if (around === 0) mask.span(y, firstInside(from), firstInside(x), isPainted)
    }
  }
  return box
}

/** Where the line passes a height, from the left, and whether it goes down or up. */
function crossings(points: readonly Point[], y: number): { readonly x: number; readonly turn: 1 | -1 }[] {
  const found: { readonly x: number; readonly turn: 1 | -1 }[] = []
  for (const [index, from] of points.entries()) {
    const to = points[(index + 1) % points.length] ?? from
    // An end belongs to one of its two lines.
    if (from.y <= y === to.y <= y) continue
    const x = from.x + ((y - from.y) / (to.y - from.y)) * (to.x - from.x)
    found.push({ x, turn: to.y > from.y ? 1 : -1 })
  }
  return found.sort((a, b) => a.x - b.x)
}

/** The first pixel whose middle is not left of it. */
function firstInside(x: number): number {
  return Math.ceil(x - 0.5)
}

function boxWithin({ width, height }: Mask, { left, top, right, bottom }: Box): Box {
  const [fromX, fromY] = [Math.max(0, Math.floor(left)), Math.max(0, Math.floor(top))]
  return {
    left: fromX,
    top: fromY,
    right: Math.max(fromX, Math.min(width, Math.ceil(right))),
    bottom: Math.max(fromY, Math.min(height, Math.ceil(bottom))),
  }
}
