import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import sharp, { type Sharp } from 'sharp'
import { runs } from '#test/support/arbitraries.ts'
import { mediaTypeOf, pictureHeader, type PictureHeader } from './header.ts'

const opaque = () =>
  sharp({ create: { width: 37, height: 21, channels: 3, background: { r: 9, g: 99, b: 199 } } })
const seeThrough = () =>
  sharp({ create: { width: 37, height: 21, channels: 4, background: { r: 9, g: 99, b: 199, alpha: 0.4 } } })

/** Two frames, one above the other. */
function animated(): Sharp {
  const pixels = Uint8Array.from({ length: 37 * 42 * 3 }, (_, index) => (index < 37 * 21 * 3 ? 0 : 255))
  return sharp(pixels, { raw: { width: 37, height: 42, channels: 3, pageHeight: 21 } })
}

const text = (content: string) => new TextEncoder().encode(content)
const SIZE = { width: 37, height: 21 }
const plain = { ...SIZE, frames: 'one', hasAlpha: false } as const
const svg = { format: 'svg', width: 0, height: 0, frames: 'one', hasAlpha: true } as const
const tag = '<svg xmlns="http://www.w3.org/2000/svg"/>'

const real: readonly (readonly [what: string, bytes: Uint8Array, header: PictureHeader])[] = [
  ['a PNG', await opaque().png().toBuffer(), { format: 'png', ...plain }],
  ['a PNG with alpha', await seeThrough().png().toBuffer(), { format: 'png', ...plain, hasAlpha: true }],
  [
    'a PNG of a palette with a transparent colour',
    await seeThrough().png({ palette: true }).toBuffer(),
    { format: 'png', ...plain, hasAlpha: true },
  ],
  ['a grey PNG', await opaque().toColourspace('b-w').png().toBuffer(), { format: 'png', ...plain }],
  [
    'a PNG that carries a description',
    await opaque()
      .withExif({ IFD0: { Copyright: 'nobody' } })
      .png()
      .toBuffer(),
    { format: 'png', ...plain },
  ],
  [
    'a PNG that moves',
    withAnimationControl(await opaque().png().toBuffer()),
    { format: 'png', ...plain, frames: 'several' },
  ],
  ['a JPEG', await opaque().jpeg().toBuffer(), { format: 'jpeg', ...plain }],
  ['a progressive JPEG', await opaque().jpeg({ progressive: true }).toBuffer(), { format: 'jpeg', ...plain }],
  ['a grey JPEG', await opaque().toColourspace('b-w').jpeg().toBuffer(), { format: 'jpeg', ...plain }],
  [
    'a JPEG that carries a profile and a description',
    await opaque()
      .withMetadata({ exif: { IFD0: { Copyright: 'nobody' } } })
      .jpeg()
      .toBuffer(),
    { format: 'jpeg', ...plain },
  ],
  ['a WebP', await opaque().webp().toBuffer(), { format: 'webp', ...plain }],
  ['a WebP without loss', await opaque().webp({ lossless: true }).toBuffer(), { format: 'webp', ...plain }],
  ['a WebP with alpha', await seeThrough().webp().toBuffer(), { format: 'webp', ...plain, hasAlpha: true }],
  [
    'a WebP with alpha and without loss',
    await seeThrough().webp({ lossless: true }).toBuffer(),
    { format: 'webp', ...plain, hasAlpha: true },
  ],
  [
    'a WebP that carries a description',
    await opaque()
      .withExif({ IFD0: { Copyright: 'nobody' } })
      .webp()
      .toBuffer(),
    { format: 'webp', ...plain },
  ],
  [
    'a WebP that moves',
    await animated()
      .webp({ delay: [90, 90] })
      .toBuffer(),
    { format: 'webp', ...plain, frames: 'several' },
  ],
  // The encoder sets a transparent colour aside, used or not.
  ['a GIF', await opaque().gif().toBuffer(), { format: 'gif', ...plain, hasAlpha: true }],
  [
    'a GIF without a transparent colour',
    Uint8Array.of(
      ...text('GIF87a'),
      37,
      0,
      21,
      0,
      0,
      0,
      0,
      0x2c,
      0,
      0,
      0,
      0,
      37,
      0,
      21,
      0,
      0,
      2,
      1,
      0,
      0,
      0x3b,
    ),
    { format: 'gif', ...plain },
  ],
  [
    'a GIF that moves',
    await animated()
      .gif({ delay: [90, 90] })
      .toBuffer(),
    { format: 'gif', ...plain, frames: 'several', hasAlpha: true },
  ],
  ['an SVG', text(tag), svg],
  ['an SVG behind a declaration', text(`\uFEFF<?xml version="1.0"?>\n<!-- drawn -->\n${tag}`), svg],
  ['an SVG with a document type', text(`<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd"><svg>`), svg],
]

