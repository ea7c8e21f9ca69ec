import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import sharp from 'sharp'
import type { ImageFormat } from '#core/catalog/catalog.ts'
import type { EditCall, GivenBytes, ImageAnswer, ImageCall, Preview } from '#ports/image-upstream.ts'
import { runs } from '#test/support/arbitraries.ts'
import { anImageCall } from '#test/support/images.ts'
import { upstreamFailureOf } from '#test/support/upstream-failure.ts'
import { captionOf } from './caption.ts'
import { sceneOf } from './edit-scene.ts'
import type { EditInput } from './given.ts'
import { DemoImage } from './image.ts'

type Colour = readonly [number, number, number, number]
const RED: Colour = [200, 30, 30, 255]
const BLUE: Colour = [20, 40, 220, 255]
const CLEAR: Colour = [0, 0, 0, 0]
const RUNS = runs(60).numRuns

interface Painted {
  readonly width: number
  readonly height: number
  readonly format?: ImageFormat
  readonly colour: (x: number, y: number) => Colour
}

async function painted({ width, height, format = 'png', colour }: Painted): Promise<Uint8Array<ArrayBuffer>> {
  const pixels = Buffer.alloc(width * height * 4)
  for (let pixel = 0; pixel < width * height; pixel += 1)
    pixels.set(colour(pixel % width, Math.floor(pixel / width)), pixel * 4)
  const picture = sharp(pixels, { raw: { width, height, channels: 4 } }).toFormat(format, { quality: 100 })
  return new Uint8Array(await picture.toBuffer())
}

const given = (bytes: Uint8Array<ArrayBuffer>, format: ImageFormat = 'png'): GivenBytes => ({
  kind: 'bytes',
  format,
  size: bytes.length,
  async *open() {
    yield bytes.subarray(0, 50)
    yield bytes.subarray(50)
  },
})

function callOf(
  edit: Partial<EditCall> & Pick<EditCall, 'pictures'>,
  more: Partial<ImageCall> = {},
): ImageCall {
  return anImageCall({
    prompt: 'a lighthouse',
    timeoutMs: 120_000,
    edit: { mask: undefined, markup: undefined, fidelity: undefined, body: 'multipart', ...edit },
    ...more,
  })
}

const shared = new DemoImage()

async function edited(call: ImageCall): Promise<{ answer: ImageAnswer; previews: readonly Preview[] }> {
  const previews: Preview[] = []
  const events = {
    submitted: () => Promise.resolve(),
    partial: (preview: Preview) => void previews.push(preview),
  }
  return { answer: await shared.generate(call, events), previews }
}

interface Seen {
  readonly width: number
  readonly height: number
  readonly at: (x: number, y: number) => number[]
}

async function seen(bytes: Uint8Array | undefined): Promise<Seen> {
  const picture = sharp(bytes).ensureAlpha().raw()
  const { data, info } = await picture.toBuffer({ resolveWithObject: true })
  const at = (x: number, y: number): number[] => [...data.subarray((y * info.width + x) * 4).subarray(0, 4)]
  return { width: info.width, height: info.height, at }
}

const plain = (width: number, height: number, colour = RED): Promise<Uint8Array<ArrayBuffer>> =>
  painted({ width, height, colour: () => colour })

test('the picture is shown, what the mask marks is hatched, and the others lie on top in small', async () => {
  const mask = await painted({ width: 400, height: 300, colour: (x) => (x < 200 ? CLEAR : RED) })
  const others = [given(await plain(90, 30, BLUE)), given(await plain(30, 90, BLUE), 'png')]
  const call = callOf({ pictures: [given(await plain(400, 300)), ...others], mask: given(mask) })
  const { answer } = await edited(call)
  const { width, height, at } = await seen(answer.pictures[0]?.bytes)
  assert.deepEqual([width, height, answer.echoes['size']], [400, 300, '400x300'])
  assert.deepEqual(at(300, 150), RED)
  const marked = new Set(Array.from({ length: 100 }, (_, x) => at(50 + x, 150).join()))
  assert.equal(marked.size, 2, 'stripes and what is between them')
  assert.ok(!marked.has(RED.join()))
  assert.deepEqual(at(199, 150), [255, 255, 255, 255], 'the border')
  assert.deepEqual(at(370, 40), BLUE, 'the last of the small ones')
  assert.deepEqual(at(305, 40), BLUE, 'the one before it')
  assert.notDeepEqual(at(300, 290), RED, 'the caption')
})

test('a markup is drawn on top, and where it is clear the picture stays', async () => {
  const markup = await painted({ width: 400, height: 300, colour: (x, y) => (x < 9 && y < 9 ? BLUE : CLEAR) })
  const call = callOf({ pictures: [given(await plain(400, 300))], markup: given(markup) })
  const { at } = await seen((await edited(call)).answer.pictures[0]?.bytes)
  assert.deepEqual([at(4, 4), at(100, 100)], [BLUE, RED])
})

