/** Images are written and read here by hand, so that libvips does not judge its own output. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { crc32, deflateSync, inflateSync } from 'node:zlib'
import fc from 'fast-check'
import sharp, { type Sharp } from 'sharp'
import { CodecBusy, PictureUnreadable } from '#ports/image-codec.ts'
import { runs } from '#test/support/arbitraries.ts'
import { longestRoundMs } from '#test/support/loop-watch.ts'
import { colourMask, type OpenPicture } from './colour-mask.ts'
import { WorkerImageCodec } from './image-codec.ts'

const ASKER = { project: 'p', timeoutMs: 600_000 }
/** With four cores, two images are converted concurrently. */
const codec = new WorkerImageCodec(4)
after(() => codec.close())

const RUNS = runs(600).numRuns
/** Longest acceptable round: the thread does the rest. */
const MAX_ROUND_MS = 20

interface Written {
  readonly width: number
  readonly height: number
  readonly colourType: 0 | 2 | 3 | 4 | 6
  readonly depth: 1 | 2 | 4 | 8 | 16
  /** Row by row, channel by channel. */
  readonly samples: readonly number[]
  /** Between the header and the pixels. */
  readonly chunks?: readonly Buffer[]
  /** The header's size, where it differs. */
  readonly header?: { readonly width: number; readonly height: number }
}

const CHANNELS = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 } as const

function pngOf(written: Written): Uint8Array<ArrayBuffer> {
  const { colourType, depth, samples, chunks = [], header = written } = written
  const inRow = written.width * CHANNELS[colourType]
  const rowBytes = 1 + Math.ceil((inRow * depth) / 8)
  const rows = Buffer.alloc(written.height * rowBytes)
  for (const [index, sample] of samples.entries()) {
    const bit = (index % inRow) * depth
    const at = Math.floor(index / inRow) * rowBytes + 1 + Math.floor(bit / 8)
    if (depth === 16) rows.writeUInt16BE(sample, at)
    else rows[at] = (rows[at] ?? 0) | (sample << (8 - depth - (bit % 8)))
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(header.width, 0)
  head.writeUInt32BE(header.height, 4)
  head.set([depth, colourType], 8)
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  const pixels = chunk('IDAT', deflateSync(rows))
  return new Uint8Array(
    Buffer.concat([signature, chunk('IHDR', head), ...chunks, pixels, chunk('IEND', Buffer.alloc(0))]),
  )
}

function chunk(type: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(named.length + 8)
  framed.writeUInt32BE(data.length, 0)
  framed.set(named, 4)
  framed.writeUInt32BE(crc32(named), named.length + 4)
  return framed
}

/** The transparent colour of a picture without an alpha channel. */
const transparent = (...samples: number[]): Buffer =>
  chunk('tRNS', Buffer.from(samples.flatMap((sample) => [sample >> 8, sample & 255])))
const palette = (alphas: readonly number[]): readonly Buffer[] => [
  chunk('PLTE', Buffer.alloc(alphas.length * 3, 0x77)),
  chunk('tRNS', Buffer.from(alphas)),
]

/** An 8-bit grey PNG's pixels, read by the letter of the standard. */
function greyOf(png: Uint8Array): { width: number; height: number; levels: number[] } {
  const bytes = Buffer.from(png)
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  assert.deepEqual([...bytes.subarray(24, 29)], [8, 0, 0, 0, 0], 'eight bits, grey, not interlaced')
  const data: Buffer[] = []
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const type = bytes.toString('latin1', at + 4, at + 8)
    assert.ok(['IHDR', 'IDAT', 'IEND', 'pHYs'].includes(type), `${type} may change how it looks`)
    if (type === 'IDAT') data.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)))
  }
  const rows = inflateSync(Buffer.concat(data))
  assert.equal(rows.length, height * (width + 1))
  const levels = new Uint8Array(width * height)
  for (let y = 0; y < height; y += 1) {
    const filter = rows[y * (width + 1)] ?? 9
    for (let x = 0; x < width; x += 1) {
      const left = x === 0 ? 0 : (levels[y * width + x - 1] ?? 0)
      const above = y === 0 ? 0 : (levels[(y - 1) * width + x] ?? 0)
      const corner = x === 0 || y === 0 ? 0 : (levels[(y - 1) * width + x - 1] ?? 0)
      const guesses = [0, left, above, (left + above) >> 1, paeth(left, above, corner)]
      levels[y * width + x] = (rows[y * (width + 1) + 1 + x] ?? 0) + (guesses[filter] ?? Number.NaN)
    }
  }
  return { width, height, levels: [...levels] }
}