for (const [what, bytes, header] of real) {
  test(`${what} tells what it is`, () => {
    assert.deepEqual(pictureHeader(bytes), header)
    // Inside something larger, from the middle of a buffer.
    const within = new Uint8Array(bytes.length + 7)
    within.set(bytes, 7)
    assert.deepEqual(pictureHeader(within.subarray(7)), header)
  })
}

const bytesOf = (what: string): Uint8Array => Uint8Array.from(real.find(([name]) => name === what)?.[1] ?? [])

function changed(
  what: string,
  ...edits: readonly (readonly [offset: number, ...bytes: number[]])[]
): Uint8Array {
  const bytes = bytesOf(what)
  for (const [offset, ...values] of edits) bytes.set(values, offset)
  return bytes
}

const times = (count: number, part: readonly number[]) => Array.from({ length: count }, () => part).flat()
const EMPTY_PNG_CHUNK = [0, 0, 0, 0, ...text('tEXt'), 0, 0, 0, 0]

for (const [what, bytes] of [
  ['nothing', new Uint8Array(0)],
  ['a text', text('{"error":"no"}')],
  ['a page', text('<html><svg></svg></html>')],
  ['an SVG that begins too late', text(`<!--${' '.repeat(1024)}-->${tag}`)],
  ['an SVG with declarations of its own', text(`<!DOCTYPE svg [<!ENTITY a "b">]>${tag}`)],
  ['a tag that only begins like one', text('<svgx>')],
  ['a comment without an end', text('<!-- <svg>')],
  ['a BMP', Uint8Array.of(0x42, 0x4d, 0, 0, 0, 0)],
  ['a PNG of no width', changed('a PNG', [16, 0, 0, 0, 0])],
  ['a PNG of negative height', changed('a PNG', [20, 0x80, 0, 0, 0])],
  ['a PNG of a colour type that there is not', changed('a PNG', [25, 5])],
  ['a PNG without its first chunk', changed('a PNG', [12, 0x4a])],
  ['a PNG without pixels', bytesOf('a PNG').subarray(0, 33)],
  [
    'a PNG of endless chunks',
    Uint8Array.of(
      ...bytesOf('a PNG').subarray(0, 33),
      ...times(2000, EMPTY_PNG_CHUNK),
      ...bytesOf('a PNG').subarray(33),
    ),
  ],
  ['a JPEG that ends at once', Uint8Array.of(0xff, 0xd8, 0xff, 0xd9)],
  ['a JPEG with pixels before its frame', Uint8Array.of(0xff, 0xd8, 0xff, 0xda, 0, 2, 0, 0, 0, 0)],
  ['a JPEG with a part of no length', Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xc0, 0, 0)],
  ['a JPEG of filling alone', Uint8Array.of(0xff, 0xd8, ...times(5000, [0xff]))],
  [
    'a JPEG whose height comes later',
    Uint8Array.of(0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 0, 0, 9, 1, 1, 17, 0),
  ],
  ['a JPEG frame that is cut short', Uint8Array.of(0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 9, 0, 9, 1)],
  ['a WebP shorter than it says', bytesOf('a WebP').subarray(0, -2)],
  ['a WebP with a canvas of another size', changed('a WebP with alpha', [24, 200, 0, 0])],
  ['a WebP that moves without saying so', changed('a WebP that moves', [20, 0])],
  ['a WebP that says it moves and does not', changed('a WebP with alpha', [20, 0x12])],
  ['a WebP of a later version', changed('a WebP without loss', [24, 0xff])],
  ['a GIF of no width', changed('a GIF', [6, 0, 0])],
  ['a GIF without its end', bytesOf('a GIF').subarray(0, -1)],
  ['a GIF without a picture', Uint8Array.of(...text('GIF89a'), 4, 0, 4, 0, 0, 0, 0, 0x3b)],
  [
    'a GIF of endless remarks',
    Uint8Array.of(...text('GIF89a'), 4, 0, 4, 0, 0, 0, 0, ...times(40, [0x21, 0xfe, 0])),
  ],
] as const) {
  test(`${what} is no picture`, () => {
    assert.equal(pictureHeader(bytes), undefined)
  })
}

