import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sharp from 'sharp'
import type { ImageFormat } from '#core/catalog/catalog.ts'
import { CodecBusy, PictureUnreadable } from '#ports/image-codec.ts'
import { longestRoundMs } from '#test/support/loop-watch.ts'
import { roomFor, WorkerImageCodec } from './image-codec.ts'

const FORMATS: readonly ImageFormat[] = ['png', 'jpeg', 'webp']
/** Longest acceptable round: the thread does the rest. */
const MAX_ROUND_MS = 20

const ASKER = { project: 'p', timeoutMs: 600_000 }
/** With four cores, two images are converted concurrently. */
const codec = new WorkerImageCodec(4)
after(() => codec.close())

/** Noise on a slope: it does not compress well, and no part is like another. */
async function picture(
  format: ImageFormat,
  { width = 96, height = 64, alpha = 1 }: { width?: number; height?: number; alpha?: number } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const pixels = Buffer.alloc(width * height * 4)
  for (let at = 0; at < pixels.length; at += 4) {
    const column = (at / 4) % width
    pixels.writeUInt32BE(
      (Math.imul(at + 1, 0x9e37_79b1) & 0x0f0f_0f00) + Math.round((column / width) * 150) * 0x01_01_01_00,
      at,
    )
    pixels[at + 3] = Math.round(alpha * 255)
  }
  const raw = sharp(pixels, { raw: { width, height, channels: 4 } })
  return new Uint8Array(await (alpha === 1 ? raw.removeAlpha() : raw).toFormat(format).toBuffer())
}

async function pixelAt(bytes: Uint8Array, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true })
  const at = (y * info.width + x) * info.channels
  return [...data.subarray(at, at + info.channels)]
}

for (const from of FORMATS) {
  for (const to of FORMATS) {
    test(`${from} becomes ${to} of the same size and the same colours`, async () => {
      const original = await picture(from)
      const converted = await codec.convert(original, { format: to, quality: undefined }, ASKER)
      const { format, width, height } = await sharp(converted).metadata()
      assert.deepEqual([format, width, height], [to, 96, 64])
      const [before, now] = [await pixelAt(original, 90, 30), await pixelAt(converted, 90, 30)]
      for (const [channel, value] of now.entries())
        assert.ok(Math.abs(value - (before[channel] ?? 0)) <= 24, `${before.join()} became ${now.join()}`)
    })
  }
}

test('the bytes that are converted stay the caller’s', async () => {
  const original = await picture('png')
  const copy = original.slice()
  await codec.convert(original, { format: 'webp', quality: 50 }, ASKER)
  assert.deepEqual(original, copy)
})

test('a view into a larger buffer is converted without its surroundings', async () => {
  const original = await picture('png')
  const larger = new Uint8Array(original.length + 2000)
  larger.set(original, 1000)
  const view = larger.subarray(1000, 1000 + original.length)
  assert.deepEqual(
    await codec.convert(view, { format: 'jpeg', quality: 80 }, ASKER),
    await codec.convert(original, { format: 'jpeg', quality: 80 }, ASKER),
  )
})

for (const from of ['png', 'webp'] as const) {
  test(`what is transparent in ${from} is white in jpeg, and stays transparent elsewhere`, async () => {
    const original = await picture(from, { alpha: 0 })
    const white = await pixelAt(await codec.convert(original, { format: 'jpeg', quality: 100 }, ASKER), 5, 5)
    assert.equal(white.length, 3)
    assert.ok(
      white.every((value) => value >= 253),
      white.join(),
    )
    for (const to of ['png', 'webp'] as const) {
      const kept = await pixelAt(
        await codec.convert(original, { format: to, quality: undefined }, ASKER),
        5,
        5,
      )
      assert.equal(kept[3], 0)
    }
  })
}

test('quality makes jpeg and webp smaller, from 0 on; left out, it is 100; png has none', async () => {
  const original = await picture('png')
  const sizes = async (format: ImageFormat, qualities: (number | undefined)[]): Promise<number[]> =>
    Promise.all(
      qualities.map(async (quality) => (await codec.convert(original, { format, quality }, ASKER)).length),
    )
  for (const format of ['jpeg', 'webp'] as const) {
    const [worst = 0, middle = 0, best = 0, unasked] = await sizes(format, [0, 50, 100, undefined])
    assert.ok(worst < middle && middle < best, `${format}: ${worst}, ${middle}, ${best}`)
    assert.equal(unasked, best)
  }
  const [low, high] = await sizes('png', [1, 100])
  assert.equal(low, high)
  for (const quality of [-1, 101, 1.5, Number.NaN])
    await assert.rejects(codec.convert(original, { format: 'jpeg', quality }, ASKER), RangeError)
})

test('a picture that lies on its side by a note alone still looks the same', async () => {
  const turned = new Uint8Array(
    await sharp(await picture('jpeg'))
      .withMetadata({ orientation: 6 })
      .jpeg({ quality: 100 })
      .toBuffer(),
  )
  const { width, height, orientation } = await sharp(
    await codec.convert(turned, { format: 'png', quality: undefined }, ASKER),
  ).metadata()
  assert.deepEqual([width, height, orientation], [64, 96, undefined])
})

