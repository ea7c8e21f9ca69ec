/** How the map is drawn on its canvas. */
import { computed, type Colour } from '../colours.ts'
import { token } from './canvas.ts'
import type { Spot } from './map-layout.ts'
import { markOf, shapePath, type Shape } from './marks.ts'

const FONT = '11.5px Inter, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif'
const LABEL_LETTERS = 26
const MARK_SIZE = 9
const STAR_SIZE = 18

export function shortened(text: string): string {
  return text.length <= LABEL_LETTERS ? text : `${text.slice(0, LABEL_LETTERS - 1).trimEnd()}…`
}

const measured = new Map<string, number>()

export function labelMeasure(): (text: string) => number {
  const context = document.createElement('canvas').getContext('2d')
  // The query and the chosen point are bold: all labels get that much room.
  if (context) context.font = `600 ${FONT}`
  return (text) => {
    let width = measured.get(text)
    if (width === undefined) measured.set(text, (width = context?.measureText(text).width ?? 0))
    return width
  }
}

export interface Palette {
  readonly line: string
  readonly ink: string
  readonly ink2: string
  readonly sunken: string
  readonly of: (colour: Colour) => string
}

const palettes = new Map<string, Palette>()

/** Asking the browser for each point would be five hundred questions a frame. */
export function paletteOf(theme: string): Palette {
  const known = palettes.get(theme)
  if (known) return known
  const colours = new Map<Colour, string>()
  const palette: Palette = {
    line: token('line'),
    ink: token('ink'),
    ink2: token('ink-2'),
    sunken: token('sunken'),
    of: (colour) => {
      let value = colours.get(colour)
      if (value === undefined) colours.set(colour, (value = computed(colour)))
      return value
    },
  }
  palettes.set(theme, palette)
  return palette
}

export function drawAxes(
  context: CanvasRenderingContext2D,
  { width, height }: { readonly width: number; readonly height: number },
  { line }: Palette,
): void {
  context.strokeStyle = line
  context.lineWidth = 1
  context.beginPath()
  context.moveTo(Math.round(width / 2) + 0.5, 0)
  context.lineTo(Math.round(width / 2) + 0.5, height)
  context.moveTo(0, Math.round(height / 2) + 0.5)
  context.lineTo(width, Math.round(height / 2) + 0.5)
  context.stroke()
}

export function drawRays(
  context: CanvasRenderingContext2D,
  spots: readonly Spot[],
  from: number,
  nearest: readonly number[],
  { ink2 }: Palette,
): void {
  const star = spots[from]
  if (star === undefined) return
  context.strokeStyle = ink2
  context.setLineDash([3, 3])
  context.beginPath()
  for (const to of nearest) {
    const spot = spots[to]
    if (spot === undefined) continue
    context.moveTo(star.x, star.y)
    context.lineTo(spot.x, spot.y)
  }
  context.stroke()
  context.setLineDash([])
}

const paths = new Map<Shape, Path2D>()

export function pathOf(shape: Shape): Path2D {
  let path = paths.get(shape)
  if (path === undefined) {
    path = new Path2D(shapePath(shape, shape === 'star' ? STAR_SIZE : MARK_SIZE))
    paths.set(shape, path)
  }
  return path
}

/** One mark for each text, in the colour and the shape of its group. */
export function drawMarks(
  context: CanvasRenderingContext2D,
  spots: readonly Spot[],
  groupOf: readonly number[],
  palette: Palette,
  /** Edges of images: such a text has no mark of its own. */
  edges: readonly number[] = [],
): void {
  context.strokeStyle = palette.sunken
  context.lineWidth = 1
  let path: Path2D | undefined
  for (const [index, group] of groupOf.entries()) {
    const spot = spots[index]
    if (spot === undefined || edges[index]) continue
    // Texts of a group stand together: most marks have the look of the one before.
    if (path === undefined || group !== groupOf[index - 1] || edges.length > 0) {
      const { colour, shape } = markOf(group)
      context.fillStyle = palette.of(colour)
      path = pathOf(shape)
    }
    context.translate(spot.x, spot.y)
    context.fill(path)
    context.stroke(path)
    context.translate(-spot.x, -spot.y)
  }
}

export function drawStar(
  context: CanvasRenderingContext2D,
  spot: Spot | undefined,
  { ink, sunken }: Palette,
): void {
  if (spot === undefined) return
  context.save()
  context.translate(spot.x, spot.y)
  context.fillStyle = ink
  context.strokeStyle = sunken
  const path = pathOf('star')
  context.fill(path)
  context.stroke(path)
  context.restore()
}

export function drawLabels(
  context: CanvasRenderingContext2D,
  labels: readonly {
    readonly index: number
    readonly x: number
    readonly y: number
    readonly align: CanvasTextAlign
    readonly text: string
  }[],
  {
    palette,
    bold,
    at,
  }: { readonly palette: Palette; readonly bold: number | undefined; readonly at: number | undefined },
): void {
  context.textBaseline = 'middle'
  for (const { index, x, y, align, text } of labels) {
    const isStrong = index === bold || index === at
    context.font = isStrong ? `600 ${FONT}` : FONT
    context.fillStyle = isStrong ? palette.ink : palette.ink2
    context.textAlign = align
    context.fillText(text, x, y)
  }
}

export function drawRing(
  context: CanvasRenderingContext2D,
  spot: Spot | undefined,
  { ink }: Palette,
  radius = MARK_SIZE,
): void {
  if (spot === undefined) return
  context.strokeStyle = ink
  context.lineWidth = 1.5
  context.beginPath()
  context.arc(spot.x, spot.y, radius, 0, 2 * Math.PI)
  context.stroke()
}
