/** Shows what an edit was given: the first image, what its mask marks, the markup, and the others as thumbnails. */
import type { PixelSize } from '#core/catalog/catalog.ts'
import { Canvas, CELL_HEIGHT, CELL_WIDTH, groundOf, type Colour } from './drawing.ts'
import { marksOf, pixelsOf, readGiven, type EditInput, type Pixels } from './given.ts'

/** As large as the demo model draws. */
const MAX_EDGE = 2048
const TINT: Colour = [219, 39, 119, 70]
const STRIPE: Colour = [219, 39, 119, 170]
const BORDER: Colour = [255, 255, 255, 255]
const OUTLINE: Colour = [131, 24, 67, 255]
const PAPER: Colour = [255, 255, 255, 255]
const BADGE: Colour = [17, 17, 22, 255]
/** Shares of the shorter edge: a thumbnail, and the margin around it. */
const THUMBNAIL_SHARE = 0.2
const GAP_SHARE = 0.025
/** Sixteen images take two rows. */
const MAX_COLUMNS = 8

export interface EditScene {
  /** Images in their order, then the mask and the markup, where there are any. */
  readonly inputs: readonly EditInput[]
  readonly prompt: string
  /** Undefined for the size of the first image. */
  readonly size: PixelSize | undefined
  readonly isTransparent: boolean
}

export async function sceneOf({ inputs, size, prompt, isTransparent }: EditScene): Promise<Canvas> {
  const [first, ...others] = inputs.filter(({ field }) => field === 'image')
  if (first === undefined) throw new Error('an edit without a picture')
  const picture = await readGiven(first, (opened) =>
    pixelsOf(
      opened.resize({
        width: size?.width ?? MAX_EDGE,
        height: size?.height ?? MAX_EDGE,
        fit: 'inside',
        withoutEnlargement: size === undefined,
      }),
    ),
  )
  const { width, height } = size ?? picture
  const canvas = new Canvas(width, height, groundOf({ text: prompt, isTransparent }))
  const place = {
    left: Math.floor((width - picture.width) / 2),
    top: Math.floor((height - picture.height) / 2),
  }
  canvas.lay(picture, place)
  for (const overlay of inputs) {
    if (overlay.field === 'mask') canvas.lay(await hatched(overlay, picture), place)
    if (overlay.field === 'markup') canvas.lay(await stretched(overlay, picture), place)
  }
  await layThumbnails(canvas, others)
  return canvas
}

async function stretched(input: EditInput, { width, height }: PixelSize): Promise<Pixels> {
  return readGiven(input, (opened) => pixelsOf(opened.resize({ width, height, fit: 'fill' })))
}

async function hatched(mask: EditInput, { width, height }: PixelSize): Promise<Canvas> {
  const isMarked = await readGiven(mask, (opened) => marksOf(opened, { width, height }))
  const canvas = new Canvas(width, height, [0, 0, 0, 0])
  const stripe = Math.max(3, Math.round(Math.min(width, height) / 64))
  const thickness = Math.max(1, Math.round(Math.min(width, height) / 512))
  const border: number[] = []
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    if (!isMarked(pixel)) continue
    const [x, y] = [pixel % width, Math.floor(pixel / width)]
    canvas.pixels.set((x + y) % (3 * stripe) < stripe ? STRIPE : TINT, pixel * 4)
    const isInside =
      (x === 0 || isMarked(pixel - 1)) &&
      (x === width - 1 || isMarked(pixel + 1)) &&
      (y === 0 || isMarked(pixel - width)) &&
      (y === height - 1 || isMarked(pixel + width))
    if (!isInside) border.push(pixel)
  }
  for (const [reach, colour] of [
    [2 * thickness, OUTLINE],
    [thickness, BORDER],
  ] as const) {
    for (const pixel of border) {
      const [left, top] = [(pixel % width) - reach, Math.floor(pixel / width) - reach]
      canvas.paint({ left, top, width: 2 * reach + 1, height: 2 * reach + 1, colour })
    }
  }
  return canvas
}

/** Rows at the top, from the right, each thumbnail with its number. */
async function layThumbnails(canvas: Canvas, others: readonly EditInput[]): Promise<void> {
  const shorter = Math.min(canvas.width, canvas.height)
  const gap = Math.max(2, Math.round(shorter * GAP_SHARE))
  const columns = Math.min(MAX_COLUMNS, Math.max(1, others.length))
  const room = Math.floor((canvas.width - gap) / columns) - gap
  const edge = Math.min(Math.round(shorter * THUMBNAIL_SHARE), room)
  // Each is read, so that an unreadable one is refused even where there is no space to show it.
  for (const [index, other] of others.entries()) {
    const inner = Math.max(1, edge - 2 * Math.ceil(edge / 32))
    const small = await readGiven(other, (opened) =>
      pixelsOf(opened.resize({ width: inner, height: inner, fit: 'cover' })),
    )
    if (edge < 2 * CELL_HEIGHT) continue
    const row = Math.floor(index / columns)
    const inRow = Math.min(columns, others.length - row * columns)
    const left = canvas.width - (inRow - (index % columns)) * (edge + gap)
    canvas.lay(framed(small, edge, other.number), { left, top: gap + row * (edge + gap) })
  }
}

function framed(small: Pixels, edge: number, number: number): Canvas {
  const frame = (edge - small.width) / 2
  const canvas = new Canvas(edge, edge, PAPER)
  canvas.lay(small, { left: frame, top: frame })
  const dot = Math.max(1, Math.round(edge / 64))
  const text = String(number)
  const badge = { width: (text.length * CELL_WIDTH + 3) * dot, height: (CELL_HEIGHT + 2) * dot }
  canvas.paint({ left: 0, top: 0, ...badge, colour: BADGE })
  canvas.write(text, 2 * dot, 2 * dot, { dot, ink: PAPER })
  return canvas
}