test('bytes that are no picture, or not all of one, are unreadable', async () => {
  for (const format of FORMATS) {
    const original = await picture(format, { width: 400, height: 300 })
    const cut = original.slice(0, original.length / 2)
    await assert.rejects(
      codec.convert(cut, { format: 'png', quality: undefined }, ASKER),
      PictureUnreadable,
      format,
    )
  }
  const damaged = await picture('png', { width: 400, height: 300 })
  damaged.fill(0x55, 3000, 4000)
  for (const bytes of [damaged, new Uint8Array(), new TextEncoder().encode('not a picture')])
    await assert.rejects(codec.convert(bytes, { format: 'webp', quality: 5 }, ASKER), PictureUnreadable)
})

test('a format that is not ours is not even looked at', async () => {
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
  const pixel = sharp({ create: { width: 9, height: 9, channels: 3, background: 'red' } })
  const foreign = [
    Buffer.from(svg),
    await pixel.clone().gif().toBuffer(),
    await pixel.clone().tiff().toBuffer(),
  ]
  for (const bytes of foreign)
    await assert.rejects(codec.convert(new Uint8Array(bytes), { format: 'png', quality: undefined }, ASKER), {
      name: 'PictureUnreadable',
      message: /unsupported image format/,
    })
})

test('a small file that unfolds to more than 50 megapixels is unreadable', async () => {
  const bomb = await sharp({ create: { width: 10_000, height: 5001, channels: 3, background: 'red' } })
    .png({ compressionLevel: 9 })
    .toBuffer()
  await assert.rejects(
    codec.convert(new Uint8Array(bomb), { format: 'jpeg', quality: 80 }, ASKER),
    PictureUnreadable,
  )
})

test('a picture wider than webp can be says so, and is not called unreadable', async () => {
  const wide = await sharp({ create: { width: 16_384, height: 2, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  await assert.rejects(
    codec.convert(new Uint8Array(wide), { format: 'webp', quality: 80 }, ASKER),
    RangeError,
  )
  const jpeg = await codec.convert(new Uint8Array(wide), { format: 'jpeg', quality: 80 }, ASKER)
  assert.equal((await sharp(jpeg).metadata()).width, 16_384)
})

test('pictures that are converted at once have at most 50 megapixels together, are two at most, and leave a core to the event loop', async () => {
  const sized = (width: number, height: number): Promise<Uint8Array<ArrayBuffer>> =>
    sharp({ create: { width, height, channels: 3, background: 'red' } })
      .png()
      .toBuffer()
      .then((bytes) => new Uint8Array(bytes))
  assert.equal(roomFor(await sized(8, 8), 8), 25_000_000)
  assert.equal(roomFor(await sized(6000, 5000), 8), 30_000_000)
  assert.equal(roomFor(new Uint8Array(3), 8), 25_000_000)
  for (const cores of [1, 2]) assert.equal(roomFor(await sized(8, 8), cores), 50_000_000)
})

test('a project with many pictures waits for itself, not the others for it', async () => {
  const original = await picture('png')
  const ended: string[] = []
  const asked = async (project: string): Promise<void> => {
    await codec.convert(original, { format: 'webp', quality: 80 }, { ...ASKER, project })
    ended.push(project)
  }
  await Promise.all([...Array.from({ length: 12 }, () => asked('many')), asked('one')])
  assert.ok(ended.indexOf('one') <= 4, ended.join())
})

test('a picture whose asker has no time left is busy work, not a broken picture', async () => {
  const own = new WorkerImageCodec()
  const late = own.convert(await picture('png'), { format: 'webp', quality: 80 }, { ...ASKER, timeoutMs: 0 })
  await assert.rejects(late, CodecBusy)
  await own.close()
})

test('beyond 32 that wait a picture is refused at once, and those that wait are all converted', async () => {
  const original = await picture('png')
  const outcomes = await Promise.allSettled(
    Array.from({ length: 40 }, () => codec.convert(original, { format: 'webp', quality: 80 }, ASKER)),
  )
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
  assert.equal(refused.length, 40 - 34)
  assert.ok(refused.every(({ reason }) => reason instanceof CodecBusy))
  await codec.convert(original, { format: 'webp', quality: 80 }, ASKER)
})

test('a picture that can’t be read holds no place', async () => {
  const original = await picture('png')
  for (let round = 0; round < 5; round += 1)
    await assert.rejects(codec.convert(new Uint8Array(9), { format: 'png', quality: undefined }, ASKER))
  const sizes = await Promise.all(
    Array.from(
      { length: 30 },
      async () => (await codec.convert(original, { format: 'jpeg', quality: 9 }, ASKER)).length,
    ),
  )
  assert.equal(new Set(sizes).size, 1)
})

test('ten pictures of 2048 × 2048 are converted while the event loop goes on', async () => {
  const original = await picture('png', { width: 2048, height: 2048 })
  await codec.convert(original, { format: 'jpeg', quality: 80 }, ASKER)
  const convertAll = (): Promise<unknown> =>
    Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        codec.convert(original, { format: index % 2 === 0 ? 'jpeg' : 'webp', quality: 80 }, ASKER),
      ),
    )
  const longestMs = await longestRoundMs(MAX_ROUND_MS, convertAll)
  assert.ok(longestMs < MAX_ROUND_MS, `${original.length} bytes held a turn for ${longestMs} ms`)
})