function paeth(left: number, above: number, corner: number): number {
  const estimate = left + above - corner
  const [byLeft, byAbove, byCorner] = [left, above, corner].map((value) => Math.abs(estimate - value))
  if (byLeft! <= byAbove! && byLeft! <= byCorner!) return left
  return byAbove! <= byCorner! ? above : corner
}

const levelsOf = (alphas: readonly number[], changed: 'white' | 'black'): number[] =>
  alphas.map((alpha) => ((alpha === 0) === (changed === 'white') ? 255 : 0))

/** Four pixels of each kind of PNG: the first is fully transparent, the others are not, if only slightly. */
const KINDS: readonly (Omit<Written, 'width' | 'height'> & { readonly name: string })[] = [
  { name: 'rgba, 8', colourType: 6, depth: 8, samples: [9, 9, 9, 0, 9, 9, 9, 1, 0, 0, 0, 254, 9, 9, 9, 255] },
  {
    name: 'rgba, 16',
    colourType: 6,
    depth: 16,
    samples: [9, 9, 9, 0, 9, 9, 9, 1, 0, 0, 0, 255, 9, 9, 9, 65_535],
  },
  { name: 'grey with alpha, 8', colourType: 4, depth: 8, samples: [9, 0, 9, 1, 0, 127, 9, 255] },
  { name: 'grey with alpha, 16', colourType: 4, depth: 16, samples: [9, 0, 9, 1, 0, 128, 9, 256] },
  { name: 'palette, 8', colourType: 3, depth: 8, samples: [1, 0, 2, 3], chunks: palette([1, 0, 254, 255]) },
  { name: 'palette, 4', colourType: 3, depth: 4, samples: [1, 0, 2, 3], chunks: palette([1, 0, 254, 255]) },
  { name: 'palette, 2', colourType: 3, depth: 2, samples: [1, 0, 2, 3], chunks: palette([1, 0, 254, 255]) },
  { name: 'palette, 1', colourType: 3, depth: 1, samples: [1, 0, 0, 0], chunks: palette([1, 0]) },
  {
    name: 'grey but one, 16',
    colourType: 0,
    depth: 16,
    samples: [513, 512, 1, 258],
    chunks: [transparent(513)],
  },
  { name: 'grey but one, 8', colourType: 0, depth: 8, samples: [5, 6, 0, 4], chunks: [transparent(5)] },
  { name: 'grey but one, 4', colourType: 0, depth: 4, samples: [5, 6, 0, 4], chunks: [transparent(5)] },
  { name: 'grey but one, 2', colourType: 0, depth: 2, samples: [2, 3, 0, 1], chunks: [transparent(2)] },
  { name: 'grey but one, 1', colourType: 0, depth: 1, samples: [0, 1, 1, 1], chunks: [transparent(0)] },
  {
    name: 'rgb but one, 8',
    colourType: 2,
    depth: 8,
    samples: [1, 2, 3, 1, 2, 4, 0, 0, 0, 3, 2, 1],
    chunks: [transparent(1, 2, 3)],
  },
  {
    name: 'rgb but one, 16',
    colourType: 2,
    depth: 16,
    samples: [257, 2, 3, 257, 2, 4, 258, 2, 3, 1, 2, 3],
    chunks: [transparent(257, 2, 3)],
  },
]

for (const { name, ...kind } of KINDS) {
  test(`of a PNG of ${name} bits, what is fully transparent changes and nothing else`, async () => {
    for (const shape of [
      { width: 4, height: 1 },
      { width: 1, height: 4 },
      { width: 2, height: 2 },
    ]) {
      const mask = pngOf({ ...kind, ...shape })
      const kept = mask.slice()
      const white = greyOf(await codec.colourMask(mask, 'white', ASKER))
      assert.deepEqual(white, { ...shape, levels: [255, 0, 0, 0] })
      const black = greyOf(await codec.colourMask(mask, 'black', ASKER))
      assert.deepEqual(black, { ...shape, levels: [0, 255, 255, 255] })
      assert.deepEqual(mask, kept, 'the bytes stay the caller’s')
    }
  })
}

const rgba = (alphas: readonly number[], width: number, depth: 8 | 16 = 8): Written => ({
  width,
  height: alphas.length / width,
  colourType: 6,
  depth,
  samples: alphas.flatMap((alpha, index) => [index % 251, (index * 7) % 256, 200, alpha]),
})

