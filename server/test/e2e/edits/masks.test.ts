/**
 * Mask fidelity: whichever way a mask came and whichever way an upstream reads it, exactly the pixels change that the
 * caller marked. The fake provider paints where the mask that it was given says so; here the answer is compared with the
 * original.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import {
  aMask,
  aPicture,
  askForm,
  askJson,
  editsAt,
  fidelityOf,
  filePart,
  references,
  type Fidelity,
  type Region,
} from '#test/support/edits.ts'
import { startGateway, type ImageModelSpec } from '#test/support/gateway.ts'
import { assertImageFault, picturesIn } from '#test/support/image-answers.ts'

const [WIDTH, HEIGHT] = [40, 30]

function overSdk(provider: string, base: string, upstreamModel: string, mask: string): ImageModelSpec {
  return {
    on: `polls-0+key-${provider}`,
    upstream: { base, dialect: 'ai-sdk', provider },
    upstreamModel,
    // The first is the default; PNG keeps every bit.
    capabilities: { formats: provider === 'amazon-bedrock' ? ['png'] : ['jpeg', 'png'], edits: { mask } },
  }
}

const json = { bodies: ['json'] }
/** Every way on which a mask can reach an upstream. */
const PATHS = {
  'a form, alpha': { on: 'plain', capabilities: { edits: { mask: 'alpha' } } },
  'JSON, alpha': { on: 'json-only', capabilities: { edits: { mask: 'alpha', ...json } } },
  Azure: {
    on: 'plain+key-azure',
    upstream: { base: 'azure/openai', dialect: 'azure' },
    capabilities: { edits: { mask: 'alpha' } },
  },
  'a form, white': { on: 'mask-white', capabilities: { edits: { mask: 'white' } } },
  'a form, black': { on: 'mask-black', capabilities: { edits: { mask: 'black' } } },
  'JSON, white': { on: 'json-only+mask-white', capabilities: { edits: { mask: 'white', ...json } } },
  'JSON, black': { on: 'json-only+mask-black', capabilities: { edits: { mask: 'black', ...json } } },
  'Black Forest Labs': overSdk('black-forest-labs', 'bfl/v1', 'flux-pro-1.0-fill', 'white'),
  fal: overSdk('fal', 'fal', 'fal-ai/flux-pro/v1/fill', 'white'),
  Replicate: overSdk('replicate', 'replicate/v1', 'black-forest-labs/flux-fill-pro', 'white'),
  Bedrock: overSdk('amazon-bedrock', 'bedrock', 'amazon.nova-canvas-v1:0', 'black'),
} satisfies Record<string, ImageModelSpec>
type Path = keyof typeof PATHS
const AS_IT_CAME: ReadonlySet<Path> = new Set(['a form, alpha', 'JSON, alpha', 'Azure'])

const idOf = (path: string): string => `${path.toLowerCase().replaceAll(/[^a-z]+/g, '-')}-image`
const gateway = await startGateway({
  images: {
    ...Object.fromEntries(Object.entries(PATHS).map(([path, spec]) => [idOf(path), spec])),
    'careless-image': { on: 'ignores-mask', capabilities: { edits: { mask: 'alpha' } } },
    'misread-image': { on: 'mask-black+key-misread', capabilities: { edits: { mask: 'white' } } },
  },
})

interface Drawn {
  readonly what: string
  readonly isEdited: Region
  readonly mask: Buffer
  /** Another one than that of all. */
  readonly picture?: Buffer
  /** A reader of eight bits takes it for transparent: then Torana must have converted the mask with all bits. */
  readonly isTooFine?: boolean
}

const edges: Region = (x, y) => x === 0 || y === 0 || x === WIDTH - 1 || y === HEIGHT - 1
const checkerboard: Region = (x, y) => (x + y) % 2 === 0
const blob: Region = (x, y) => (x - 20) ** 2 + (y - 15) ** 2 < 60
/** From 1 to 254, all around what is to change. */
const soft = (x: number, y: number): number => 1 + ((x * 7 + y * 13) % 254)

async function deepMask(isEdited: Region, opacity: (at: number) => number): Promise<Buffer> {
  const pixels = new Uint16Array(WIDTH * HEIGHT * 4).fill(30_000)
  for (let at = 0; at < WIDTH * HEIGHT; at += 1)
    pixels[at * 4 + 3] = isEdited(at % WIDTH, Math.floor(at / WIDTH)) ? 0 : opacity(at)
  const bytes = await sharp(pixels, { raw: { width: WIDTH, height: HEIGHT, channels: 4 } })
    .toColourspace('rgb16')
    .png()
    .toBuffer()
  const { depth, hasAlpha } = await sharp(bytes).metadata()
  assert.deepEqual([depth, hasAlpha], ['ushort', true])
  return bytes
}

