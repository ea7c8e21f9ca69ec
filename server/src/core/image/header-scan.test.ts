import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import sharp, { type Sharp } from 'sharp'
import { runs } from '#test/support/arbitraries.ts'
import { ascii, BOMBS, pngChunk, pngStart } from '#test/support/picture-bombs.ts'
import { HeaderScan, type PictureLimits, type ScannedHeader } from './header-scan.ts'
import { pictureHeader } from './header.ts'

const LIMITS: PictureLimits = { maxPicturePixels: 50_000_000, maxPictureEdge: 16_384 }

/** The outcome, and the refusal before the end. */
interface Scanned {
  readonly outcome: ScannedHeader | string
  readonly words: string | undefined
}

function scanAll(chunks: Iterable<Uint8Array>): Scanned {
  const scan = new HeaderScan(LIMITS)
  let words: string | undefined
  for (const chunk of chunks) {
    const said = scan.push(chunk)
    if (words !== undefined) assert.equal(said, words)
    words = said
  }
  const outcome = scan.end()
  if (words !== undefined) assert.equal(outcome, words)
  return { outcome, words }
}

function* inParts(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  let offset = 0
  for (let index = 0; offset < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] as number
    yield bytes.subarray(offset, offset + size)
    offset += size
  }
}

const create = (channels: 3 | 4, width = 37, height = 21) =>
  sharp({ create: { width, height, channels, background: { r: 9, g: 99, b: 199, alpha: 0.4 } } })
const opaque = () => create(3)
const seeThrough = () => create(4)

/** Sharp writes no grey of one bit. */
function oneBitGrey(): Uint8Array {
  const rows = deflateSync(new Uint8Array(21 * 6))
  const start = pngStart({ width: 37, height: 21, depth: 1, colourType: 0 })
  return Buffer.concat([start, pngChunk('IDAT', rows), pngChunk('IEND')])
}

const ways: readonly (readonly [what: string, picture: Sharp | Uint8Array])[] = [
  ['PNG', opaque().png()],
  ['PNG of one pixel', create(3, 1, 1).png()],
  ['PNG of two colours', opaque().png({ palette: true, colours: 2 })],
  ['PNG of one bit', oneBitGrey()],
  ['PNG of 16 bits', opaque().toColourspace('rgb16').png()],
  ['grey PNG of 16 bits', opaque().toColourspace('grey16').png()],
  ['grey PNG', opaque().toColourspace('b-w').png()],
  ['PNG with alpha', seeThrough().png()],
  ['PNG of 16 bits with alpha', seeThrough().toColourspace('rgb16').png()],
  ['PNG of a palette with a transparent colour', seeThrough().png({ palette: true })],
  ['interlaced PNG', opaque().png({ progressive: true })],
  ['PNG with a large profile', opaque().withIccProfile('p3').png()],
  ['JPEG', opaque().jpeg()],
  ['JPEG of one pixel', create(3, 1, 1).jpeg()],
  ['progressive JPEG', opaque().jpeg({ progressive: true })],
  ['JPEG of another encoder', opaque().jpeg({ mozjpeg: true })],
  ['grey JPEG', opaque().toColourspace('b-w').jpeg()],
  ['JPEG for print', opaque().toColourspace('cmyk').jpeg()],
  ['JPEG with a profile of a megabyte', opaque().withIccProfile('cmyk').jpeg()],
  ['WebP', opaque().webp()],
  ['WebP of one pixel', create(3, 1, 1).webp()],
  ['WebP without loss', opaque().webp({ lossless: true })],
  ['WebP with alpha', seeThrough().webp()],
  ['WebP with alpha and without loss', seeThrough().webp({ lossless: true })],
  ['WebP with a profile', opaque().withIccProfile('p3').webp()],
  ['WebP with a profile, alpha and without loss', seeThrough().withIccProfile('p3').webp({ lossless: true })],
  [
    'WebP with a description',
    opaque()
      .withExif({ IFD0: { Copyright: 'nobody' } })
      .webp(),
  ],
  ...[1, 2, 3, 4, 5, 6, 7, 8].flatMap((orientation) => [
    [`JPEG of orientation ${orientation}`, opaque().withMetadata({ orientation }).jpeg()] as const,
    [`PNG of orientation ${orientation}`, opaque().withMetadata({ orientation }).png()] as const,
    [`WebP of orientation ${orientation}`, opaque().withMetadata({ orientation }).webp()] as const,
  ]),
]

const real: (readonly [what: string, bytes: Uint8Array, header: ScannedHeader])[] = []
for (const [what, picture] of ways) {
  const bytes = picture instanceof Uint8Array ? picture : await picture.toBuffer()
  const { format, width, height, hasAlpha, orientation = 1 } = await sharp(bytes).metadata()
  assert.ok(format === 'png' || format === 'jpeg' || format === 'webp')
  // The EXIF of a WebP comes after its pixels, where it is not looked for.
  const isTurned = format !== 'webp' && orientation >= 5
  real.push([what, bytes, { format, width, height, hasAlpha, isTurned }])
}

for (const [what, bytes, header] of real) {
  test(`a ${what} tells what a decoder finds in it`, () => {
    assert.deepEqual(scanAll([bytes]).outcome, header)
    assert.deepEqual(scanAll(inParts(bytes, [1])).outcome, header)
    // From the middle of a larger buffer, followed by other bytes.
    const within = Buffer.concat([ascii('before!'), bytes, ascii('PK\x03\x04')])
    assert.deepEqual(scanAll([within.subarray(7)]).outcome, header)
  })
}

