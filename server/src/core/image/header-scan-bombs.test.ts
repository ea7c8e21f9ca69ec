import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as made from '#test/support/picture-bombs.ts'
import { HeaderScan, type PictureLimits } from './header-scan.ts'
import { jpegScan } from './jpeg-scan.ts'
import { pngScan } from './png-scan.ts'
import { MAX_LOOK_BYTES, type Scan, Source } from './scan.ts'
import { webpScan } from './webp-scan.ts'

const { ascii, BOMBS } = made
const LIMITS: PictureLimits = { maxPicturePixels: 50_000_000, maxPictureEdge: 16_384 }

function outcome(bytes: Uint8Array): unknown {
  const scan = new HeaderScan(LIMITS)
  const words = scan.push(bytes)
  const result = scan.end()
  if (words !== undefined) assert.equal(result, words)
  return result
}

for (const { what, bytes: make, words, decidedAfterBytes } of BOMBS) {
  test(`${what} is refused as early as it can be known`, () => {
    const bytes = make()
    const scan = new HeaderScan(LIMITS)
    if (decidedAfterBytes === undefined) {
      assert.equal(scan.push(bytes), undefined)
    } else {
      assert.equal(scan.push(bytes.subarray(0, decidedAfterBytes - 1)), undefined)
      const said = scan.push(bytes.subarray(decidedAfterBytes - 1, decidedAfterBytes))
      assert.match(said ?? 'taken', words)
      // Later bytes change nothing.
      assert.equal(scan.push(ascii('\x89PNG')), said)
      assert.equal(scan.push(new Uint8Array(0)), said)
      assert.equal(scan.end(), said)
    }
    assert.match(scan.end() as string, words)
    assert.match(outcome(bytes) as string, words)
  })
}

test('no bomb takes 50 ms, in chunks as they come from a socket, to its last byte', () => {
  const chunkBytes = 65_536
  for (const { what, bytes: make, words } of BOMBS) {
    const bytes = make()
    const before = process.cpuUsage()
    const scan = new HeaderScan(LIMITS)
    for (let offset = 0; offset < bytes.length; offset += chunkBytes)
      scan.push(bytes.subarray(offset, offset + chunkBytes))
    const result = scan.end()
    const { user, system } = process.cpuUsage(before)
    assert.match(result as string, words)
    assert.ok(user + system < 50_000, `${what} took ${(user + system) / 1000} ms`)
  }
})

/** Serves every wish out of `bytes`, and counts. */
function wishesOf(
  scan: Scan<unknown>,
  bytes: Uint8Array,
): { readonly wishes: number; readonly looked: number } {
  let [position, wishes, looked] = [0, 0, 0]
  let next = scan.next()
  while (next.done !== true && next.value.kind !== 'find') {
    const { kind, bytes: wanted } = next.value
    if (position + wanted > bytes.length) break
    assert.ok(Number.isInteger(wanted) && wanted >= 1)
    assert.ok(kind === 'pass' || wanted <= MAX_LOOK_BYTES)
    wishes += 1
    looked += kind === 'look' ? wanted : 0
    const part = bytes.subarray(position, kind === 'look' ? position + wanted : position)
    position += wanted
    next = scan.next(part)
  }
  return { wishes, looked }
}

test('no picture, however long, is looked at in more than some thousand places', () => {
  const entries = made.repeated(
    ascii('MM\0*\0\0\0\x08\xff\xff'),
    Uint8Array.of(0, 1, 0, 3, 0, 0, 0, 1, 0, 1, 0, 0),
    60_000,
  )
  const bytes = [
    ...BOMBS.map((bomb) => bomb.bytes()),
    made.repeated(
      made.JPEG_START,
      made.jpegSegment(0xe1, Buffer.concat([ascii('Exif\0\0'), entries])),
      64 * 1024 ** 2,
    ),
    made.repeated(made.pngStart({ width: 8, height: 8 }), made.pngChunk('eXIf', entries), 17 * 1024 ** 2),
    made.repeated(made.pngStart({ width: 8, height: 8 }), made.pngChunk('eXIf'), 17 * 1024 ** 2),
  ]
  for (const scan of [pngScan, jpegScan, webpScan])
    for (const file of bytes) {
      const { wishes, looked } = wishesOf(scan(new Source(), LIMITS), file)
      assert.ok(wishes < 6000 && looked < 20_000, `${wishes} wishes, ${looked} bytes`)
    }
})

