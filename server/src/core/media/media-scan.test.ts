import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { box, flacOf, gifOf, mp3Of, mp4Of, oggOf, pdfOf, pngOf, wavOf, webmOf } from '#test/support/media.ts'
import { BOMBS } from '#test/support/picture-bombs.ts'
import { defaultLimits } from '../settings.ts'
import { excessOf } from './bounds.ts'
import { MediaScan, type ScannedMedia } from './media-scan.ts'

function scanned(bytes: Uint8Array, sizes: readonly number[] = [bytes.length || 1]): ScannedMedia | string {
  const scan = new MediaScan()
  let words: string | undefined
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] as number
    words ??= scan.push(bytes.subarray(at, at + size))
    at += size
  }
  const outcome = scan.end()
  if (words !== undefined) assert.equal(outcome, words)
  return outcome
}

const image = (format: string, width: number, height: number) => ({ kind: 'image', format, width, height })
const audio = (format: string, seconds: number | undefined) => ({ kind: 'audio', format, seconds })
const video = (format: string, seconds: number | undefined) => ({ kind: 'video', format, seconds })
const pdf = (pages: number | undefined) => ({ kind: 'file', format: 'pdf', pages })
/** One frame has 1152 samples of 44.1 kHz. */
const frames = (count: number): number => (count * 1152) / 44_100

const MEDIA: readonly (readonly [what: string, bytes: Uint8Array, expected: object])[] = [
  ['PNG', await pngOf(31, 17), image('png', 31, 17)],
  ['GIF of one frame', await gifOf(40, 30), image('gif', 40, 30)],
  ['WAV', wavOf(1.5), audio('wav', 1.5)],
  ['WAV of a program that streams', wavOf(2, { announced: 0xff_ff_ff_ff }), audio('wav', 2)],
  ['WAV with bytes after its samples', Buffer.concat([wavOf(1), Buffer.alloc(999)]), audio('wav', 1)],
  ['FLAC', flacOf(200), audio('flac', 200)],
  ['FLAC of a program that streams', flacOf(0), audio('flac', undefined)],
  ['MP3 with the number of its frames', mp3Of({ frames: 20, header: 'Xing' }), audio('mp3', frames(20))],
  ['MP3 of another encoder', mp3Of({ frames: 20, header: 'VBRI', tag: 300 }), audio('mp3', frames(20))],
  ['MP3 of one bit rate', mp3Of({ frames: 40 }), audio('mp3', (40 * 417) / 16_000)],
  ['MP3 after a tag', mp3Of({ frames: 40, tag: 2000 }), audio('mp3', (40 * 417) / 16_000)],
  ['Opus', oggOf(7), audio('ogg', 7)],
  ['Vorbis', oggOf(9, 'vorbis'), audio('ogg', 9)],
  ['Ogg of another codec', oggOf(9, 'speex'), audio('ogg', undefined)],
  ['MP4', mp4Of({ seconds: 12.5 }), video('mp4', 12.5)],
  ['MP4 with its index last', mp4Of({ seconds: 3, isIndexLast: true, isLong: true }), video('mp4', 3)],
  ['MP4 of fragments', mp4Of({ seconds: 4, isFragmented: true }), video('mp4', 4)],
  ['MP4 of fragments without a length', mp4Of({ seconds: 0, isFragmented: true }), video('mp4', undefined)],
  ['M4A', mp4Of({ seconds: 5, brand: 'M4A ' }), audio('m4a', 5)],
  ['MOV', mp4Of({ seconds: 6, brand: 'qt  ' }), video('mov', 6)],
  ['MOV without a brand', mp4Of({ seconds: 6, brand: '', isIndexLast: true }), video('mov', 6)],
  ['WebM', webmOf(8.25), video('webm', 8.25)],
  ['WebM of a program that streams', webmOf(undefined), video('webm', undefined)],
  ['PDF', pdfOf(7), pdf(7)],
  ['PDF with compressed objects', pdfOf(1, { isCompressed: true }), pdf(undefined)],
  ['PDF that gives its pages first', pdfOf(1, { isCompressed: true, linearized: 40 }), pdf(40)],
]

const head = (start: string): Buffer => Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(2000, 1)])

const REFUSED: readonly (readonly [what: string, bytes: Uint8Array, words: RegExp])[] = [
  ['nothing', new Uint8Array(), /is empty/],
  ['an animated GIF', await gifOf(20, 10, 3), /is animated/],
  ['a GIF without a frame', Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1'), /no pixels/],
  ['an HEIC', head('\0\0\0\x18ftypheic'), /HEIC or AVIF/],
  ['an AVIF', head('\0\0\0\x18ftypavif'), /HEIC or AVIF/],
  ['a 3GP', head('\0\0\0\x18ftyp3gp5'), /3GP/],
  ['a TIFF', head('II*\0'), /TIFF/],
  ['a BMP', head('BM\x01\x01\x01\x01\0\0\0\0'), /BMP/],
  ['an SVG', head('<?xml version="1.0"?><svg xmlns="x">'), /SVG/],
  ['an AVI', head('RIFF\x01\x01\x01\x01AVI '), /AVI/],
  ['an AAC', head('\xff\xf1\x50\x80'), /AAC/],
  ['an MP2', head('\xff\xfd\x90\x80'), /MP2/],
  ['a Matroska', webmOf(3, 'matroska'), /Matroska/],
  ['an Ogg with video', oggOf(3, 'theora'), /Ogg with video/],
  ['an Office file', head('PK\x03\x04'), /Office/],
  ['a page', head('<!DOCTYPE html><html>'), /HTML page/],
  ['words', head('hello'), /no format that Torana knows/],
  ['half a PNG', (await pngOf(9, 9)).subarray(0, 30), /ends before/],
  ['half a WAV', wavOf(1).subarray(0, 20), /ends before its header/],
  [
    'an MP4 without an index',
    box('ftyp', Buffer.from('isom1234'), Buffer.alloc(2000)),
    /ends before its header/,
  ],
  [
    'an MP4 of an impossible length',
    Buffer.concat([box('ftyp', Buffer.from('isom1234')), head('\0\0\0\x02mdat')]),
    /impossible length/,
  ],
  ['an MP3 that is none', Buffer.concat([head('ID3\x04\0\0\0\0\0\0'), Buffer.alloc(5000)]), /no MPEG audio/],
]

for (const [what, bytes, expected] of MEDIA)
  test(`${what}: its bytes say what it is`, () => assert.deepEqual(scanned(bytes), expected))

for (const [what, bytes, words] of REFUSED)
  test(`${what} is refused in words`, () => {
    const outcome = scanned(bytes)
    assert.match(typeof outcome === 'string' ? outcome : 'accepted', words)
  })

// An edit takes no PDF.
for (const { what, bytes } of BOMBS.filter((bomb) => bomb.what !== 'a PDF'))
  test(`${what}: refused, or beyond the limits`, () => {
    const outcome = scanned(bytes())
    assert.ok(typeof outcome === 'string' || excessOf(outcome, defaultLimits) !== undefined)
  })

const sizes = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 8 })
const sample = fc.constantFrom(...MEDIA.map(([, bytes]) => bytes), ...REFUSED.map(([, bytes]) => bytes))