test('pictures that move are refused', async () => {
  const pixels = Uint8Array.from({ length: 37 * 42 * 3 }, (_, index) => (index < 37 * 21 * 3 ? 0 : 255))
  const frames = () => sharp(pixels, { raw: { width: 37, height: 42, channels: 3, pageHeight: 21 } })
  const moving = frames().webp({ delay: [90, 90] })
  assert.match(scanAll([await moving.toBuffer()]).words ?? '', /^is animated/)
  assert.match(
    scanAll([
      await frames()
        .gif({ delay: [90, 90] })
        .toBuffer(),
    ]).words ?? '',
    /^is a GIF/,
  )
})

test('formats of other encoders are refused by name', async () => {
  assert.match(scanAll([await opaque().tiff().toBuffer()]).words ?? '', /^is a TIFF/)
  assert.match(scanAll([await opaque().avif().toBuffer()]).words ?? '', /^is an HEIC or AVIF/)
})

/** The first byte of pixels. */
function pixelsBegin(bytes: Uint8Array, { format }: ScannedHeader): number {
  if (format === 'webp') return bytes.length - 1
  const at = Buffer.from(bytes).lastIndexOf(format === 'png' ? ascii('IDAT') : Uint8Array.of(0xff, 0xda))
  return format === 'png' ? at + 4 : at + 2 + ((bytes[at + 2] as number) << 8) + (bytes[at + 3] as number)
}

test('a picture that is cut off anywhere is refused, and the words say where', () => {
  // The pixels of a progressive JPEG begin several times, and cutting a megabyte everywhere takes long.
  const small = real.filter(([what, bytes]) => bytes.length < 1000 && !/progressive|encoder/.test(what))
  assert.ok(small.length > 40)
  for (const [what, bytes, header] of small) {
    const begin = pixelsBegin(bytes, header)
    for (let length = 0; length < bytes.length; length += 1) {
      const { outcome, words } = scanAll([bytes.subarray(0, length)])
      // It could still have become an image, so nothing is refused before its end.
      assert.equal(words, undefined)
      if (length === 0) assert.equal(outcome, 'is empty')
      else if (header.format === 'webp' && length >= 12)
        assert.equal(outcome, 'is shorter than its header says')
      else if (length <= begin)
        assert.equal(outcome, 'ends before its pixels begin', `${what} cut at ${length}`)
      else assert.equal(outcome, 'ends before its pixels do: it was cut short', `${what} cut at ${length}`)
    }
  }
})

/** Little of the pixels, all of the header. */
const starts = real.map(([, bytes]) => bytes).filter((bytes) => bytes.length < 2000)
const hostile = BOMBS.map((bomb) => bomb.bytes().subarray(0, 14_000))
const texts = [
  ' <?\nftypheic?><svg>',
  '\xff\xd8\xffxftypheic',
  'II*\0ftypavif',
  'RIFFftypWEBPVP8 ',
  'BM<!-ftyp',
]
const anyFile = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...starts) },
  { weight: 2, arbitrary: fc.constantFrom(...hostile) },
  { weight: 1, arbitrary: fc.constantFrom(...texts).map(ascii) },
)
const sizes = fc.oneof(
  fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }),
  fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 1, maxLength: 6 }).map((array) => [...array, 1]),
)

test('the outcome and the words do not depend on where the chunks are cut', () => {
  fc.assert(
    fc.property(anyFile, sizes, (bytes, sizes) => {
      assert.deepEqual(scanAll(inParts(bytes, sizes)), scanAll([bytes]))
    }),
    runs(5000),
  )
})

test('a header that was changed anywhere never throws, never passes a limit, and is read alike in any chunks', () => {
  const edits = fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { minLength: 1, maxLength: 6 })
  const often = runs(10_000)
  let taken = 0
  fc.assert(
    fc.property(anyFile, edits, sizes, (bytes, edits, sizes) => {
      const changed = Uint8Array.from(bytes)
      for (const [offset, value] of edits) changed[offset % changed.length] = value
      const scanned = scanAll([changed])
      assert.deepEqual(scanAll(inParts(changed, sizes)), scanned)
      const { outcome } = scanned
      if (typeof outcome === 'string') {
        assert.match(outcome, /^(is|has|ends) /)
        return
      }
      taken += 1
      assert.ok(outcome.width >= 1 && outcome.height >= 1)
      assert.ok(Math.max(outcome.width, outcome.height) <= LIMITS.maxPictureEdge)
      assert.ok(outcome.width * outcome.height <= LIMITS.maxPicturePixels)
      // The other reader, which needs the whole file at once, finds the same image.
      const { format, width, height, frames } = pictureHeader(changed) ?? {}
      const same = { format: outcome.format, width: outcome.width, height: outcome.height, frames: 'one' }
      assert.deepEqual({ format, width, height, frames }, same)
    }),
    often,
  )
  assert.ok(taken > often.numRuns / 20, `only ${taken} were taken: the comparison would be vacuous`)
})

test('random bytes behind any start never throw', () => {
  const start = fc.tuple(anyFile, fc.nat(64)).map(([bytes, length]) => bytes.subarray(0, length))
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 300 }), sizes, (start, rest, sizes) => {
      const bytes = Buffer.concat([start, rest])
      assert.deepEqual(scanAll(inParts(bytes, sizes)), scanAll([bytes]))
    }),
    runs(5000),
  )
})
