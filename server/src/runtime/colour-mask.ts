import type { Sharp, SharpOptions } from 'sharp'
import type { PixelSize } from '#core/catalog/catalog.ts'

export type MaskColour = 'white' | 'black'

/** Opens an image with the limits that hold for all of them. */
export type OpenPicture = (bytes: Uint8Array, options?: SharpOptions) => Sharp

const LEVELS: Record<MaskColour, number> = { white: 255, black: 0 }

/** A grey image of the given colour exactly where the mask is fully transparent, and of the other elsewhere. */
export async function colourMask(
  bytes: Uint8Array,
  changed: MaskColour,
  open: OpenPicture,
): Promise<Uint8Array<ArrayBuffer>> {
  const mask = await levelsOf(bytes, LEVELS[changed], open)
  const { levels, width, height } = mask
  const picture = open(levels, { raw: { width, height, channels: 1 } })
  const made = await picture.toColourspace('b-w').png({ compressionLevel: 6 }).toBuffer()
  await compare(made, mask, open)
  return new Uint8Array(made)
}

/** One byte per pixel. The alpha itself may have two, and is freed before anything else is made. */
interface Levels extends PixelSize {
  readonly levels: Uint8Array
}

async function levelsOf(bytes: Uint8Array, changed: number, open: OpenPicture): Promise<Levels> {
  // A colour profile does not apply to alpha, yet libvips would convert the image through other bit depths to apply it.
  const picture = open(bytes, { ignoreIcc: true })
  const { hasAlpha, depth } = await picture.metadata()
  if (!hasAlpha) throw new Error(MARKS_NOTHING)
  if (depth !== 'uchar' && depth !== 'ushort') throw new Error(`channels of the kind ${depth}`)
  // As many bits as the image has: of 16, a value of 255 is nearly transparent and would be 0 in 8.
  const isDeep = depth === 'ushort'
  const channel = picture.extractChannel('alpha').toColourspace(isDeep ? 'grey16' : 'b-w')
  const { data, info } = await channel.raw({ depth }).toBuffer({ resolveWithObject: true })
  const alpha = isDeep ? new Uint16Array(data.buffer, data.byteOffset, data.length / 2) : data
  const { width, height } = info
  if (alpha.length !== width * height) throw new Error('its alpha has another size')
  return { levels: coloured(alpha, changed), width, height }
}

const MARKS_NOTHING = 'marks nothing: no pixel is fully transparent'

function coloured(alpha: Uint8Array | Uint16Array, changed: number): Uint8Array {
  const levels = new Uint8Array(alpha.length).fill(255 - changed)
  let marked = 0
  for (let at = 0; at < alpha.length; at += 1) {
    if (alpha[at] !== 0) continue
    levels[at] = changed
    marked += 1
  }
  if (marked === 0) throw new Error(MARKS_NOTHING)
  return levels
}

/** Reads the written mask again: a wrong mask would silently paint over the wrong part of an image. */
async function compare(
  made: Uint8Array,
  { levels, width, height }: Levels,
  open: OpenPicture,
): Promise<void> {
  const { space, channels, depth } = await open(made).metadata()
  const { data, info } = await open(made).toColourspace('b-w').raw().toBuffer({ resolveWithObject: true })
  const isSameKind = space === 'b-w' && channels === 1 && depth === 'uchar' && data.length === levels.length
  if (!isSameKind || info.width !== width || info.height !== height)
    throw new Error('the mask that was made of it is of another kind or size')
  for (let at = 0; at < levels.length; at += 1) {
    if (data[at] === levels[at]) continue
    throw new Error(`the mask that was made of it differs at ${at % width}, ${Math.floor(at / width)}`)
  }
}
