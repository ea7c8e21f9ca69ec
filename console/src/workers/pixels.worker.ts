/** Work on all pixels of an image, off the page: masks to files and back, comparing, composing. Values in, values out. */
import {
  countBand,
  keepUnpainted,
  noCounts,
  regionOf,
  thresholdFor,
  type Comparison,
} from './pixels/compare.ts'
import { maskPng } from './pixels/mask-png.ts'
import { Mask, paintTransparent } from './pixels/mask.ts'
import { overlayOf } from './pixels/overlay.ts'
import { pngOf } from './pixels/png.ts'
import { serveTasks } from './serve-tasks.ts'

interface MaskWords {
  readonly width: number
  readonly height: number
  readonly words: Uint32Array<ArrayBuffer>
}

export interface PixelTasks {
  readonly maskPng: { readonly request: MaskWords; readonly response: Blob }
  readonly readMask: {
    readonly request: Blob
    readonly response: MaskWords & { readonly hasTransparent: boolean }
  }
  readonly compare: { readonly request: CompareRequest; readonly response: Compared }
}

interface CompareRequest {
  readonly before: Blob
  readonly after: Blob
  readonly mask: MaskWords | undefined
  /** The original is put back outside of the mask, and the result of that is compared. */
  readonly keep: boolean
}

export interface Compared {
  readonly comparison: Comparison
  /** Grey, with changed pixels in colour. */
  readonly map: ImageBitmap
  /** The edge of the mask, to be laid over the whole image: one sees what lies outside. */
  readonly edge: ImageBitmap | undefined
  readonly kept: { readonly image: Blob; readonly comparison: Comparison } | undefined
}

/** Rows that are decoded at once: a band of a 24-megapixel image is 6 MB. */
const BAND_ROWS = 256
/** The longer edge of the map that is shown. */
const MAP_EDGE = 1600

serveTasks<PixelTasks>({ maskPng: (mask) => maskPng(maskOf(mask)), readMask, compare })

function maskOf({ width, height, words }: MaskWords): Mask {
  return new Mask(width, height, words)
}

/** Upright, as it is shown. */
function decoded(
  blob: Blob,
  size?: { readonly width: number; readonly height: number },
): Promise<ImageBitmap> {
  return createImageBitmap(blob, {
    imageOrientation: 'from-image',
    ...(size && { resizeWidth: size.width, resizeHeight: size.height, resizeQuality: 'high' }),
  })
}

function contextOf(width: number, height: number): OffscreenCanvasRenderingContext2D {
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })
  if (context === null) throw new Error('This browser has no canvas for a worker.')
  return context
}

function* bandsOf(width: number, height: number, images: readonly ImageBitmap[]) {
  const contexts = images.map(() => contextOf(width, Math.min(height, BAND_ROWS)))
  for (let top = 0; top < height; top += BAND_ROWS) {
    const rows = Math.min(BAND_ROWS, height - top)
    const bands = images.map((image, index) => {
      const context = contexts[index] ?? contextOf(width, rows)
      context.clearRect(0, 0, width, BAND_ROWS)
      context.drawImage(image, 0, -top)
      return context.getImageData(0, 0, width, rows).data
    })
    yield { top, rows, bands }
  }
}

async function readMask(file: Blob): Promise<PixelTasks['readMask']['response']> {
  const image = await decoded(file)
  const mask = new Mask(image.width, image.height)
  let hasTransparent = false
  for (const { top, bands } of bandsOf(image.width, image.height, [image])) {
    const [pixels = new Uint8ClampedArray()] = bands
    hasTransparent = paintTransparent(mask, pixels, top) || hasTransparent
  }
  image.close()
  return { width: mask.width, height: mask.height, words: mask.words, hasTransparent }
}

async function compare(task: CompareRequest): Promise<Compared> {
  const mask = task.mask && maskOf(task.mask)
  const after = await decoded(task.after)
  const { width, height } = after
  const first = await decoded(task.before)
  const isScaled = first.width !== width || first.height !== height
  const source = { width: first.width, height: first.height }
  const before = isScaled ? await decoded(task.before, { width, height }) : first
  const threshold = thresholdFor(task.after.type)
  const region = regionOf(mask, width, height)
  const counts = noCounts()
  const scale = Math.min(1, MAP_EDGE / Math.max(width, height))
  const small = contextOf(Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)))
  const large = contextOf(width, Math.min(height, BAND_ROWS))
  for (const { top, rows, bands } of bandsOf(width, height, [before, after])) {
    const [was = new Uint8ClampedArray(), is = new Uint8ClampedArray()] = bands
    const map = new Uint8ClampedArray(is.length)
    countBand(counts, { before: was, after: is, width, top }, { region, threshold, map })
    large.putImageData(new ImageData(map, width), 0, 0)
    small.drawImage(large.canvas, 0, 0, width, rows, 0, top * scale, width * scale, rows * scale)
  }
  const comparison = { ...counts, width, height, threshold, isScaled }
  const kept =
    task.keep && mask !== undefined ? await keptOf(first, task.after, { mask, source, threshold }) : undefined
  for (const image of new Set([before, first, after])) image.close()
  return { comparison, map: small.canvas.transferToImageBitmap(), edge: mask && edgeOf(mask), kept }
}

function edgeOf(mask: Mask): ImageBitmap {
  const scale = Math.min(1, MAP_EDGE / Math.max(mask.width, mask.height))
  const right = Math.max(1, Math.round(mask.width * scale))
  const bottom = Math.max(1, Math.round(mask.height * scale))
  const context = contextOf(right, bottom)
  const pixels = overlayOf(mask, { scale, left: 0, top: 0 }, { left: 0, top: 0, right, bottom }, false)
  context.putImageData(new ImageData(pixels, right), 0, 0)
  return context.canvas.transferToImageBitmap()
}

interface KeepOptions {
  readonly mask: Mask
  readonly source: { readonly width: number; readonly height: number }
  readonly threshold: number
}

/** At the size of the original, so that what is kept is kept exactly. */
async function keptOf(
  original: ImageBitmap,
  result: Blob,
  { mask, source, threshold }: KeepOptions,
): Promise<NonNullable<Compared['kept']>> {
  const { width, height } = source
  const after = await decoded(result, source)
  const region = regionOf(mask, width, height)
  const counts = noCounts()
  function* rows(): Generator<Uint8ClampedArray> {
    for (const { top, bands } of bandsOf(width, height, [original, after])) {
      const [was = new Uint8ClampedArray(), is = new Uint8ClampedArray()] = bands
      keepUnpainted(was, is, { mask, width, top })
      countBand(counts, { before: was, after: is, width, top }, { region, threshold })
      yield is
    }
  }
  const image = await pngOf(width, height, rows())
  after.close()
  return { image, comparison: { ...counts, width, height, threshold, isScaled: false } }
}