const small = made.pngStart({ width: 8, height: 8 })
const png = (...chunks: readonly Uint8Array[]) => Buffer.concat([small, ...chunks, made.PNG_REST])
const ofKind = (header: Partial<made.PngHeader>) =>
  Buffer.concat([made.pngStart({ width: 8, height: 8, ...header }), made.PNG_REST])
const sized = (bytes: Buffer, length: number) => {
  bytes.writeUInt32LE(length, 4)
  return bytes
}
const ftyp = (brand: string) => ascii(`\0\0\0\x20ftyp${brand}\0\0\0\0mif1miaf`)
const exif = (orientation: number, from = 0) => {
  const head = [0x4d, 0x4d, 0, 0x2a, 0, 0, 0, 8 + from, ...Array.from({ length: from }, () => 0xee), 0, 1]
  return Uint8Array.of(...head, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0)
}
const exifSegment = (tiff: Uint8Array) => made.jpegSegment(0xe1, Buffer.concat([ascii('Exif\0\0'), tiff]))
const frame = made.jpegFrame(8, 8)
const fiveComponents = made.jpegSegment(
  0xc0,
  Uint8Array.of(8, 0, 8, 0, 8, 5, ...Array.from({ length: 15 }, () => 1)),
)
const webpShort = made.webpChunk('VP8 ', made.webpLossy(8, 8).subarray(8, 17))
const edited = (bytes: Uint8Array, offset: number, ...values: number[]) => {
  const changed = Uint8Array.from(bytes)
  changed.set(values, offset)
  return changed
}

const BROKEN = 'is broken before its pixels begin'
const CUT = 'ends before its pixels begin'
const NO_PIXELS = 'has a header but no pixels after it'
const NONE = 'is not a PNG, JPEG or WebP image'
const ZERO = 'both sides must be at least 1'
const LATE = 'is a PNG that does not begin with its header'
const UNUSUAL = 'is a JPEG of an unusual kind; only baseline and progressive JPEGs are accepted'
const NO_KIND = 'is a PNG of a kind that the PNG standard does not have'
const LONGER = 'is a WebP with a part that is longer than the file'
const not = (what: string) => `is ${what}; only PNG, JPEG and WebP images are accepted`

