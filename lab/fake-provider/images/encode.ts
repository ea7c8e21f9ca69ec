import { createCipheriv } from 'node:crypto'
import { crc32 } from 'node:zlib'

export type Format = 'png' | 'jpeg' | 'webp'

/** Quality is 0 to 100, for jpeg and webp. A note beside the pixels tells equal pictures apart. */
export async function encoded(
  pixels: Buffer,
  {
    width,
    height,
    format,
    quality,
    note,
    lossless = false,
  }: {
    width: number
    height: number
    format: Format
    quality: number
    note?: string
    lossless?: boolean
  },
): Promise<Buffer> {
  // Loaded on first need: those who ask for vectors alone do not wait for it.
  const { default: sharp } = await import('sharp')
  const picture = sharp(pixels, { raw: { width, height, channels: 4 } })
  if (note !== undefined) picture.withExif({ IFD0: { ImageDescription: note } })
  const coded = Math.max(1, quality)
  // Level 2 is fast, and such pictures hardly get smaller beyond it.
  if (format === 'png') return await picture.png({ compressionLevel: 2 }).toBuffer()
  if (format === 'webp') return await picture.webp({ quality: coded, effort: 0, lossless }).toBuffer()
  return await picture.flatten({ background: 'white' }).jpeg({ quality: coded }).toBuffer()
}

/** The same picture with at least `bytes` bytes: the rest is noise in a place that decoders skip. */
export function filled(picture: Buffer, format: Format, bytes: number): Buffer {
  const missing = bytes - picture.length
  if (missing <= 0) return picture
  if (format === 'png') return filledPng(picture, missing)
  return format === 'jpeg' ? filledJpeg(picture, missing) : filledWebp(picture, missing)
}

/** The same picture with a C2PA manifest in the place that its format has for one. It has no signature. */
export function withManifest(picture: Buffer, format: Format): Buffer {
  const type = Buffer.from('6332706100110010800000aa00389b71', 'hex')
  const description = box('jumd', Buffer.concat([type, Buffer.from('\x03c2pa\0')]))
  const manifest = box('jumb', Buffer.concat([description, box('free', noise(2000))]))
  if (format === 'png') {
    const body = Buffer.concat([Buffer.from('caBX'), manifest])
    const chunk = Buffer.concat([uint32(manifest.length), body, uint32(crc32(body))])
    // Behind the first chunk, which always takes 25 bytes.
    return Buffer.concat([picture.subarray(0, 33), chunk, picture.subarray(33)])
  }
  if (format === 'webp') return withWebpChunk(picture, 'C2PA', manifest)
  const content = Buffer.concat([Buffer.from('JP\x00\x01\x00\x00\x00\x01'), manifest])
  const head = Buffer.from([0xff, 0xeb, 0, 0])
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([picture.subarray(0, 2), head, content, picture.subarray(2)])
}

function box(type: string, content: Buffer): Buffer {
  return Buffer.concat([uint32(8 + content.length), Buffer.from(type), content])
}

/** The same noise every time; incompressible. */
function noise(bytes: number): Buffer {
  return createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(bytes))
}

/** A private ancillary chunk before the end chunk, which always takes the last twelve bytes. */
function filledPng(picture: Buffer, missing: number): Buffer {
  const body = Buffer.concat([Buffer.from('fiLl'), noise(missing)])
  const end = picture.length - 12
  return Buffer.concat([
    picture.subarray(0, end),
    uint32(missing),
    body,
    uint32(crc32(body)),
    picture.subarray(end),
  ])
}

/** Comment segments after the start mark; one holds 65,533 bytes at most. */
function filledJpeg(picture: Buffer, missing: number): Buffer {
  const segments: Buffer[] = []
  for (let left = missing; left > 0; left -= 65_533) {
    const comment = noise(Math.min(left, 65_533))
    const head = Buffer.from([0xff, 0xfe, 0, 0])
    head.writeUInt16BE(comment.length + 2, 2)
    segments.push(head, comment)
  }
  return Buffer.concat([picture.subarray(0, 2), ...segments, picture.subarray(2)])
}

function filledWebp(picture: Buffer, missing: number): Buffer {
  return withWebpChunk(picture, 'FILL', noise(missing + (missing % 2)))
}

/** A further chunk at the end, which only the extended form of a file may have. */
function withWebpChunk(picture: Buffer, name: string, body: Buffer): Buffer {
  const chunks = Buffer.concat([
    ...extendedHead(picture),
    picture.subarray(12),
    Buffer.from(name),
    uint32LittleEndian(body.length),
    body,
    Buffer.alloc(body.length % 2),
  ])
  return Buffer.concat([
    Buffer.from('RIFF'),
    uint32LittleEndian(chunks.length + 4),
    Buffer.from('WEBP'),
    chunks,
  ])
}

/** `VP8X` with the size and the mark for transparency, unless the file begins with one. */
function extendedHead(picture: Buffer): Buffer[] {
  const kind = picture.toString('latin1', 12, 16)
  if (kind === 'VP8X') return []
  const body = Buffer.alloc(10)
  const { width, height, alpha } = kind === 'VP8L' ? losslessHead(picture) : lossyHead(picture)
  body[0] = alpha ? 0b1_0000 : 0
  body.writeUIntLE(width - 1, 4, 3)
  body.writeUIntLE(height - 1, 7, 3)
  return [Buffer.from('VP8X'), uint32LittleEndian(body.length), body]
}

function losslessHead(picture: Buffer): { width: number; height: number; alpha: boolean } {
  const bits = picture.readUInt32LE(21)
  return {
    width: (bits & 0x3fff) + 1,
    height: ((bits >>> 14) & 0x3fff) + 1,
    alpha: ((bits >>> 28) & 1) === 1,
  }
}

function lossyHead(picture: Buffer): { width: number; height: number; alpha: boolean } {
  return { width: picture.readUInt16LE(26) & 0x3fff, height: picture.readUInt16LE(28) & 0x3fff, alpha: false }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function uint32LittleEndian(value: number): Buffer {
  return uint32(value).reverse()
}
