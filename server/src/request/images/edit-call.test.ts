import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GivenFile, ImageEdit } from '#core/image/given.ts'
import type { ImageOffer } from '#core/image/negotiate.ts'
import { CodecBusy, PictureUnreadable, type ImageCodec } from '#ports/image-codec.ts'
import type { GivenBytes } from '#ports/image-upstream.ts'
import { anImageDeployment } from '#test/support/images.ts'
import { EditInputs } from './edit-call.ts'
import type { RequestFiles } from './files.ts'

const contents: Readonly<Record<string, string>> = {
  first: 'one picture',
  second: 'another',
  mask: 'the mask',
}
const given = (name: string): GivenFile => ({
  kind: 'file',
  sha256: name,
  bytes: contents[name]?.length ?? 0,
  format: 'png',
  width: 1,
  height: 1,
  hasAlpha: true,
  isTurned: false,
})
const edit: ImageEdit = {
  pictures: [given('first'), { kind: 'address', url: 'https://a.example/b' }, given('second')],
  mask: given('mask'),
  markup: undefined,
  fidelity: 'high',
}

const DEADLINE_MS = 10_000
let nowMs = 0
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }

function inputs(colourMask: ImageCodec['colourMask'] = async () => new Uint8Array([7])): {
  readonly made: EditInputs
  readonly opened: string[]
} {
  const opened: string[] = []
  const files: RequestFiles = {
    async *open(sha256) {
      opened.push(sha256)
      yield Buffer.from(contents[sha256] ?? '')
    },
    async discard() {},
  }
  const codec = { convert: async (bytes: Uint8Array<ArrayBuffer>) => bytes, colourMask }
  return {
    made: new EditInputs(edit, files, 'p', { codec, clock, wait: async (ms) => void (nowMs += ms) }),
    opened,
  }
}

function offer(maskColour?: 'white' | 'black', dialect: 'openai' | 'ai-sdk' = 'openai'): ImageOffer {
  const usual = anImageDeployment()
  const deployment = { ...usual, upstream: { ...usual.upstream, dialect } }
  return { deployment, edit: { body: 'multipart', maskColour, fidelity: 'low' } } as ImageOffer
}

async function text(picture: unknown): Promise<string> {
  return Buffer.concat(await Array.fromAsync((picture as GivenBytes).open())).toString()
}

test('files are handed on as they came, in order, and can be opened again for another deployment', async () => {
  const { made } = inputs()
  const call = await made.callFor(offer(), DEADLINE_MS)
  assert.equal(call?.pictures.length, 3)
  assert.equal(await text(call?.pictures[0]), 'one picture')
  assert.equal(await text(call?.pictures[0]), 'one picture')
  assert.deepEqual(call?.pictures[1], { kind: 'address', url: 'https://a.example/b' })
  assert.equal(await text(call?.pictures[2]), 'another')
  assert.equal(await text(call?.mask), 'the mask')
  assert.equal(call?.fidelity, 'low', 'what was negotiated counts, not what was asked for')
})

test('a mask is made into a coloured one once, however many calls need it', async () => {
  let made = 0
  const { made: parts } = inputs(async (bytes, colour) => {
    made += 1
    return new TextEncoder().encode(`${Buffer.from(bytes).toString()} in ${colour}`)
  })
  const [one, other] = await Promise.all([
    parts.callFor(offer('white'), DEADLINE_MS),
    parts.callFor(offer('white'), DEADLINE_MS),
  ])
  assert.equal(await text(one?.mask), 'the mask in white')
  assert.equal(await text(other?.mask), 'the mask in white')
  assert.equal(made, 1)
})

test('a codec that is busy is asked again; a mask that can’t be used is the caller’s fault', async () => {
  let asked = 0
  const { made } = inputs(async () => {
    asked += 1
    if (asked === 1) throw new CodecBusy('busy')
    throw new PictureUnreadable('marks nothing')
  })
  await assert.rejects(made.callFor(offer('black'), DEADLINE_MS), {
    code: 'invalid_image_file',
    param: 'mask',
  })
  assert.equal(asked, 2)
})

test('a codec that stays busy costs the request its time, not more', async () => {
  const { made, opened } = inputs(async () => {
    throw new CodecBusy('busy')
  })
  await assert.rejects(made.callFor(offer('black'), nowMs + 2000), {
    kind: 'timedOut',
    detail: { deployment: anImageDeployment().id, charge: 'none' },
  })
  assert.deepEqual(opened, ['mask'], 'read once, however often the codec is asked')
})

test('nothing is opened for a call that an upstream has taken already', async () => {
  const { made, opened } = inputs()
  assert.ok(await made.callFor(offer('white'), DEADLINE_MS, true))
  assert.deepEqual(opened, [])
})

test('only what can’t be streamed counts as memory', () => {
  const { made } = inputs()
  const all = 'one pictureanotherthe mask'.length
  assert.equal(made.bufferedBytes(offer()), 0)
  assert.equal(made.bufferedBytes(offer('white')), 'the mask'.length)
  assert.equal(made.bufferedBytes(offer(undefined, 'ai-sdk')), 4 * all)
})
