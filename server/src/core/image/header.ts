/** The properties in an image's first bytes. Only headers are read, in a bounded number of steps; nothing throws. */
import { big, little, startsWith } from './bytes.ts'
import { svgStart } from './svg-start.ts'

export type PictureFormat = 'png' | 'jpeg' | 'webp' | 'gif' | 'svg'

export interface PictureHeader {
  readonly format: PictureFormat
  /** In pixels, as stored. Both 0 for `svg`, which has none. */
  readonly width: number
  readonly height: number
  readonly frames: 'one' | 'several'
  /** Some of it may be transparent. */
  readonly hasAlpha: boolean
}

/** Sections before the pixels. Cameras write some dozens; a file with more is made to keep us busy. */
export const MAX_PARTS = 1024
/** Sections of a GIF, where walking over one takes many steps: it has a handful before its second frame. */
const MAX_GIF_PARTS = 32
/** Blocks of a GIF's first frame, 255 bytes each: 16 MB, more than any has. */
const MAX_GIF_BLOCKS = 65_536

/** Undefined when it is none of them, or not what its first bytes say. */
export function pictureHeader(bytes: Uint8Array): PictureHeader | undefined {
  if (startsWith(bytes, 0, '\x89PNG\r\n\x1a\n')) return pngHeader(bytes)
  if (startsWith(bytes, 0, '\xff\xd8\xff')) return jpegHeader(bytes)
  if (startsWith(bytes, 0, 'RIFF') && startsWith(bytes, 8, 'WEBP')) return webpHeader(bytes)
  if (startsWith(bytes, 0, 'GIF87a') || startsWith(bytes, 0, 'GIF89a')) return gifHeader(bytes)
  if (svgStart(bytes) !== 'svg') return undefined
  return { format: 'svg', width: 0, height: 0, frames: 'one', hasAlpha: true }
}

export function mediaTypeOf(format: PictureFormat): string {
  return format === 'svg' ? 'image/svg+xml' : `image/${format}`
}

const PNG_COLOUR_TYPES: ReadonlySet<number> = new Set([0, 2, 3, 4, 6])

function pngHeader(bytes: Uint8Array): PictureHeader | undefined {
  const first = 8
  if (big(bytes, first, 4) !== 13 || !startsWith(bytes, first + 4, 'IHDR')) return undefined
  const [width, height] = [big(bytes, first + 8, 4), big(bytes, first + 12, 4)]
  const colourType = big(bytes, first + 17, 1)
  if (!isEdge(width) || !isEdge(height) || !PNG_COLOUR_TYPES.has(colourType)) return undefined
  let hasAlpha = colourType === 4 || colourType === 6
  let frames: PictureHeader['frames'] = 'one'
  // Length, name, content, checksum.
  let chunk = first + 12 + 13
  for (let parts = 0; parts < MAX_PARTS && chunk + 12 <= bytes.length; parts += 1) {
    if (startsWith(bytes, chunk + 4, 'IDAT')) return { format: 'png', width, height, frames, hasAlpha }
    if (startsWith(bytes, chunk + 4, 'IEND')) return undefined
    if (startsWith(bytes, chunk + 4, 'acTL')) frames = 'several'
    if (startsWith(bytes, chunk + 4, 'tRNS')) hasAlpha = true
    chunk += 12 + big(bytes, chunk, 4)
  }
  return undefined
}

function jpegHeader(bytes: Uint8Array): PictureHeader | undefined {
  let position = 2
  for (let parts = 0; parts < MAX_PARTS && position + 4 <= bytes.length; parts += 1) {
    if (bytes[position] !== 0xff) return undefined
    const marker = bytes[position + 1] as number
    // Padding: markers may be preceded by any number of 0xff.
    if (marker === 0xff) {
      position += 1
      continue
    }
    const length = big(bytes, position + 2, 2)
    if (isStartOfFrame(marker)) return jpegFrame(bytes, position, length)
    // Pixels, the end, a second start, or a marker without content: none comes before the frame.
    if (marker === 0xda || marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd9) || length < 2) return undefined
    position += 2 + length
  }
  return undefined
}

