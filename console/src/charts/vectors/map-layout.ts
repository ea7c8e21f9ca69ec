/** Where points and their labels stand on the map. Pure, with tests. */

export interface Spot {
  readonly x: number
  readonly y: number
}

export interface Zoom {
  readonly times: number
  /** How far the middle was moved, in pixels. */
  readonly x: number
  readonly y: number
}

export const NO_ZOOM: Zoom = { times: 1, x: 0, y: 0 }
const MOST_ZOOM = 40

/** Room around the points, so that labels at the edge have some. */
const MARGIN = { x: 74, y: 34 }
/** On a phone, the part of the width that it takes at most. */
const MAX_MARGIN_SHARE = 1 / 8

/** Both axes have one scale: a map with two would lie about distances. `more` is the query, which must be in sight too. */
export function spotsOf(
  points: Float64Array,
  more: readonly (readonly [x: number, y: number])[],
  size: { readonly width: number; readonly height: number },
  zoom: Zoom = NO_ZOOM,
): Spot[] {
  const all: Spot[] = []
  for (let i = 0; i + 1 < points.length; i += 2) all.push({ x: points[i]!, y: points[i + 1]! })
  for (const [x, y] of more) all.push({ x, y })
  const [left, right] = bounds(all.map(({ x }) => x))
  const [low, high] = bounds(all.map(({ y }) => y))
  const scale = Math.min(
    Math.max(1, size.width - 2 * Math.min(MARGIN.x, size.width * MAX_MARGIN_SHARE)) / (right - left || 1),
    Math.max(1, size.height - 2 * MARGIN.y) / (high - low || 1),
  )
  return all.map(({ x, y }) => ({
    x: size.width / 2 + zoom.times * (x - (left + right) / 2) * scale + zoom.x,
    // Up is more.
    y: size.height / 2 - zoom.times * (y - (low + high) / 2) * scale + zoom.y,
  }))
}

function bounds(values: readonly number[]): readonly [least: number, most: number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  return values.length === 0 ? [0, 0] : [least, most]
}

/** What is under the pointer stays under it. */
export function zoomed(zoom: Zoom, by: number, at: Spot, middle: Spot): Zoom {
  const times = Math.min(MOST_ZOOM, Math.max(1, zoom.times * by))
  if (times === 1) return NO_ZOOM
  const ratio = times / zoom.times
  return {
    times,
    x: (at.x - middle.x) * (1 - ratio) + zoom.x * ratio,
    y: (at.y - middle.y) * (1 - ratio) + zoom.y * ratio,
  }
}

export interface Label {
  readonly index: number
  readonly x: number
  readonly y: number
  readonly align: 'left' | 'right' | 'center'
}

interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

const POINT = 6
const LINE = 14

/** Right, left, above, below, in this order, where nothing else stands; else it has none. First come, first placed. */
export function labelsFor(
  spots: readonly Spot[],
  widths: (index: number) => number,
  size: { readonly width: number; readonly height: number },
  order: Iterable<number> = spots.keys(),
  /** Half of what stands at a spot: an image is larger than a mark, and has its label below. */
  halfOf: (index: number) => number = () => POINT,
): Label[] {
  const grid = new BoxGrid()
  for (const [index, { x, y }] of spots.entries()) {
    const half = halfOf(index)
    grid.add({ left: x - half, top: y - half, right: x + half, bottom: y + half })
  }
  const labels: Label[] = []
  for (const index of order) {
    const spot = spots[index]
    if (spot === undefined) continue
    const width = widths(index)
    const half = halfOf(index)
    for (const align of half > POINT ? BESIDE_IMAGE : BESIDE_MARK) {
      const box = boxFor(spot, align, { width, half })
      if (box.left < 2 || box.right > size.width - 2 || box.top < 2 || box.bottom > size.height - 2) continue
      if (grid.meets(box)) continue
      grid.add(box)
      labels.push(labelIn(index, spot, align, box))
      break
    }
  }
  return labels
}

type Side = 'left' | 'right' | 'above' | 'below'
const BESIDE_MARK: readonly Side[] = ['left', 'right', 'above', 'below']
const BESIDE_IMAGE: readonly Side[] = ['below', 'above', 'left', 'right']

function boxFor(
  { x, y }: Spot,
  side: Side,
  { width, half }: { readonly width: number; readonly half: number },
): Box {
  const gap = half + 4
  const left = side === 'left' ? x + gap : side === 'right' ? x - gap - width : x - width / 2
  const top = side === 'above' ? y - half - LINE - 1 : side === 'below' ? y + half + 1 : y - LINE / 2
  return { left, top, right: left + width, bottom: top + LINE }
}

function labelIn(index: number, spot: Spot, side: Side, box: Box): Label {
  const y = (box.top + box.bottom) / 2
  if (side === 'left') return { index, x: box.left, y, align: 'left' }
  if (side === 'right') return { index, x: box.right, y, align: 'right' }
  return { index, x: spot.x, y, align: 'center' }
}

/** Boxes by the cells they lie in, so that five hundred labels need not look at each other. */
class BoxGrid {
  readonly #cells = new Map<number, Box[]>()

  add(box: Box): void {
    for (const cell of cellsOf(box)) {
      const boxes = this.#cells.get(cell)
      if (boxes === undefined) this.#cells.set(cell, [box])
      else boxes.push(box)
    }
  }

  meets(box: Box): boolean {
    return cellsOf(box).some((cell) =>
      this.#cells
        .get(cell)
        ?.some(
          (other) =>
            box.left < other.right &&
            other.left < box.right &&
            box.top < other.bottom &&
            other.top < box.bottom,
        ),
    )
  }
}

const CELL = 48
/** More rows than any screen has: a column and a row make one number, which is quicker to find than a text. */
const ROWS = 10_000

function cellsOf({ left, top, right, bottom }: Box): number[] {
  const cells: number[] = []
  const lastRow = Math.floor(bottom / CELL)
  for (let column = Math.floor(left / CELL); column <= Math.floor(right / CELL); column++)
    for (let row = Math.floor(top / CELL); row <= lastRow; row++) cells.push(column * ROWS + row)
  return cells
}

/** The point under the pointer, or near it. */
export function spotAt(spots: readonly Spot[], x: number, y: number, within = 12): number | undefined {
  let [best, who] = [within, -1]
  for (const [index, spot] of spots.entries()) {
    const distance = Math.hypot(spot.x - x, spot.y - y)
    if (distance < best) [best, who] = [distance, index]
  }
  return who < 0 ? undefined : who
}

export type Arrow = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown'

const WAYS: Record<Arrow, readonly [x: number, y: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** The nearest point that lies that way; one that lies aside counts as farther. None: it stays. */
export function towards(spots: readonly Spot[], from: number | undefined, arrow: Arrow): number {
  const here = from === undefined ? undefined : spots[from]
  if (from === undefined || here === undefined) return 0
  const [wayX, wayY] = WAYS[arrow]
  let [best, who] = [Number.POSITIVE_INFINITY, from]
  for (const [index, spot] of spots.entries()) {
    const [x, y] = [spot.x - here.x, spot.y - here.y]
    const along = x * wayX + y * wayY
    const aside = Math.abs(x * wayY) + Math.abs(y * wayX)
    if (index === from || along <= 0 || aside > along * 2) continue
    const distance = along + 2 * aside
    if (distance < best) [best, who] = [distance, index]
  }
  return who
}