async function repacked(isEdited: Region, as: 'palette' | 'grey'): Promise<Buffer> {
  const mask = sharp(await aMask(WIDTH, HEIGHT, isEdited))
  const bytes = await (
    as === 'palette' ? mask.png({ palette: true }) : mask.toColourspace('b-w').png()
  ).toBuffer()
  // The header of a PNG holds the kind of its colours: 3 is a palette, 4 grey and alpha.
  assert.equal(bytes[25], as === 'palette' ? 3 : 4)
  return bytes
}

const picture = await aPicture(WIDTH, HEIGHT)
const only =
  (left: number, top: number): Region =>
  (x, y) =>
    x === left && y === top
const drawn = async (what: string, isEdited: Region, opacity?: typeof soft): Promise<Drawn> => ({
  what,
  isEdited,
  mask: await aMask(WIDTH, HEIGHT, isEdited, opacity),
})
/** Stored lying on its side; people draw a mask for it upright. */
const turned = await sharp(await aPicture(HEIGHT, WIDTH))
  .flatten()
  .withMetadata({ orientation: 6 })
  .jpeg()
  .toBuffer()

const MASKS: readonly Drawn[] = [
  await drawn('a single pixel', only(17, 11)),
  await drawn('the first pixel', only(0, 0)),
  await drawn('the last pixel', only(WIDTH - 1, HEIGHT - 1)),
  await drawn('all but one pixel', (x, y) => !only(3, 29)(x, y)),
  await drawn('the border', edges),
  await drawn('a checkerboard', checkerboard),
  await drawn('everything', () => true),
  await drawn('soft edges, which are not to change', blob, soft),
  { what: '16 bits', isEdited: blob, mask: await deepMask(blob, (at) => 256 + ((at * 977) % 65_000)) },
  {
    what: '16 bits, of which the lower ones alone are set',
    isEdited: checkerboard,
    mask: await deepMask(checkerboard, (at) => 1 + (at % 100)),
    isTooFine: true,
  },
  { what: 'a palette', isEdited: blob, mask: await repacked(blob, 'palette') },
  { what: 'grey and alpha', isEdited: checkerboard, mask: await repacked(checkerboard, 'grey') },
  {
    what: 'a picture that is to be turned',
    isEdited: blob,
    mask: await aMask(WIDTH, HEIGHT, blob),
    picture: turned,
  },
]

type Caller = 'form' | 'json'
/** In turn: once the files are on disk, all goes the same way. */
const CALLERS: readonly Caller[] = ['form', 'json']

async function fidelityAt(
  model: string,
  by: Caller,
  { isEdited, mask, picture: own = picture }: Drawn,
): Promise<Fidelity> {
  const texts = { model, output_format: 'png' }
  const answer =
    by === 'form'
      ? await askForm(gateway, texts, [filePart('image', own), filePart('mask', mask)])
      : await askJson(gateway, { ...texts, images: references(own), mask: references(mask)[0] })
  const [made] = await picturesIn(answer)
  return fidelityOf(own, made as Buffer, isEdited)
}

for (const path of Object.keys(PATHS) as Path[]) {
  const { on } = PATHS[path]
  const isTranslated = !AS_IT_CAME.has(path)
  test(`${path}: no pixel changes that is not to, and none stays that is to change`, async () => {
    const masks = MASKS.filter(({ isTooFine }) => isTranslated || !isTooFine)
    const checks = masks.map((mask, index) => ({ mask, by: CALLERS[index % 2] ?? 'form' }))
    await Promise.all(
      checks.map(async ({ mask, by }) => {
        const { wrong, unchanged, edited } = await fidelityAt(idOf(path), by, mask)
        assert.ok(edited > 0)
        assert.deepEqual({ wrong, unchanged }, { wrong: 0, unchanged: 0 }, `${mask.what}, by ${by}`)
      }),
    )
    const painted = editsAt(gateway.provider, String(on)).filter((entry) => entry.painted)
    assert.equal(painted.length, checks.length, 'the check looked at drawings')
  })
}

test('the check fails at an upstream that ignores the mask, and at one that reads it the other way', async () => {
  const mask = await drawn('the left', (x) => x < 10)
  const careless = await fidelityAt('careless-image', 'form', mask)
  assert.deepEqual(careless, { wrong: 30 * HEIGHT, unchanged: 0, edited: 10 * HEIGHT })
  const misread = await fidelityAt('misread-image', 'form', mask)
  assert.deepEqual(misread, { wrong: 30 * HEIGHT, unchanged: 10 * HEIGHT, edited: 10 * HEIGHT })
})

test('a mask that marks nothing can not be translated: refused, and nothing is sent', async () => {
  const before = gateway.provider.calls().length
  const faint = await aMask(WIDTH, HEIGHT, () => false, soft)
  for (const path of ['a form, white', 'JSON, black', 'fal'] as const) {
    const answer = await askForm(gateway, { model: idOf(path) }, [
      filePart('image', picture),
      filePart('mask', faint),
    ])
    assertImageFault(answer, 'invalid_image_file', { param: 'mask', words: /marks nothing/ })
  }
  assert.equal(gateway.provider.calls().length, before)
})