test('every random mask is the same mask in grey, pixel by pixel', async () => {
  const masks = fc
    .record({
      depth: fc.constantFrom(8 as const, 16 as const),
      width: fc.integer({ min: 1, max: 24 }),
      height: fc.integer({ min: 1, max: 24 }),
    })
    .chain(({ depth, width, height }) => {
      const most = depth === 8 ? 255 : 65_535
      const alpha = fc.oneof(fc.constant(0), fc.constantFrom(1, 127, 128, 255, most), fc.nat(most))
      return fc.record({
        depth: fc.constant(depth),
        width: fc.constant(width),
        alphas: fc.array(alpha, { minLength: width * height, maxLength: width * height }),
        changed: fc.constantFrom('white' as const, 'black' as const),
      })
    })
  const seen = { marked: 0, unmarked: 0 }
  await fc.assert(
    fc.asyncProperty(masks, async ({ depth, width, alphas, changed }) => {
      const made = codec.colourMask(pngOf(rgba(alphas, width, depth)), changed, ASKER)
      seen[alphas.includes(0) ? 'marked' : 'unmarked'] += 1
      if (!alphas.includes(0)) return assert.rejects(made, PictureUnreadable)
      const height = alphas.length / width
      return assert.deepEqual(greyOf(await made), { width, height, levels: levelsOf(alphas, changed) })
    }),
    { numRuns: RUNS },
  )
  assert.ok(seen.marked > RUNS / 2 && seen.unmarked > 0, JSON.stringify(seen))
})

for (const [width, height] of [
  [1, 1],
  [1, 16_384],
  [16_384, 1],
  [997, 1009],
] as const) {
  test(`a mask of ${width} × ${height} keeps its size`, async () => {
    const alphas = Array.from({ length: width * height }, (_, index) => (index * 7919) % 3)
    const made = greyOf(await codec.colourMask(pngOf(rgba(alphas, width)), 'white', ASKER))
    assert.deepEqual([made.width, made.height], [width, height])
    assert.equal(Buffer.compare(Buffer.from(made.levels), Buffer.from(levelsOf(alphas, 'white'))), 0)
  })
}

test('WebP, lossless or not, and interlaced PNG mark as they do in a viewer', async () => {
  const alphas = Array.from({ length: 64 * 48 }, (_, index) => (index % 64 < 20 ? 0 : 255))
  const original = sharp(pngOf(rgba(alphas, 64)))
  const files = [
    original.clone().webp({ lossless: true }),
    original.clone().webp({ quality: 30, alphaQuality: 100 }),
    original.clone().png({ progressive: true }),
    original.clone().png({ palette: true }),
  ]
  for (const file of files) {
    const made = await codec.colourMask(new Uint8Array(await file.toBuffer()), 'black', ASKER)
    assert.deepEqual(greyOf(made), { width: 64, height: 48, levels: levelsOf(alphas, 'black') })
  }
})

test('notes beside the pixels change nothing: no turn, no gamma, no colour profile', async () => {
  const alphas = [0, 1, 128, 255, 0, 255]
  const plain = sharp(pngOf(rgba(alphas, 3)))
  const gamma = Buffer.alloc(4)
  gamma.writeUInt32BE(220_000)
  const files = [
    await plain.clone().withMetadata({ orientation: 6 }).png().toBuffer(),
    await plain.clone().withMetadata({ orientation: 6 }).webp({ lossless: true, exact: true }).toBuffer(),
    await plain.clone().withIccProfile('p3').png().toBuffer(),
    pngOf({ ...rgba(alphas, 3), chunks: [chunk('gAMA', gamma)] }),
    pngOf({ ...rgba(alphas, 3), chunks: [chunk('sBIT', Buffer.from([5, 5, 5, 1]))] }),
  ]
  for (const file of files) {
    const made = greyOf(await codec.colourMask(new Uint8Array(file), 'white', ASKER))
    assert.deepEqual(made, { width: 3, height: 2, levels: [255, 0, 0, 0, 255, 0] })
  }
  const deep = { ...rgba([0, 1, 255, 65_535], 2, 16) }
  const profiled = await sharp(pngOf(deep)).toColourspace('rgb16').withIccProfile('p3').png().toBuffer()
  assert.equal((await sharp(profiled).metadata()).depth, 'ushort')
  const made = greyOf(await codec.colourMask(new Uint8Array(profiled), 'white', ASKER))
  assert.deepEqual(made.levels, [255, 0, 0, 0])
})