test('the outcome does not depend on how the bytes are divided', () => {
  fc.assert(
    fc.property(sample, sizes, (bytes, parts) => assert.deepEqual(scanned(bytes, parts), scanned(bytes))),
    runs(300),
  )
})

/** A file of a known kind with some bytes changed, cut off or added. */
const hostile = fc
  .tuple(
    sample,
    fc.array(fc.tuple(fc.nat({ max: 400 }), fc.nat({ max: 255 })), { maxLength: 12 }),
    fc.nat({ max: 4000 }),
    fc.uint8Array({ maxLength: 200 }),
  )
  .map(([bytes, changes, cut, more]) => {
    const changed = Uint8Array.from(bytes)
    for (const [at, value] of changes) if (at < changed.length) changed[at] = value
    return Buffer.concat([changed.subarray(0, cut % 3 === 0 ? cut : changed.length), more])
  })

test('hostile bytes are refused or unknown: nothing throws, and no figure is impossible', () => {
  fc.assert(
    fc.property(hostile, sizes, (bytes, parts) => {
      const outcome = scanned(bytes, parts)
      assert.deepEqual(scanned(bytes), outcome)
      if (typeof outcome === 'string') return
      for (const figure of [outcome.width, outcome.height, outcome.seconds, outcome.pages])
        assert.ok(figure === undefined || (Number.isFinite(figure) && figure >= 0))
    }),
    runs(1000),
  )
})

const MEGABYTES = 32 * 1024 * 1024
const repeated = (unit: string): Buffer => Buffer.alloc(MEGABYTES, unit, 'latin1')

/** What each reader has most work with. */
const LABOURS: readonly (readonly [what: string, bytes: Buffer])[] = [
  ['a PDF of names', Buffer.concat([head('%PDF-1.7\n'), repeated('/Type /Page ')])],
  ['a PDF of slashes', Buffer.concat([head('%PDF-1.7\n'), repeated('/')])],
  [
    'a GIF of blocks of one byte',
    Buffer.concat([Buffer.from('GIF89a\x01\0\x01\0\0\0\0!\xfe', 'latin1'), repeated('\x01\x01')]),
  ],
  [
    'an MP4 of empty boxes',
    Buffer.concat([box('ftyp', Buffer.from('isom1234')), repeated('\0\0\0\x08free')]),
  ],
  [
    'an MP3 of a tag without a frame',
    Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1'), repeated('\xff')]),
  ],
  ['an Ogg of names', Buffer.concat([oggOf(1).subarray(0, 60), repeated('OggS\xff')])],
]

for (const [what, bytes] of LABOURS)
  test(`${what}: 32 MB of it are read in steps that stay short`, () => {
    const scan = new MediaScan()
    const startedMs = process.cpuUsage().user / 1000
    for (let at = 0; at < bytes.length; at += 256 * 1024) scan.push(bytes.subarray(at, at + 256 * 1024))
    scan.end()
    // 128 steps: tens of milliseconds each would be seconds in all.
    assert.ok(process.cpuUsage().user / 1000 - startedMs < 3000)
  })

const LIMITS = {
  ...defaultLimits,
  maxContentSeconds: 10,
  maxContentPages: 5,
  maxPicturePixels: 500,
  maxPictureEdge: 60,
}
const EXCESSES: readonly (readonly [bytes: Uint8Array, words: RegExp | undefined])[] = [
  [wavOf(10), undefined],
  [wavOf(10.1), /takes 11 seconds; at most 10/],
  [mp4Of({ seconds: 11 }), /takes 11 seconds/],
  [flacOf(0), undefined],
  [pdfOf(5), undefined],
  [pdfOf(6), /has 6 pages; at most 5/],
  [await gifOf(40, 30), /is 40x30 pixels/],
  [await pngOf(61, 2), /longer edge/],
]
test('more seconds, pages or pixels than allowed are too large; unknown ones are not', () => {
  for (const [bytes, words] of EXCESSES) {
    const outcome = scanned(bytes)
    assert.ok(typeof outcome === 'object')
    const excess = excessOf(outcome, LIMITS)
    if (words === undefined) assert.equal(excess, undefined)
    else assert.match(excess ?? '', words)
  }
})