for (const [what, bytes, words] of [
  ['an empty file', new Uint8Array(0), 'is empty'],
  ['one letter', ascii('x'), NONE],
  ['a text', ascii('{"error":"no"}'), NONE],
  ['the start of a PNG signature', made.PNG_START.subarray(0, 5), CUT],
  ['a PNG signature alone', made.PNG_START, CUT],
  ['the start of a WebP', ascii('RIFF\x10\0\0\0WEB'), CUT],
  ['a sound', ascii('RIFF\x10\0\0\0WAVEfmt '), NONE],
  ['a GIF', ascii('GIF87a\x01\0\x01\0'), not('a GIF')],
  ['a TIFF', ascii('II*\0\x08\0\0\0'), not('a TIFF')],
  ['a TIFF of the other byte order', ascii('MM\0*\0\0\0\x08'), not('a TIFF')],
  ['a BMP', ascii('BM\x46\0\0\0\0\0\0\0\x36'), not('a BMP')],
  ['a text that begins like a BMP', ascii('BMW builds cars'), NONE],
  ['an HEIC', ftyp('heic'), not('an HEIC or AVIF')],
  ['an AVIF', ftyp('avif'), not('an HEIC or AVIF')],
  ['a film', ftyp('isom'), NONE],
  ['an SVG', ascii('\xef\xbb\xbf<?xml version="1.0"?>\n<!-- x -->\n<svg>'), not('an SVG')],
  ['a declaration alone', ascii('<?xml version="1.0"?>'), NONE],
  ['a PNG with another first chunk', Buffer.concat([made.PNG_START, made.pngChunk('CgBI')]), LATE],
  ['a PNG with a longer first chunk', edited(png(), 11, 14), LATE],
  ['a PNG of no width', ofKind({ width: 0 }), `is 0x8 pixels; ${ZERO}`],
  ['a PNG of no height', ofKind({ height: 0 }), `is 8x0 pixels; ${ZERO}`],
  ['a PNG with two headers', png(small.subarray(8)), BROKEN],
  ['a PNG without pixels', Buffer.concat([small, made.pngChunk('IEND')]), NO_PIXELS],
  [
    'a PNG with empty pixels',
    Buffer.concat([small, made.pngChunk('IDAT'), made.pngChunk('IEND')]),
    NO_PIXELS,
  ],
  ['a PNG with a name that is none', png(made.pngChunk('\0\0\0\0')), BROKEN],
  ['a PNG with pixels of a second frame alone', png(made.pngChunk('fdAT')), /^is animated/],
  ['a PNG with a negative length', edited(png(), 33, 0x80), BROKEN],
  ['a PNG of another compression', ofKind({ method: [1, 0, 0] }), NO_KIND],
  ['a PNG of another filter', ofKind({ method: [0, 1, 0] }), NO_KIND],
  ['a PNG of another interlacing', ofKind({ method: [0, 0, 2] }), NO_KIND],
  ['a JPEG that ends at once', Uint8Array.of(0xff, 0xd8, 0xff, 0xd9), NO_PIXELS],
  ['a JPEG with a second start', made.jpeg(made.JPEG_START, frame), BROKEN],
  ['a JPEG with bytes between segments', made.jpeg(frame, ascii('x')), BROKEN],
  ['a JPEG with a segment of no length', made.jpeg(Uint8Array.of(0xff, 0xe0, 0, 1), frame), BROKEN],
  [
    'a JPEG without a frame',
    made.jpeg(),
    'is a JPEG whose pixels come before the frame that says how many there are',
  ],
  ['a JPEG of two frames', made.jpeg(frame, frame), 'is a JPEG of several frames'],
  [
    'a JPEG whose height comes later',
    made.jpeg(made.jpegFrame(8, 0)),
    /gives its height only after its pixels/,
  ],
  ['a JPEG of no width', made.jpeg(made.jpegFrame(0, 8)), `is 0x8 pixels; ${ZERO}`],
  ['a JPEG of 12 bits', made.jpeg(made.jpegFrame(8, 8, 0xc1, 12)), /12 bits per sample; only 8/],
  ['a JPEG whose frame is too short', made.jpeg(made.jpegSegment(0xc0, Uint8Array.of(8, 0, 8, 0))), BROKEN],
  ['a JPEG with fewer components than it says', edited(made.jpeg(frame), 11, 3), BROKEN],
  ['a JPEG of five components', made.jpeg(fiveComponents), BROKEN],
  ['a JPEG whose frame ends in its first byte', made.jpeg(made.jpegSegment(0xc0, Uint8Array.of(8))), BROKEN],
  ['a JPEG of no components', edited(made.jpeg(frame), 11, 0), BROKEN],
  ['a lossless JPEG', made.jpeg(made.jpegFrame(8, 8, 0xc3)), UNUSUAL],
  ['an arithmetic JPEG', made.jpeg(made.jpegFrame(8, 8, 0xc9)), UNUSUAL],
  ['a hierarchical JPEG', made.jpeg(made.jpegFrame(8, 8, 0xde), frame), UNUSUAL],
  ['a WebP that begins with something else', made.webp(made.webpChunk('JUNK', ascii('x'))), BROKEN],
  ['a WebP that begins with its profile', made.webp(made.webpChunk('ICCP', ascii('x'))), BROKEN],
  ['a WebP of two canvases', made.webp(made.webpCanvas(8, 8), made.webpCanvas(8, 8)), BROKEN],
  ['a WebP with a short canvas', made.webp(made.webpChunk('VP8X', new Uint8Array(8))), BROKEN],
  ['a WebP without pixels', made.webp(made.webpCanvas(8, 8)), NO_PIXELS],
  ['a WebP of nothing', made.webp(), BROKEN],
  ['a WebP with a short frame', made.webp(made.webpChunk('VP8 ', new Uint8Array(9))), BROKEN],
  ['a WebP whose frame ends in its size', made.webp(webpShort), BROKEN],
  ['a WebP with a frame that is none', edited(made.webp(made.webpLossy(8, 8)), 23, 0), BROKEN],
  ['a WebP whose frame needs another', edited(made.webp(made.webpLossy(8, 8)), 20, 1), BROKEN],
  ['a WebP of no width', made.webp(made.webpLossy(0, 8)), BROKEN],
  ['a lossless WebP of a later version', edited(made.webp(made.webpLossless(8, 8)), 24, 0xff), BROKEN],
  ['a WebP whose frame is longer than the container', sized(made.webp(made.webpLossy(8, 8)), 20), LONGER],
  [
    'a WebP that is shorter than it says',
    made.webp(made.webpLossy(8, 8)).subarray(0, -1),
    /^is shorter than/,
  ],
  [
    'a WebP with 17 MB before its pixels',
    made.webp(made.webpCanvas(8, 8), made.webpChunk('ICCP', new Uint8Array(17 * 1024 ** 2))),
    /^has more than 16 MB before/,
  ],
] as const) {
  test(`${what} is refused with words that say why`, () => {
    const said = outcome(bytes)
    if (typeof words === 'string') assert.equal(said, words)
    else assert.match(said as string, words)
  })
}