export function isStartOfFrame(marker: number): boolean {
  // C4, C8 and CC are tables and an extension.
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

function jpegFrame(bytes: Uint8Array, position: number, length: number): PictureHeader | undefined {
  const [height, width] = [big(bytes, position + 5, 2), big(bytes, position + 7, 2)]
  const components = big(bytes, position + 9, 1)
  const isWhole = length === 8 + 3 * components && position + 2 + length <= bytes.length
  if (!isWhole || components === 0 || !isEdge(width) || !isEdge(height)) return undefined
  return { format: 'jpeg', width, height, frames: 'one', hasAlpha: false }
}

interface WebpFrame {
  readonly width: number
  readonly height: number
  readonly hasAlpha: boolean
}

function webpHeader(bytes: Uint8Array): PictureHeader | undefined {
  // The file must hold as much as the container says.
  if (little(bytes, 4, 4) + 8 > bytes.length) return undefined
  const first = 12
  const frame = webpFrame(bytes, first)
  if (frame !== undefined) return { format: 'webp', frames: 'one', ...frame }
  if (!startsWith(bytes, first, 'VP8X') || little(bytes, first + 4, 4) < 10) return undefined
  const flags = bytes[first + 8] as number
  const canvas = { width: little(bytes, first + 12, 3) + 1, height: little(bytes, first + 15, 3) + 1 }
  const [hasAlpha, isAnimated] = [(flags & 0x10) !== 0, (flags & 0x02) !== 0]
  let chunk = nextChunk(bytes, first)
  for (let parts = 0; parts < MAX_PARTS && chunk + 8 <= bytes.length; parts += 1) {
    if (startsWith(bytes, chunk, 'ANMF'))
      return isAnimated ? { format: 'webp', ...canvas, frames: 'several', hasAlpha } : undefined
    const inner = webpFrame(bytes, chunk)
    if (inner !== undefined) {
      const isCanvas = inner.width === canvas.width && inner.height === canvas.height
      return isCanvas && !isAnimated ? { format: 'webp', ...canvas, frames: 'one', hasAlpha } : undefined
    }
    chunk = nextChunk(bytes, chunk)
  }
  return undefined
}

/** Chunks are padded to an even length. */
function nextChunk(bytes: Uint8Array, chunk: number): number {
  const length = little(bytes, chunk + 4, 4)
  return chunk + 8 + length + (length % 2)
}

function webpFrame(bytes: Uint8Array, chunk: number): WebpFrame | undefined {
  if (startsWith(bytes, chunk, 'VP8L')) return losslessFrame(bytes, chunk + 8)
  return startsWith(bytes, chunk, 'VP8 ') ? lossyFrame(bytes, chunk + 8) : undefined
}

/** The frame at `content` of a `VP8L` chunk; reads 5 bytes. */
export function losslessFrame(bytes: Uint8Array, content: number): WebpFrame | undefined {
  const bits = little(bytes, content + 1, 4)
  if (bytes[content] !== 0x2f || !(bits < 2 ** 29)) return undefined
  const [width, height] = [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1]
  return { width, height, hasAlpha: bits >= 2 ** 28 }
}

/** The frame at `content` of a `VP8 ` chunk; reads 10 bytes. */
export function lossyFrame(bytes: Uint8Array, content: number): WebpFrame | undefined {
  const isKeyFrame = ((bytes[content] ?? 1) & 1) === 0
  const [width, height] = [little(bytes, content + 6, 2) & 0x3fff, little(bytes, content + 8, 2) & 0x3fff]
  if (!isKeyFrame || !startsWith(bytes, content + 3, '\x9d\x01\x2a')) return undefined
  return width > 0 && height > 0 ? { width, height, hasAlpha: false } : undefined
}

function gifHeader(bytes: Uint8Array): PictureHeader | undefined {
  const [width, height] = [little(bytes, 6, 2), little(bytes, 8, 2)]
  if (!isEdge(width) || !isEdge(height)) return undefined
  let position = 13 + colourTableBytes(bytes[10])
  let images = 0
  let hasAlpha = false
  for (let parts = 0; parts < MAX_GIF_PARTS && position < bytes.length; parts += 1) {
    const kind = bytes[position]
    if (kind === 0x3b) {
      return images === 1 ? { format: 'gif', width, height, frames: 'one', hasAlpha } : undefined
    } else if (kind === 0x2c) {
      images += 1
      if (images > 1) return { format: 'gif', width, height, frames: 'several', hasAlpha }
      // Its place, its own colours, the width of its codes.
      position = endOfBlocks(bytes, position + 10 + colourTableBytes(bytes[position + 9]) + 1)
    } else if (kind === 0x21) {
      // A graphic control extension says whether one of the colours is transparent.
      if (bytes[position + 1] === 0xf9) hasAlpha ||= ((bytes[position + 3] ?? 0) & 1) === 1
      position = endOfBlocks(bytes, position + 2)
    } else return undefined
  }
  return undefined
}

function colourTableBytes(flags = 0): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 0x07) + 1)
}

/** The end of the file where there are too many blocks: then the image has no valid header. */
function endOfBlocks(bytes: Uint8Array, start: number): number {
  let position = start
  for (let blocks = 0; blocks < MAX_GIF_BLOCKS; blocks += 1) {
    const length = bytes[position]
    if (length === undefined) break
    position += 1 + length
    if (length === 0) return position
  }
  return bytes.length
}

function isEdge(value: number): boolean {
  return value > 0 && value < 2 ** 31
}