test('projects take turns at the thread that draws', async () => {
  const bytes = await plain(200, 200)
  const begun: string[] = []
  const ask = (project: string): Promise<unknown> => {
    const picture = given(bytes.slice())
    const open = (): ReturnType<GivenBytes['open']> => {
      begun.push(project)
      return picture.open()
    }
    return edited(callOf({ pictures: [{ ...picture, open }] }, { project }))
  }
  await Promise.all([...Array.from({ length: 10 }, () => ask('flood')), ask('neighbour')])
  // Two are drawn concurrently. The flood waited first, so the next turn is its own, and the turn after that
  // the neighbour's.
  assert.equal(begun.indexOf('neighbour'), 3, begun.join())
})

test('as many pictures and previews come as were asked for, and each preview shows more of the prompt', async () => {
  const pictures = [given(await plain(512, 512))]
  const call = callOf({ pictures }, { images: 2, partialImages: 2, prompt: 'a cat '.repeat(20) })
  const { answer, previews } = await edited(call)
  assert.equal(answer.pictures.length, 2)
  assert.deepEqual(
    previews.map(({ index, echoes }) => [index, echoes['size']]),
    [
      [0, '512x512'],
      [1, '512x512'],
    ],
  )
  const ink = async (bytes: Uint8Array | undefined): Promise<number> => {
    const { at } = await seen(bytes)
    let count = 0
    for (let y = 300; y < 512; y += 1) for (let x = 0; x < 512; x += 1) if (at(x, y)[1] === 250) count += 1
    return count
  }
  const shown = [
    await ink(previews[0]?.bytes),
    await ink(previews[1]?.bytes),
    await ink(answer.pictures[0]?.bytes),
  ]
  assert.ok(shown[0]! > 0 && shown[0]! < shown[1]! && shown[1]! < shown[2]!, shown.join())
})

const input = (
  bytes: Uint8Array<ArrayBuffer>,
  field: EditInput['field'] = 'image',
  format: ImageFormat = 'png',
): EditInput => ({ field, number: 1, format, bytes })

const SIZES: readonly (readonly [given: string, asked: string | undefined, made: string])[] = [
  ['64x48', undefined, '64x48'],
  ['1x1', undefined, '1x1'],
  ['1x16384', undefined, '1x2048'],
  ['4096x1024', undefined, '2048x512'],
  ['2049x2048', undefined, '2048x2047'],
  ['64x48', '512x512', '512x512'],
  ['3000x100', '64x1024', '64x1024'],
]

for (const [from, asked, made] of SIZES) {
  test(`of a picture of ${from}, asked for ${asked ?? 'no size'}, one of ${made} is made`, async () => {
    const sizeOf = (text: string): { width: number; height: number } => {
      const [width = 0, height = 0] = text.split('x').map(Number)
      return { width, height }
    }
    const { width, height } = sizeOf(from)
    const bytes = await sharp({ create: { width, height, channels: 3, background: 'red' } })
      .png()
      .toBuffer()
    const task = { prompt: 'a', images: 1, previews: 0, isTransparent: false }
    const size = asked === undefined ? undefined : sizeOf(asked)
    const scene = await sceneOf({ ...task, inputs: [input(new Uint8Array(bytes))], size })
    assert.equal(`${scene.width}x${scene.height}`, made)
  })
}

test('a picture that is turned by a note is shown upright', async () => {
  const turned = await sharp(await plain(60, 40))
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer()
  const task = { prompt: 'a', images: 1, previews: 0, isTransparent: false, size: undefined }
  const scene = await sceneOf({ ...task, inputs: [input(new Uint8Array(turned), 'image', 'jpeg')] })
  assert.deepEqual([scene.width, scene.height], [40, 60])
})