test('a PNG has one of the fifteen pairs of colour type and depth that there are', () => {
  const taken: string[] = []
  for (let colourType = 0; colourType < 256; colourType += 1)
    for (let depth = 0; depth <= 32; depth += 1) {
      const result = outcome(ofKind({ colourType, depth }))
      if (typeof result !== 'string') taken.push(`${colourType}:${depth}`)
      else
        assert.equal(
          result,
          `is a PNG of colour type ${colourType} with ${depth} bits, which the PNG standard does not have`,
        )
    }
  assert.equal(taken.join(' '), '0:1 0:2 0:4 0:8 0:16 2:8 2:16 3:1 3:2 3:4 3:8 4:8 4:16 6:8 6:16')
})

const zip = ascii('PK\x05\x06'.padEnd(22, '\0'))
const plain = { width: 8, height: 8, hasAlpha: false, isTurned: false }

const exifJpeg = (tiff: Uint8Array) => made.jpeg(exifSegment(tiff), frame)
type Taken = readonly [what: string, bytes: Uint8Array, header?: Partial<typeof plain>]
const taken: Readonly<Record<string, readonly Taken[]>> = {
  png: [
    ['with a ZIP behind it', Buffer.concat([png(), zip])],
    ['with an animation behind its pixels', png(made.PNG_REST, made.pngChunk('acTL'))],
    ['whose first pixels are empty', png(made.pngChunk('IDAT'))],
    ['with a transparent colour', png(made.pngChunk('tRNS', new Uint8Array(6))), { hasAlpha: true }],
    ['with EXIF', png(made.pngChunk('eXIf', exif(8))), { isTurned: true }],
  ],
  jpeg: [
    ['with a page behind it', Buffer.concat([made.jpeg(frame), ascii('<html>')])],
    ['with filling', made.jpeg(Uint8Array.of(0xff, 0xff, 0xff), frame)],
    ['with EXIF', exifJpeg(exif(5)), { isTurned: true }],
    ['with EXIF behind its frame', made.jpeg(frame, exifSegment(exif(7))), { isTurned: true }],
    ['with EXIF twice', made.jpeg(exifSegment(exif(1)), exifSegment(exif(6)), frame)],
    ['with EXIF further back', exifJpeg(exif(6, 50)), { isTurned: true }],
    ['with EXIF that is cut', exifJpeg(exif(6).subarray(0, 21))],
    ['with EXIF that points back', exifJpeg(edited(exif(6), 7, 4))],
    ['with EXIF that points beyond it', exifJpeg(edited(exif(6), 4, 255))],
    ['with EXIF of no byte order', exifJpeg(edited(exif(6), 0, 0))],
    ['with EXIF of another type', exifJpeg(edited(exif(6), 13, 4))],
    ['with two orientations in one', exifJpeg(edited(exif(6), 17, 2))],
    ['with EXIF that ends at once', exifJpeg(ascii('MM\0*'))],
    ['with a short first segment', made.jpeg(made.jpegSegment(0xe1, ascii('Ex')), frame)],
    ['with an orientation of 9', exifJpeg(exif(9))],
    [
      'with XMP first',
      made.jpeg(made.jpegSegment(0xe1, ascii('http://ns')), exifSegment(exif(6)), frame),
      { isTurned: true },
    ],
    [
      'with 15 MB of metadata',
      made.jpeg(...Array.from({ length: 240 }, () => made.jpegSegment(0xe2, new Uint8Array(65_533))), frame),
    ],
  ],
  webp: [
    ['with something behind it', Buffer.concat([made.webp(made.webpLossy(8, 8)), zip])],
    [
      'with alpha that its canvas hides',
      made.webp(made.webpCanvas(8, 8), made.webpChunk('ALPH', ascii('abc')), made.webpLossy(8, 8)),
      { hasAlpha: true },
    ],
    [
      'with a canvas that may be transparent',
      made.webp(made.webpCanvas(8, 8, 0x10), made.webpLossy(8, 8)),
      { hasAlpha: true },
    ],
    [
      'with lossless alpha on a canvas',
      made.webp(made.webpCanvas(8, 8), made.webpLossless(8, 8, true)),
      { hasAlpha: true },
    ],
    [
      'with 17 MB of alpha',
      made.webp(
        made.webpCanvas(8, 8),
        made.webpChunk('ALPH', new Uint8Array(17 * 1024 ** 2)),
        made.webpLossy(8, 8),
      ),
      { hasAlpha: true },
    ],
  ],
}
for (const [format, rows] of Object.entries(taken))
  for (const [what, bytes, header] of rows)
    test(`${format} ${what} is taken`, () => {
      assert.deepEqual(outcome(bytes), { ...plain, format, ...header })
    })

