/** The header of a PNG: its first chunk, the names of those before the pixels, and its end. */
import { big, startsWith } from './bytes.ts'
import { exifTurn } from './exif-scan.ts'
import { MAX_PARTS } from './header.ts'
import { MAX_BYTES_BEFORE_PIXELS, sizeWords, WORDS } from './scan.ts'
import type { PictureLimits, Scan, Source } from './scan.ts'

/** The bits of a sample that go with each colour type. */
const BIT_DEPTHS: ReadonlyMap<number, readonly number[]> = new Map([
  [0, [1, 2, 4, 8, 16]],
  [2, [8, 16]],
  [3, [1, 2, 4, 8]],
  [4, [8, 16]],
  [6, [8, 16]],
])

/** The name and the checksum of the last chunk, which is empty. */
const END = Uint8Array.of(0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82)

export function* pngScan(source: Source, limits: PictureLimits): Scan {
  yield* source.passTo(8)
  const first = yield* firstChunk(source, limits)
  if (typeof first === 'string') return first
  let { hasAlpha } = first
  let isTurned: boolean | undefined
  for (let parts = 0; parts < MAX_PARTS; parts += 1) {
    const head = yield* source.look(8)
    const [length, name] = [big(head, 0, 4), nameOf(head)]
    if (length >= 2 ** 31 || name === undefined || name === 'IHDR') return WORDS.broken
    if (name === 'acTL' || name === 'fcTL' || name === 'fdAT') return WORDS.animated
    if (name === 'IEND') return WORDS.noPixels
    if (name === 'IDAT' && length > 0) {
      yield* source.look(1)
      source.cut = WORDS.cutShort
      yield* source.find(END)
      const { width, height } = first
      return { format: 'png', width, height, hasAlpha, isTurned: isTurned ?? false }
    }
    const end = source.position + length
    if (end > MAX_BYTES_BEFORE_PIXELS) return WORDS.tooMuchBefore
    if (name === 'tRNS') hasAlpha = true
    // Allowed after the pixels as well, but the file is accepted before that is known.
    if (name === 'eXIf') isTurned ??= yield* exifTurn(source, end)
    yield* source.passTo(end + 4)
  }
  return WORDS.tooManyParts
}

interface FirstChunk {
  readonly width: number
  readonly height: number
  readonly hasAlpha: boolean
}

function* firstChunk(source: Source, limits: PictureLimits): Scan<FirstChunk | string> {
  const head = yield* source.look(8)
  if (!startsWith(head, 0, '\0\0\0\x0dIHDR')) return 'is a PNG that does not begin with its header'
  let checksum = crc32(0, head.subarray(4))
  const size = yield* source.look(8)
  const [width, height] = [big(size, 0, 4), big(size, 4, 4)]
  const refused = sizeWords(width, height, limits)
  if (refused !== undefined) return refused
  checksum = crc32(checksum, size)
  const kind = yield* source.look(5)
  const [depth = 0, colourType = 0, compression = 0, filter = 0, interlace = 0] = kind
  if (!BIT_DEPTHS.get(colourType)?.includes(depth))
    return `is a PNG of colour type ${colourType} with ${depth} bits, which the PNG standard does not have`
  if (compression !== 0 || filter !== 0 || interlace > 1)
    return 'is a PNG of a kind that the PNG standard does not have'
  checksum = crc32(checksum, kind)
  const stored = big(yield* source.look(4), 0, 4)
  if (checksum !== stored) return 'is a PNG whose header was changed: its checksum is wrong'
  return { width, height, hasAlpha: colourType === 4 || colourType === 6 }
}

/** Four letters. */
function nameOf(head: Uint8Array): string | undefined {
  const name = String.fromCharCode(...head.subarray(4, 8))
  return /^[A-Za-z]{4}$/.test(name) ? name : undefined
}

/** Bit by bit: for the 17 bytes of one header a table would cost more. */
function crc32(before: number, bytes: Uint8Array): number {
  let crc = ~before
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xed_b8_83_20 : 0)
  }
  return ~crc >>> 0
}
