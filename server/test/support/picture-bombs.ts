/** Malicious images, and the parts to build them. Each is refused by its header alone. */
import { crc32 } from 'node:zlib'

export interface Bomb {
  readonly what: string
  /** Made when asked for: some have 64 MB. */
  readonly bytes: () => Uint8Array
  readonly words: RegExp
  /** Number of bytes after which it is refused. Undefined: only at its end. */
  readonly decidedAfterBytes: number | undefined
}

export const ascii = (text: string): Buffer => Buffer.from(text, 'latin1')

const uint16 = (value: number): number[] => [(value >> 8) & 255, value & 255]
const uint32 = (value: number): number[] => [...uint16(Math.floor(value / 65_536)), ...uint16(value % 65_536)]
const backwards = (bytes: number[]): number[] => bytes.toReversed()

export function pngChunk(name: string, content: Uint8Array = new Uint8Array(0)): Buffer {
  const checked = Buffer.concat([ascii(name), content])
  return Buffer.concat([
    Uint8Array.from(uint32(content.length)),
    checked,
    Uint8Array.from(uint32(crc32(checked))),
  ])
}

export interface PngHeader {
  readonly width: number
  readonly height: number
  readonly depth?: number
  readonly colourType?: number
  readonly method?: readonly [compression: number, filter: number, interlace: number]
}

export const PNG_START = ascii('\x89PNG\r\n\x1a\n')

/** The signature and the first chunk: 33 bytes. */
export function pngStart({
  width,
  height,
  depth = 8,
  colourType = 2,
  method = [0, 0, 0],
}: PngHeader): Buffer {
  const content = [...uint32(width), ...uint32(height), depth, colourType, ...method]
  return Buffer.concat([PNG_START, pngChunk('IHDR', Uint8Array.from(content))])
}

const SMALL = { width: 8, height: 8 }

/** Pixels that are never decoded. */
export const PNG_REST = Buffer.concat([pngChunk('IDAT', new Uint8Array(9)), pngChunk('IEND')])

export function jpegSegment(marker: number, content: Uint8Array): Buffer {
  return Buffer.concat([Uint8Array.of(0xff, marker, ...uint16(content.length + 2)), content])
}

export const JPEG_START = Uint8Array.of(0xff, 0xd8)
/** The start of the pixels, some of them, the end. */
export const JPEG_REST = Buffer.concat([
  jpegSegment(0xda, Uint8Array.of(1, 1, 0, 0, 63, 0)),
  Uint8Array.of(1, 2, 3, 0xff, 0xd9),
])

export function jpegFrame(width: number, height: number, marker = 0xc0, precision = 8): Buffer {
  return jpegSegment(marker, Uint8Array.of(precision, ...uint16(height), ...uint16(width), 1, 1, 17, 0))
}

export function jpeg(...segments: readonly Uint8Array[]): Buffer {
  return Buffer.concat([JPEG_START, ...segments, JPEG_REST])
}

export function webpChunk(name: string, content: Uint8Array): Buffer {
  const fill = new Uint8Array(content.length % 2)
  return Buffer.concat([ascii(name), Uint8Array.from(backwards(uint32(content.length))), content, fill])
}

export function webp(...chunks: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat([ascii('WEBP'), ...chunks])
  return Buffer.concat([ascii('RIFF'), Uint8Array.from(backwards(uint32(content.length))), content])
}

export function webpCanvas(width: number, height: number, flags = 0): Buffer {
  const edges = [width - 1, height - 1].flatMap((edge) => backwards(uint32(edge)).slice(0, 3))
  return webpChunk('VP8X', Uint8Array.of(flags, 0, 0, 0, ...edges))
}

export function webpLossy(width: number, height: number): Buffer {
  const size = [width, height].flatMap((edge) => backwards(uint16(edge)))
  return webpChunk('VP8 ', Uint8Array.of(0, 0, 0, 0x9d, 1, 0x2a, ...size, 0, 0))
}

export function webpLossless(width: number, height: number, hasAlpha = false): Buffer {
  const bits = width - 1 + (height - 1) * 2 ** 14 + (hasAlpha ? 2 ** 28 : 0)
  return webpChunk('VP8L', Uint8Array.of(0x2f, ...backwards(uint32(bits)), 0))
}

/** `start`, then `part` repeatedly up to about `length` bytes. */
export function repeated(start: Uint8Array, part: Uint8Array, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  bytes.set(start)
  return bytes.fill(part, start.length)
}