test('exactly the pixels that are fully transparent are marked, also those of 16 bits', async () => {
  const size = fc.integer({ min: 1, max: 70 })
  const shapes = fc.record({
    width: size,
    height: size,
    others: fc.nat(15),
    seed: fc.nat(),
    isDeep: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(shapes, async ({ width, height, others, seed, isDeep }) => {
      // Two halves, so that there are pixels far from the border.
      const isMarked = (x: number): boolean => x < seed % (width + 1)
      const alphas = Uint16Array.from({ length: width * height * 4 }, (_, index) =>
        index % 4 === 3 && isMarked(((index - 3) / 4) % width) ? 0 : isDeep ? 1 : 255,
      )
      const raw = { width, height, channels: 4 } as const
      const mask = isDeep
        ? sharp(alphas, { raw: { ...raw } }).toColourspace('rgb16')
        : sharp(Uint8Array.from(alphas), { raw })
      const inputs = [
        input(await plain(width, height)),
        ...(await Promise.all(Array.from({ length: others }, async () => input(await plain(5, 7, BLUE))))),
        input(new Uint8Array(await mask.png().toBuffer()), 'mask'),
      ]
      const task = { prompt: 'a', images: 1, previews: 0, isTransparent: false, size: undefined }
      const { pixels } = await sceneOf({
        ...task,
        inputs: inputs.filter((_, index) => index === 0 || index > others),
      })
      for (let pixel = 0; pixel < width * height; pixel += 1) {
        const near = [-2, -1, 0, 1, 2].map((step) => isMarked((pixel % width) + step))
        if (new Set(near).size > 1) continue
        assert.equal(
          !pixels.subarray(pixel * 4, pixel * 4 + 4).equals(Buffer.from(RED)),
          near[0],
          `at ${pixel}`,
        )
      }
      // With thumbnails on top nothing fails, whatever the size.
      const whole = await sceneOf({ ...task, inputs })
      const caption = captionOf({ prompt: 'a', notes: ['b'], progress: 1 }, whole)
      assert.ok((caption?.height ?? 0) <= height / 2)
    }),
    { numRuns: RUNS },
  )
})

test('a file that is no picture, not all of one, or too large is refused by its field and costs nothing', async () => {
  const good = await plain(200, 150)
  const text = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
  const bomb = await sharp({ create: { width: 10_000, height: 5001, channels: 3, background: 'red' } })
    .png({ compressionLevel: 9 })
    .toBuffer()
  const cut = good.slice(0, good.length / 2)
  const cases: readonly (readonly [edit: Parameters<typeof callOf>[0], param: string, words: RegExp])[] = [
    [{ pictures: [given(text)] }, 'image', /^picture 1 is not png$/],
    [{ pictures: [given(new Uint8Array())] }, 'image', /^picture 1 is not png$/],
    [{ pictures: [given(cut)] }, 'image', /^picture 1 can't be read/],
    [{ pictures: [given(new Uint8Array(bomb))] }, 'image', /^picture 1 can't be read: .*pixel limit/],
    [{ pictures: [given(good), given(cut)] }, 'image', /^picture 2 can't be read/],
    [{ pictures: [given(good)], mask: given(cut) }, 'mask', /^the mask can't be read/],
    [{ pictures: [given(good)], markup: given(good, 'webp') }, 'markup', /^the markup is not webp$/],
    [{ pictures: [given(good)], fidelity: 'high' }, 'input_fidelity', /knows no input_fidelity/],
    [{ pictures: [{ kind: 'address', url: 'https://example.com' }] }, 'image', /files alone/],
    [
      { pictures: [given(good)], mask: { kind: 'address', url: 'https://example.com' } },
      'mask',
      /files alone/,
    ],
  ]
  for (const [edit, param, words] of cases) {
    const { kind, detail, mayBeCharged, message } = await upstreamFailureOf(edited(callOf(edit)))
    assert.deepEqual([kind, detail.param, mayBeCharged], ['refused', param, false])
    assert.match(message, words)
  }
})

test('a file that ends early, or a drawing that is not done in time, costs nothing either', async () => {
  const good = given(await plain(200, 200))
  const large = await sharp({ create: { width: 7000, height: 7000, channels: 4, background: 'red' } })
    .png()
    .toBuffer()
  const cases: readonly (readonly [ImageCall, string])[] = [
    [callOf({ pictures: [{ ...good, size: good.size + 1, open: () => good.open() }] }), 'failed'],
    [callOf({ pictures: [{ ...good, size: good.size - 1, open: () => good.open() }] }), 'failed'],
    [callOf({ pictures: [good] }, { timeoutMs: 1 }), 'timedOut'],
    [callOf({ pictures: [given(new Uint8Array(large))] }, { timeoutMs: 300 }), 'timedOut'],
  ]
  for (const [call, kind] of cases) {
    const failure = await upstreamFailureOf(edited(call))
    assert.deepEqual([failure.kind, failure.mayBeCharged], [kind, false])
  }
})

test('two are drawn at once and 64 wait; one more is told to come later', async () => {
  const gone = Promise.withResolvers<never>()
  const stuck: GivenBytes = { kind: 'bytes', format: 'png', size: 9, open: () => waitFor(gone.promise) }
  const demo = new DemoImage()
  const events = { submitted: () => Promise.resolve(), partial: () => {} }
  const waiting = Array.from({ length: 66 }, () => demo.generate(callOf({ pictures: [stuck] }), events))
  await assert.rejects(demo.generate(callOf({ pictures: [stuck] }), events), { kind: 'rateLimited' })
  gone.reject(new Error('the disk is away'))
  const outcomes = await Promise.allSettled(waiting)
  assert.ok(outcomes.every((outcome) => outcome.status === 'rejected' && outcome.reason.kind === 'failed'))
  await demo.generate(callOf({ pictures: [given(await plain(9, 9))] }), events)
})

async function* waitFor(gone: Promise<never>): AsyncGenerator<Uint8Array> {
  yield await gone
}

test('without pictures the prompt is drawn, in the size that was asked for', async () => {
  const { answer } = await edited({
    ...callOf({ pictures: [] }, { size: { width: 90, height: 70 } }),
    edit: undefined,
  })
  const { width, height } = await seen(answer.pictures[0]?.bytes)
  assert.deepEqual([width, height], [90, 70])
})
