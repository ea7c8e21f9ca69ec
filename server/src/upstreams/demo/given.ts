/** Reads the images that an edit was given. A caller sent them, so nothing in them is trusted. */
import sharp, { type Sharp } from 'sharp'
import type { ImageFormat, PixelSize } from '#core/catalog/catalog.ts'

/** The limit of every image that the gateway decodes. */
const MAX_PIXELS = 50_000_000
/** First bytes of the accepted formats: libvips reads dozens of others, some through large libraries. */
const STARTS = { png: /^.PNG\r\n/, jpeg: /^\xff\xd8\xff/, webp: /^RIFF[^]{4}WEBP/ } as const

export interface EditInput {
  readonly field: 'image' | 'mask' | 'markup'
  /** Counts from 1 within its field. */
  readonly number: number
  readonly format: ImageFormat
  readonly bytes: Uint8Array<ArrayBuffer>
}

export class UnreadableInput extends Error {
  readonly field: EditInput['field']

  constructor({ field, number }: EditInput, why: string) {
    super(`${field === 'image' ? `picture ${number}` : `the ${field}`} ${why}`)
    this.field = field
  }
}

export async function readGiven<Made>(
  input: EditInput,
  read: (picture: Sharp) => Promise<Made>,
): Promise<Made> {
  const { bytes, format } = input
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (!STARTS[format].test(start)) throw new UnreadableInput(input, `is not ${format}`)
  try {
    const picture = sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error', pages: 1 })
    // Oriented as it is meant to be seen.
    return await read(picture.autoOrient())
  } catch (error) {
    throw new UnreadableInput(
      input,
      `can't be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

export interface Pixels extends PixelSize {
  /** Red, green, blue and alpha of eight bits each. */
  readonly pixels: Buffer<ArrayBuffer>
}

export async function pixelsOf(picture: Sharp): Promise<Pixels> {
  const { data, info } = await picture
    .toColourspace('srgb')
    .ensureAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, pixels: data }
}

/** For each pixel, whether the mask is fully transparent there. */
export async function marksOf(
  mask: Sharp,
  { width, height }: PixelSize,
): Promise<(pixel: number) => boolean> {
  const { hasAlpha, depth } = await mask.metadata()
  if (!hasAlpha) return () => false
  // In 8 bits, an alpha of 1 in 65,535 would be fully transparent.
  const isDeep = depth === 'ushort'
  const data = await mask
    .resize(width, height, { fit: 'fill', kernel: 'nearest' })
    .extractChannel('alpha')
    .toColourspace(isDeep ? 'grey16' : 'b-w')
    .raw({ depth: isDeep ? 'ushort' : 'uchar' })
    .toBuffer()
  const alpha = isDeep ? new Uint16Array(data.buffer, data.byteOffset, data.length / 2) : data
  return (pixel) => alpha[pixel] === 0
}