const MANY_FRAMES = Buffer.concat(
  Array.from({ length: 10_000 }, (_, frame) =>
    Buffer.concat([
      pngChunk('fcTL', new Uint8Array(26)),
      pngChunk(frame === 0 ? 'IDAT' : 'fdAT', new Uint8Array(9)),
    ]),
  ),
)
const MEGABYTE = 1024 * 1024
/** Padding of metadata, the longest there is. */
const FULL_SEGMENT = jpegSegment(0xe2, new Uint8Array(65_533))
const EMPTY_SEGMENT = jpegSegment(0xfe, new Uint8Array(0))
const ANIMATED = /^is animated; only images with one frame are accepted$/
const PARTS = /^has more than 1024 parts before its pixels$/
const BYTES = /^has more than 16 MB before its pixels$/
const NONE = /^is not a PNG, JPEG or WebP image$/

export const BOMBS: readonly Bomb[] = [
  {
    what: 'a PNG of 16000 times 16000',
    bytes: () => Buffer.concat([pngStart({ width: 16_000, height: 16_000 }), PNG_REST]),
    words: /^is 16000x16000 pixels, more than the allowed 50 million$/,
    decidedAfterBytes: 24,
  },
  {
    what: 'a PNG of 60000 times 1',
    bytes: () => Buffer.concat([pngStart({ width: 60_000, height: 1 }), PNG_REST]),
    words: /^is 60000x1 pixels; the longer edge may have at most 16384$/,
    decidedAfterBytes: 24,
  },
  {
    what: 'a PNG as large as a header can say',
    bytes: () => Buffer.concat([pngStart({ width: 2 ** 32 - 1, height: 2 ** 32 - 1 }), PNG_REST]),
    words: /^is 4294967295x4294967295 pixels/,
    decidedAfterBytes: 24,
  },
  {
    what: 'a PNG of 10,000 frames',
    bytes: () => Buffer.concat([pngStart(SMALL), pngChunk('acTL', new Uint8Array(8)), MANY_FRAMES]),
    words: ANIMATED,
    decidedAfterBytes: 41,
  },
  {
    what: 'a PNG of 10,000 frames that does not say so',
    bytes: () => Buffer.concat([pngStart(SMALL), MANY_FRAMES]),
    words: ANIMATED,
    decidedAfterBytes: 41,
  },
  {
    what: 'a PNG of a million chunks',
    bytes: () => repeated(pngStart(SMALL), pngChunk('tEXt'), 33 + 12_000_000),
    words: PARTS,
    // The chunk after the last allowed one is not even read.
    decidedAfterBytes: 33 + 12 * 1024,
  },
  {
    what: 'a PNG of a million chunks of pixels without one',
    bytes: () => repeated(pngStart(SMALL), pngChunk('IDAT'), 33 + 12_000_000),
    words: PARTS,
    decidedAfterBytes: 33 + 12 * 1024,
  },
  {
    what: 'a PNG with a chunk of 2 GB before its pixels',
    bytes: () => Buffer.concat([pngStart(SMALL), Uint8Array.of(0x7f, 255, 255, 255), ascii('zTXt')]),
    words: BYTES,
    decidedAfterBytes: 41,
  },
  {
    what: 'a JPEG of 65535 times 65535',
    bytes: () => jpeg(jpegFrame(65_535, 65_535)),
    words: /^is 65535x65535 pixels/,
    decidedAfterBytes: 12,
  },
  {
    what: 'a JPEG of 64 MB of long markers alone',
    bytes: () => repeated(JPEG_START, FULL_SEGMENT, 64 * MEGABYTE),
    words: BYTES,
    // The length of the segment that would reach beyond 16 MB.
    decidedAfterBytes: 2 + 65_537 * 255 + 4,
  },
  {
    what: 'a JPEG of 64 MB of empty markers alone',
    bytes: () => repeated(JPEG_START, EMPTY_SEGMENT, 64 * MEGABYTE),
    words: PARTS,
    decidedAfterBytes: 2 + 4 * 1024 + 1,
  },
  {
    what: 'a JPEG of 64 MB of filling alone',
    bytes: () => repeated(JPEG_START, Uint8Array.of(0xff), 64 * MEGABYTE),
    words: PARTS,
    decidedAfterBytes: 3 + 1024,
  },
  {
    what: 'a JPEG of 64 MB of markers behind its frame',
    bytes: () => repeated(Buffer.concat([JPEG_START, jpegFrame(8, 8)]), FULL_SEGMENT, 64 * MEGABYTE),
    words: BYTES,
    decidedAfterBytes: 2 + 13 + 65_537 * 255 + 4,
  },
  {
    what: 'a WebP of 16384 times 16384',
    bytes: () => webp(webpLossless(16_384, 16_384)),
    words: /^is 16384x16384 pixels, more than the allowed 50 million$/,
    decidedAfterBytes: 25,
  },
  {
    what: 'a WebP with a canvas as large as a header can say',
    bytes: () => webp(webpCanvas(2 ** 24, 2 ** 24), webpLossy(8, 8)),
    words: /^is 16777216x16777216 pixels/,
    decidedAfterBytes: 30,
  },
  {
    what: 'a WebP that moves',
    bytes: () => webp(webpCanvas(8, 8, 2), webpChunk('ANIM', new Uint8Array(6))),
    words: ANIMATED,
    decidedAfterBytes: 30,
  },
  {
    what: 'a WebP that moves without saying so',
    bytes: () => webp(webpCanvas(8, 8), webpChunk('ANIM', new Uint8Array(6))),
    words: ANIMATED,
    decidedAfterBytes: 38,
  },
  {
    what: 'a WebP of frames that move alone',
    bytes: () => webp(webpCanvas(8, 8), webpChunk('ANMF', new Uint8Array(24))),
    words: ANIMATED,
    decidedAfterBytes: 38,
  },
  {
    what: 'a WebP of a million chunks',
    bytes: () => {
      const bytes = repeated(webp(webpCanvas(8, 8)), webpChunk('JUNK', new Uint8Array(0)), 30 + 8_000_000)
      bytes.writeUInt32LE(bytes.length - 8, 4)
      return bytes
    },
    words: PARTS,
    decidedAfterBytes: 30 + 8 * 1023,
  },
  {
    what: 'a GIF that is a script as well',
    bytes: () => ascii('GIF89a=1;alert(1)//'.padEnd(200)),
    words: /^is a GIF; only PNG, JPEG and WebP images are accepted$/,
    decidedAfterBytes: 4,
  },
  { what: 'a PDF', bytes: () => ascii('%PDF-1.7\n%…'), words: /^is a PDF/, decidedAfterBytes: 5 },
  {
    what: 'a page with a picture behind it',
    bytes: () => Buffer.concat([ascii('<!DOCTYPE html><script>'), pngStart(SMALL), PNG_REST]),
    words: NONE,
    decidedAfterBytes: 18,
  },
  {
    what: 'a ZIP with a picture behind it',
    bytes: () => Buffer.concat([ascii('PK\x03\x04'), pngStart(SMALL), PNG_REST]),
    words: NONE,
    decidedAfterBytes: 5,
  },
  {
    what: 'an SVG that is millions of nested parts',
    bytes: () => repeated(ascii('<svg xmlns="x">'), ascii('<g>'), 8 * MEGABYTE),
    words: /^is an SVG/,
    decidedAfterBytes: 5,
  },
  {
    what: 'an SVG behind a byte order mark',
    bytes: () => ascii('\xef\xbb\xbf<svg><script>alert(1)</script></svg>'),
    words: /^is an SVG/,
    decidedAfterBytes: 8,
  },
  {
    what: '8 MB of blanks',
    bytes: () => repeated(ascii(''), ascii(' '), 8 * MEGABYTE),
    words: NONE,
    decidedAfterBytes: 1024,
  },
  {
    what: '8 MB of declarations',
    bytes: () => repeated(ascii(''), ascii('<??>'), 8 * MEGABYTE),
    words: NONE,
    decidedAfterBytes: 1024,
  },
  {
    what: 'a PNG whose header says less than it was made with',
    bytes: () => {
      const bytes = Buffer.concat([pngStart({ width: 16_000, height: 16_000 }), PNG_REST])
      bytes.writeUInt32BE(8, 16)
      bytes.writeUInt32BE(8, 20)
      return bytes
    },
    words: /^is a PNG whose header was changed: its checksum is wrong$/,
    decidedAfterBytes: 33,
  },
  {
    what: 'a WebP whose canvas says less than its frame has',
    bytes: () => webp(webpCanvas(8, 8), webpLossy(4000, 4000)),
    words: /^is a WebP of 8x8 pixels with a frame of 4000x4000$/,
    decidedAfterBytes: 48,
  },
  {
    what: 'a WebP whose frame has more than its canvas may have',
    bytes: () => webp(webpCanvas(8, 8), webpLossy(16_000, 16_000)),
    words: /^is 16000x16000 pixels/,
    decidedAfterBytes: 48,
  },
  {
    what: 'a WebP that says it has 4 GB',
    bytes: () => {
      const bytes = webp(webpLossy(8, 8))
      bytes.writeUInt32LE(2 ** 32 - 1, 4)
      return bytes
    },
    words: /^is shorter than its header says$/,
    decidedAfterBytes: undefined,
  },
]