test('a mask that marks nothing says so', async () => {
  const jpeg = await sharp(pngOf(rgba([0, 0], 2)))
    .jpeg()
    .toBuffer()
  const masks = [
    pngOf(rgba([1, 255, 1, 255], 2)),
    pngOf(rgba([1, 255, 1, 255], 2, 16)),
    pngOf({ width: 1, height: 1, colourType: 2, depth: 8, samples: [0, 0, 0] }),
    pngOf({ width: 1, height: 1, colourType: 0, depth: 8, samples: [0], chunks: [transparent(1)] }),
    new Uint8Array(jpeg),
  ]
  for (const mask of masks)
    await assert.rejects(codec.colourMask(mask, 'white', ASKER), {
      name: 'PictureUnreadable',
      message: 'marks nothing: no pixel is fully transparent',
    })
})

test('a mask that is cut off, damaged, or not what its header says is unreadable', async () => {
  const size = 200
  const alphas = Array.from({ length: size * size }, (_, index) => (index * 7919) % 5)
  const whole = pngOf(rgba(alphas, size))
  const webp = new Uint8Array(await sharp(whole).webp({ lossless: true }).toBuffer())
  const damaged = whole.slice()
  damaged.fill(0x55, 3000, 3100)
  const lie = (width: number, height: number): Uint8Array<ArrayBuffer> =>
    pngOf({ ...rgba(alphas, size), header: { width, height } })
  const hostile = {
    'half a png': whole.slice(0, whole.length / 2),
    'a png without its last pixels': whole.slice(0, whole.length - 200),
    'half a webp': webp.slice(0, webp.length / 2),
    'only a header': whole.slice(0, 33),
    damaged,
    'taller than its pixels': lie(size, size + 1),
    'wider than its pixels': lie(size * 2, size),
    'of 60 megapixels': lie(10_000, 6000),
    'of all the pixels there are': lie(0x7f_ff_ff_ff, 0x7f_ff_ff_ff),
    'without a pixel': lie(0, size),
    nothing: new Uint8Array(),
    text: new TextEncoder().encode('not a mask'),
    svg: new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
  }
  for (const [name, bytes] of Object.entries(hostile))
    await assert.rejects(codec.colourMask(bytes, 'white', ASKER), PictureUnreadable, name)
})

test('masks stand in line with the pictures, and beyond 32 that wait they are refused at once', async () => {
  const mask = pngOf(rgba([0, 255], 2))
  const outcomes = await Promise.allSettled(
    Array.from({ length: 40 }, (_, index) =>
      index % 2 === 0
        ? codec.colourMask(mask, 'white', ASKER)
        : codec.convert(mask, { format: 'webp', quality: 80 }, ASKER),
    ),
  )
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
  assert.equal(refused.length, 40 - 34)
  assert.ok(refused.every(({ reason }) => reason instanceof CodecBusy))
  await codec.colourMask(mask, 'white', ASKER)
})

test('a mask of 12 megapixels is made while the event loop goes on', async () => {
  const [width, height] = [4000, 3000]
  const pixels = Buffer.alloc(width * height * 4)
  for (let at = 3; at < pixels.length; at += 4) pixels[at] = at % 7 === 0 ? 0 : 255
  const mask = await sharp(pixels, { raw: { width, height, channels: 4 } })
    .png({ compressionLevel: 1 })
    .toBuffer()
  const longestMs = await longestRoundMs(MAX_ROUND_MS, async () => {
    const made = await codec.colourMask(new Uint8Array(mask), 'black', ASKER)
    assert.equal((await sharp(made).metadata()).width, width)
  })
  assert.ok(longestMs < MAX_ROUND_MS, `${mask.length} bytes held a turn for ${longestMs} ms`)
})

test('a mask that was written wrongly never leaves', async () => {
  const mask = pngOf(rgba([0, 255, 255, 0], 2))
  const wrong: readonly (readonly [(written: Sharp) => Sharp, RegExp])[] = [
    [(written) => written.negate(), /differs at 0, 0/],
    [(written) => written.flop(), /differs at 0, 0/],
    [(written) => written.threshold(255).linear(1, 1), /differs at 1, 0/],
    [(written) => written.extend({ left: 1 }), /another kind or size/],
    [
      (written) => written.joinChannel(Buffer.alloc(4), { raw: { width: 2, height: 2, channels: 1 } }),
      /another kind/,
    ],
  ]
  for (const [spoil, message] of wrong) {
    const open: OpenPicture = (bytes, options) =>
      options?.raw ? spoil(sharp(bytes, options)) : sharp(bytes, options)
    await assert.rejects(colourMask(mask, 'white', open), message)
  }
})