test('random bytes behind any signature never throw', () => {
  const starts = real.map(([, bytes]) => bytes.subarray(0, 16))
  fc.assert(
    fc.property(
      fc.constantFrom(new Uint8Array(0), ...starts),
      fc.uint8Array({ maxLength: 300 }),
      (start, rest) => {
        assertSound(pictureHeader(Uint8Array.of(...start, ...rest)))
      },
    ),
    runs(5000),
  )
})

test('a picture that is cut off anywhere, or changed anywhere, never throws and never lies about its kind of size', () => {
  for (const [, bytes] of real) {
    for (let length = 0; length < Math.min(bytes.length, 700); length += 1)
      assertSound(pictureHeader(bytes.subarray(0, length)))
  }
  const edit = fc.tuple(fc.nat(200), fc.nat(255))
  const edits = fc.array(edit, { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(fc.constantFrom(...real), edits, ([, bytes], edits) => {
      const changed = Uint8Array.from(bytes)
      for (const [offset, value] of edits) changed[offset % changed.length] = value
      assertSound(pictureHeader(changed))
    }),
    runs(5000),
  )
})

test('a hostile file is given up after a bounded number of steps, however long it is', () => {
  const long = 4_000_000
  const hostile = [
    ['PNG of empty chunks', [...bytesOf('a PNG').subarray(0, 33)], EMPTY_PNG_CHUNK],
    ['JPEG of filling', [0xff, 0xd8], [0xff]],
    ['JPEG of empty remarks', [0xff, 0xd8], [0xff, 0xfe, 0, 2]],
    ['GIF of one-byte blocks', [...text('GIF89a'), 4, 0, 4, 0, 0, 0, 0, 0x21, 0xfe], [1, 1]],
    ['GIF of empty remarks', [...text('GIF89a'), 4, 0, 4, 0, 0, 0, 0], [0x21, 0xfe, 0]],
    ['SVG of blanks', [], [0x20]],
  ] as const
  for (const [what, start, part] of hostile) {
    const bytes = new Uint8Array(long)
    bytes.set(start)
    for (let offset = start.length; offset + part.length <= long; offset += part.length)
      bytes.set(part, offset)
    const { counted, reads } = countingReads(bytes)
    assert.equal(pictureHeader(counted), undefined, what)
    assert.ok(reads() < 200_000, `${what} took ${reads()} reads`)
  }
})

/** Counts how often a byte is looked at. */
function countingReads(bytes: Uint8Array): { readonly counted: Uint8Array; readonly reads: () => number } {
  let reads = 0
  const counted = new Proxy(bytes, {
    get: (target, name) => {
      if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return { counted, reads: () => reads }
}

function assertSound(header: PictureHeader | undefined): void {
  if (header === undefined) return
  const { format, width, height } = header
  assert.ok(Number.isInteger(width) && Number.isInteger(height))
  assert.ok(format === 'svg' ? width === 0 && height === 0 : width > 0 && height > 0)
}

/** `acTL` for two frames, behind the first chunk. */
function withAnimationControl(png: Uint8Array): Uint8Array {
  const control = [0, 0, 0, 8, ...text('acTL'), 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]
  return Uint8Array.of(...png.subarray(0, 33), ...control, ...png.subarray(33))
}

test('each format has its media type', () => {
  const formats = ['png', 'jpeg', 'webp', 'gif', 'svg'] as const
  assert.deepEqual(formats.map(mediaTypeOf), [
    'image/png',
    'image/jpeg',
    'image/webp',
    'image/gif',
    'image/svg+xml',
  ])
})
