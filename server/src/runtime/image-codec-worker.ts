/** Runs in a worker thread: decodes and encodes images with libvips, whose own threads do the work. */
import sharp, { type Sharp, type SharpOptions } from 'sharp'
import type { ImageFormat } from '#core/catalog/catalog.ts'
import { giveWay } from '#thread/give-way.ts'
import { serve, type ThreadCall } from '#thread/serve.ts'
import { colourMask, type MaskColour } from './colour-mask.ts'

export type CodecAnswer =
  | { readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly trouble: 'unreadable' | 'late' | 'too-wide'; readonly message: string }

interface Conversion {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly format: ImageFormat
  readonly quality: number | undefined
}

interface Thumbnail {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly width: number
  readonly mostBytes: number
}

interface Mask {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly changed: MaskColour
}

/** The port's limit, checked a second time here, since a header may lie. */
const MAX_PIXELS = 50_000_000
const MAX_SECONDS = 30
/** Limit of libwebp. */
const WEBP_MAX_EDGE = 16_383

// Blocks unneeded decoders, which can't be attacked then: libvips reads dozens of formats, some through large
// libraries.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer'],
})
// Two concurrent images on one thread each leave the other cores to the gateway. No two images are the same:
// nothing to cache.
sharp.concurrency(1)
sharp.cache(false)

class TooWide extends Error {}

function open(bytes: Uint8Array, options: SharpOptions = {}): Sharp {
  const bounds: SharpOptions = { limitInputPixels: MAX_PIXELS, failOn: 'error', pages: 1 }
  return sharp(bytes, { ...bounds, ...options }).timeout({ seconds: MAX_SECONDS })
}

async function answered(
  making: Promise<Uint8Array<ArrayBuffer>>,
  { handOver }: ThreadCall,
): Promise<CodecAnswer> {
  try {
    const bytes = await making
    handOver([bytes.buffer])
    return { bytes }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (error instanceof TooWide) return { trouble: 'too-wide', message }
    return { trouble: message.startsWith('timeout') ? 'late' : 'unreadable', message }
  }
}

async function converted({ bytes, format, quality = 100 }: Conversion): Promise<Uint8Array<ArrayBuffer>> {
  const input = open(bytes)
  const { width, height } = await input.metadata()
  if (format === 'webp' && Math.max(width, height) > WEBP_MAX_EDGE)
    throw new TooWide(`a webp edge has at most ${WEBP_MAX_EDGE} pixels, and the image has ${width}×${height}`)
  // The orientation is metadata, which is dropped: it is applied, so that the image looks the same. A
  // `Buffer` of sharp's can't be transferred, and its `toUint8Array` does not always free its memory
  // (0.35.5).
  return new Uint8Array(await encoded(input.autoOrient(), format, quality).toBuffer())
}

function encoded(picture: Sharp, format: ImageFormat, asked: number): Sharp {
  // The scale of both encoders begins at 1; they treat 0 as 1.
  const quality = Math.max(1, asked)
  if (format === 'png') return picture.png({ compressionLevel: 6 })
  if (format === 'webp') return picture.webp({ quality })
  // A caller that asks for the best quality does not want colours at half the resolution.
  const chromaSubsampling = quality >= 90 ? '4:4:4' : '4:2:0'
  return picture.flatten({ background: 'white' }).jpeg({ quality, chromaSubsampling })
}

/** From good to the least that still shows what it is. */
const THUMBNAIL_QUALITIES = [78, 55, 30, 10] as const

async function thumbnail({ bytes, width, mostBytes }: Thumbnail): Promise<Uint8Array<ArrayBuffer>> {
  const small = open(bytes)
    .autoOrient()
    .resize({ width, height: 2 * width, fit: 'inside', withoutEnlargement: true })
  let made = new Uint8Array()
  for (const quality of THUMBNAIL_QUALITIES) {
    made = new Uint8Array(await small.clone().webp({ quality }).toBuffer())
    if (made.length <= mostBytes) return made
  }
  throw new Error(`a thumbnail of ${made.length} bytes`)
}

const works = {
  convert: (conversion: Conversion, call: ThreadCall) => answered(converted(conversion), call),
  thumbnail: (asked: Thumbnail, call: ThreadCall) => answered(thumbnail(asked), call),
  mask: ({ bytes, changed }: Mask, call: ThreadCall) => answered(colourMask(bytes, changed, open), call),
}

export type CodecWorks = typeof works
giveWay()
serve(works)