test('a picture is taken up to its limits, and not one pixel beyond', () => {
  const limits = { maxPicturePixels: 1200, maxPictureEdge: 60 }
  const said = (width: number, height: number) =>
    [
      Buffer.concat([made.pngStart({ width, height }), made.PNG_REST]),
      made.jpeg(made.jpegFrame(width, height)),
      made.webp(made.webpLossy(width, height)),
      made.webp(made.webpLossless(width, height)),
      made.webp(made.webpCanvas(width, height), made.webpLossy(width, height)),
    ].map((bytes) => {
      const scan = new HeaderScan(limits)
      scan.push(bytes)
      const result = scan.end()
      return typeof result === 'string' ? result : `${result.width}x${result.height}`
    })
  const five = (text: string) => Array.from({ length: 5 }, () => text)
  assert.deepEqual(said(60, 20), five('60x20'))
  assert.deepEqual(said(20, 60), five('20x60'))
  assert.deepEqual(said(1, 1), five('1x1'))
  assert.deepEqual(said(61, 1), five('is 61x1 pixels; the longer edge may have at most 60'))
  assert.deepEqual(said(1, 61), five('is 1x61 pixels; the longer edge may have at most 60'))
  assert.deepEqual(said(40, 31), five('is 40x31 pixels, more than the allowed 1200'))
})
