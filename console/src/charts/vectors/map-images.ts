/** Images on the map: how large each may be, and how it is drawn. */
import { token } from './canvas.ts'
import type { Spot } from './map-layout.ts'
import { markOf } from './marks.ts'
import { pathOf, type Palette } from './map-drawing.ts'

/** One input with an image. */
export interface MapImage {
  readonly thumbnail: ImageBitmap
  /** Of several parts, which make one vector. */
  readonly isJoined: boolean
}

/** Images above this number are shapes until one zooms in. */
const MAX_UNZOOMED = 60
const ZOOMED_IN = 1.5
const SMALL = 20
/** Room between two images. */
const GAP = 3

export interface ImageRoom {
  /** Edge of an image with nothing near it. */
  readonly full: number
  readonly zoomTimes: number
}

/** Edges in pixels: the full one, a smaller one where images would overlap, and 0 where they still would: then it is a shape. */
export function imageEdges(
  spots: readonly Spot[],
  hasImage: readonly boolean[],
  { full, zoomTimes }: ImageRoom,
): number[] {
  const images = Array.from(hasImage.keys()).filter((index) => hasImage[index])
  const isCrowded = images.length > MAX_UNZOOMED && zoomTimes < ZOOMED_IN
  const edges = hasImage.map((has) => (has && !isCrowded ? full : 0))
  for (const smaller of [SMALL, 0]) {
    const crowded = new Set<number>()
    for (const [place, one] of images.entries())
      for (const other of images.slice(place + 1)) {
        const [a, b] = [spots[one], spots[other]]
        const room = ((edges[one] ?? 0) + (edges[other] ?? 0)) / 2 + GAP
        if (a && b && edges[one] && edges[other] && Math.abs(a.x - b.x) < room && Math.abs(a.y - b.y) < room)
          crowded.add(one).add(other)
      }
    for (const index of crowded) edges[index] = smaller
  }
  return edges
}

export function drawImages(
  context: CanvasRenderingContext2D,
  spots: readonly Spot[],
  {
    images,
    edges,
    groupOf,
    palette,
  }: {
    readonly images: readonly (MapImage | undefined)[]
    readonly edges: readonly number[]
    readonly groupOf: readonly number[]
    readonly palette: Palette
  },
): void {
  for (const [index, image] of images.entries()) {
    const spot = spots[index]
    const edge = edges[index] ?? 0
    if (image === undefined || spot === undefined || edge === 0) continue
    context.save()
    context.translate(spot.x, spot.y)
    drawImage(context, image, edge, { group: groupOf[index] ?? -1, palette })
    context.restore()
  }
}

function drawImage(
  context: CanvasRenderingContext2D,
  { thumbnail, isJoined }: MapImage,
  edge: number,
  { group, palette }: { readonly group: number; readonly palette: Palette },
): void {
  const { colour, shape } = markOf(group)
  const half = edge / 2
  const radius = edge > SMALL ? 5 : 3
  context.save()
  context.beginPath()
  context.roundRect(-half, -half, edge, edge, radius)
  context.clip()
  context.drawImage(thumbnail, -half, -half, edge, edge)
  context.restore()
  context.lineWidth = 2
  context.strokeStyle = palette.of(colour)
  context.beginPath()
  context.roundRect(-half, -half, edge, edge, radius)
  context.stroke()
  if (isJoined) {
    context.lineWidth = 1.5
    context.beginPath()
    context.roundRect(-half - 4, -half - 4, edge + 8, edge + 8, radius + 3)
    context.stroke()
    if (edge > SMALL) drawLetter(context, half, palette)
  }
  if (edge <= SMALL) return
  context.translate(half - 1, half - 1)
  context.lineWidth = 5
  context.strokeStyle = palette.sunken
  context.fillStyle = palette.of(colour)
  context.stroke(pathOf(shape))
  context.fill(pathOf(shape))
}

/** It has a text too. */
function drawLetter(context: CanvasRenderingContext2D, half: number, { ink }: Palette): void {
  context.fillStyle = ink
  context.beginPath()
  context.roundRect(-half, -half, 14, 13, 3)
  context.fill()
  context.fillStyle = token('surface')
  context.font = '600 9px Inter, sans-serif'
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.fillText('T', -half + 7, -half + 7)
}
