/** Where points, names and notes stand on the chart of bytes and kept shares. Pure, with tests. */
import type { Spot } from './map-layout.ts'

export interface KeptPoint {
  readonly bytes: number
  /** Of 1. */
  readonly kept: number
}

interface Size {
  readonly width: number
  readonly height: number
}

/** Room at both ends of the bytes axis: half of a label. */
const MARGIN = 28
/** The lowest share of the axis, unless a point lies below it. */
const LOWEST = 0.4
const SHARE_STEP = 0.2

export interface KeptAxes {
  /** Powers of four. */
  readonly bytes: readonly number[]
  readonly shares: readonly number[]
  readonly spot: (point: KeptPoint) => Spot
}

export function axesOf(points: readonly KeptPoint[], { width, height }: Size): KeptAxes {
  const powers = points.map(({ bytes }) => Math.log2(bytes) / 2)
  const low = Math.floor(Math.min(...powers))
  const high = Math.max(low + 1, Math.ceil(Math.max(...powers)))
  const least = Math.min(LOWEST, ...points.map(({ kept }) => Math.floor(kept / SHARE_STEP) * SHARE_STEP))
  const steps = Math.round((1 - least) / SHARE_STEP)
  return {
    bytes: Array.from({ length: high - low + 1 }, (_, step) => 4 ** (low + step)),
    shares: Array.from({ length: steps + 1 }, (_, step) => 1 - step * SHARE_STEP),
    spot: ({ bytes, kept }) => ({
      x: MARGIN + ((Math.log2(bytes) / 2 - low) / (high - low)) * (width - 2 * MARGIN),
      y: ((1 - kept) / (1 - least)) * height,
    }),
  }
}

export interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

const POINT = 7
const STROKE = 3
const LINE = 16

/** For each line the place of its name: beside one of its points, its smallest first, where it covers no line and no other name. undefined: there is none. */
export function namesOf(
  lines: readonly (readonly Spot[])[],
  widths: readonly number[],
  taken: readonly Box[],
  size: Size,
): (Box | undefined)[] {
  const covered = [
    ...taken,
    ...lines.flatMap((spots) => [
      ...spots.map((spot) => around(spot, POINT)),
      ...alongLine(spots).map((spot) => around(spot, STROKE)),
    ]),
  ]
  return lines.map((spots, line) => {
    const width = widths[line] ?? 0
    // Near to any of its points is better than far from the first.
    const places = [0, POINT, 2 * POINT].flatMap((more) =>
      spots.flatMap((spot) => placesBeside(spot, width, more)),
    )
    const inside = places.filter(
      ({ left, top, right, bottom }) => left >= 0 && top >= 0 && right <= size.width && bottom <= size.height,
    )
    const place = inside.find((box) => covered.every((other) => !meets(box, other)))
    if (place) covered.push(place)
    return place
  })
}

/** Points every few pixels along a line through spots, its ends included. */
function alongLine(spots: readonly Spot[]): Spot[] {
  return spots.flatMap((from, place) => {
    const to = spots[place + 1]
    if (to === undefined) return [from]
    const steps = Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / STROKE))
    return Array.from({ length: steps }, (_, step) => ({
      x: from.x + ((to.x - from.x) * step) / steps,
      y: from.y + ((to.y - from.y) * step) / steps,
    }))
  })
}

function around({ x, y }: Spot, by: number): Box {
  return { left: x - by, top: y - by, right: x + by, bottom: y + by }
}

/** `more`: how much farther than at its side. */
function placesBeside({ x, y }: Spot, width: number, more: number): Box[] {
  const gap = POINT + 6
  const lefts = [
    [x + gap, y - LINE / 2 + more],
    [x + gap, y + more],
    [x - width / 2, y + POINT + 2 + more],
    [x - gap - width, y - LINE / 2 - more],
    [x - width / 2, y - POINT - 2 - LINE - more],
  ] as const
  return lefts.map(([left, top]) => ({ left, top, right: left + width, bottom: top + LINE }))
}

function meets(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom
}

/** The words of the band above `y`: at its left end, or at its right one if a point is there. Too thin for them, it has them below. */
export function bandWords(spots: readonly Spot[], wordsWidth: number, chartWidth: number, y: number): Box {
  const top = y >= LINE + 2 ? (y - LINE) / 2 : y + 3
  const [left, right] = [8, chartWidth - 8 - wordsWidth].map((from) => ({
    left: from,
    top,
    right: from + wordsWidth,
    bottom: top + LINE,
  })) as [Box, Box]
  return spots.some((spot) => meets(left, around(spot, POINT))) ? right : left
}

/** The middles of notes above the chart: over their points, moved apart and inside where they would overlap. */
export function notesOver(
  points: readonly number[],
  widths: readonly number[],
  chartWidth: number,
  gap = 16,
): number[] {
  const order = Array.from(points.keys()).toSorted((a, b) => (points[a] ?? 0) - (points[b] ?? 0))
  const middles: number[] = []
  let end = -gap
  for (const place of order) {
    const half = (widths[place] ?? 0) / 2
    middles[place] = Math.max(points[place] ?? 0, end + gap + half)
    end = middles[place] + half
  }
  let start = chartWidth + gap
  for (const place of order.toReversed()) {
    const half = (widths[place] ?? 0) / 2
    middles[place] = Math.min(middles[place] ?? 0, start - gap - half)
    start = middles[place] - half
  }
  return middles
}
