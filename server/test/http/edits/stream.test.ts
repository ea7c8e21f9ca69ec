/** Edits event by event, and the dry run of an edit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI, { toFile } from 'openai'
import {
  aMask,
  aPicture,
  askForm,
  askJson,
  EDITS,
  editsAt,
  fidelityOf,
  filePart,
  references,
  uploadsGone,
} from '#test/support/edits.ts'
import { startGateway } from '#test/support/gateway.ts'
import {
  assertImageFault,
  billedPictures,
  eventsIn,
  pictureOf,
  picturesIn,
  sha256,
  type ImageEvent,
} from '#test/support/image-answers.ts'

const streams = { stream: true, maxPartialImages: 3, maxImages: 4 }
const price = { usdPerImage: 0.04 }
const gateway = await startGateway({
  images: {
    'live-image': { on: 'plain', capabilities: { ...streams, edits: EDITS }, price },
    'json-image': { on: 'json-only', capabilities: { ...streams, edits: { bodies: ['json'] } } },
    'deaf-image': { on: 'refuses-stream', capabilities: { edits: EDITS }, price },
    'cut-image': { on: 'sse-cut', capabilities: { ...streams, edits: EDITS } },
    'white-image': {
      on: 'mask-white+max-n-1',
      capabilities: { edits: { mask: 'white' }, maxImages: 1 },
      price,
    },
    'polled-image': {
      on: 'polls-1',
      upstream: { base: 'bfl/v1', dialect: 'ai-sdk', provider: 'black-forest-labs' },
      upstreamModel: 'flux-kontext-pro',
      capabilities: { formats: ['jpeg', 'png'], edits: {} },
    },
  },
})
const { provider } = gateway
const PREVIEW = 'image_edit.partial_image'
const DONE = 'image_edit.completed'
const kinds = (events: readonly ImageEvent[]): string[] => events.map(({ data }) => data.type)

const picture = await aPicture(40, 30)
const isEdited = (x: number, y: number): boolean => (x + y) % 3 === 0
const mask = await aMask(40, 30, isEdited)
const files = [filePart('image', picture), filePart('mask', mask)]
const image = [filePart('image', picture)]

for (const [model, scenario] of [
  ['live-image', 'plain'],
  ['json-image', 'json-only'],
] as const) {
  test(`${model}: previews and the picture come through under the names of edits`, async () => {
    const answer = await askForm(gateway, { model, stream: 'true', partial_images: '2' }, image)
    const events = eventsIn(answer)
    assert.deepEqual(kinds(events), [PREVIEW, PREVIEW, DONE])
    for (const { name, data } of events) assert.equal(name, data.type)
    assert.deepEqual(billedPictures(provider, scenario), [sha256(pictureOf(events[2] as ImageEvent))])
    assert.ok((events[2]?.data.usage?.input_tokens ?? 0) > 100)
  })
}

test('the picture of a stream is changed where the mask says, and nowhere else', async () => {
  const fields = { model: 'live-image', stream: true, images: references(picture), mask: references(mask)[0] }
  const [event] = eventsIn(await askJson(gateway, fields))
  const fidelity = await fidelityOf(picture, pictureOf(event as ImageEvent), isEdited)
  assert.deepEqual([fidelity.wrong, fidelity.unchanged], [0, 0])
})

test('an upstream that can not stream gives one event at the end, and the headers say what was emulated', async () => {
  for (const [model, given, emulated] of [
    ['deaf-image', files, 'stream'],
    ['white-image', files, 'mask, stream'],
    ['polled-image', image, 'response_format, stream'],
  ] as const) {
    const answer = await askForm(gateway, { model, stream: 'true' }, given)
    const events = eventsIn(answer)
    assert.deepEqual(kinds(events), [DONE], model)
    assert.ok(billedPictures(provider).includes(sha256(pictureOf(events[0] as ImageEvent))), model)
    assert.equal(answer.headers.get('x-torana-emulated')?.replaceAll(/, ?/g, ', '), emulated)
  }
})

test('a stream that breaks ends with an error event, and the edit is not begun again', async () => {
  const headers = { 'idempotency-key': 'broken' }
  const texts = { model: 'cut-image', stream: 'true', partial_images: '1' }
  const events = eventsIn(await askForm(gateway, texts, image, { headers }))
  assert.deepEqual(kinds(events), [PREVIEW, 'error'])
  assert.equal(events[1]?.data.error?.code, 'outcome_unknown')
  assertImageFault(await askForm(gateway, texts, image, { headers }), 'outcome_unknown')
  assert.equal(editsAt(provider, 'sse-cut').length, 1)
})

test('a translated mask is reported', async () => {
  const answer = await askForm(gateway, { model: 'white-image', n: '2' }, files)
  for (const made of await picturesIn(answer)) {
    const { wrong, unchanged } = await fidelityOf(picture, made, isEdited)
    assert.deepEqual([wrong, unchanged], [0, 0])
  }
  assert.deepEqual(answer.headers.get('x-torana-emulated')?.split(/, ?/).toSorted(), ['mask', 'n'])
  const without = await askForm(gateway, { model: 'white-image' }, image)
  assert.equal(without.headers.get('x-torana-emulated'), null)
})

test('a dry run says what would happen; nothing is sent, and no file is left', async () => {
  const before = provider.calls().length
  const headers = { 'x-torana-dry-run': '1' }
  const answer = await askForm(gateway, { model: 'white-image', n: '2' }, files, { headers })
  assert.equal(answer.status, 200, answer.text)
  const { object, deployments } = answer.body as unknown as {
    object: string
    deployments: readonly { calls: number; emulated: string[]; cost_usd: { max: string } }[]
  }
  assert.equal(object, 'torana.dry_run')
  assert.deepEqual(
    deployments.map(({ calls, emulated, cost_usd: { max } }) => [calls, emulated.toSorted(), max]),
    [[2, ['mask', 'n'], '0.080000000']],
  )
  assertImageFault(
    await askForm(gateway, { model: 'polled-image' }, files, { headers }),
    'unsupported_parameter',
    { param: 'mask' },
  )
  assert.equal(provider.calls().length, before)
  await uploadsGone(gateway)
})

test('OpenAI’s SDK reads the events as its own', async () => {
  const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const seen: string[] = []
  const events = await client.images.edit({
    model: 'live-image',
    prompt: 'a blue bicycle',
    image: await toFile(picture, 'a.png', { type: 'image/png' }),
    stream: true,
    partial_images: 2,
  })
  for await (const event of events) seen.push(event.type)
  assert.deepEqual(seen, [PREVIEW, PREVIEW, DONE])
})
