/** Images event by event: previews as they come, each image once it is done, and a failure as an event of its own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI from 'openai'
import sharp from 'sharp'
import { startGateway } from '#test/support/gateway.ts'
import {
  askImages,
  assertImageFault,
  billedPictures,
  eventsIn,
  pictureOf,
  purchasesAt,
  servedBy,
  sha256,
  type ImageEvent,
} from '#test/support/image-answers.ts'

const streams = { stream: true, maxPartialImages: 3, maxImages: 4 }
const gateway = await startGateway({
  images: {
    'live-image': { on: 'plain', capabilities: streams, price: { usdPerImage: 0.04 } },
    'crlf-image': { on: 'sse-crlf+sse-comments+chunked-1000', capabilities: streams },
    'done-image': { on: 'sse-done', capabilities: streams },
    'slow-image': { on: 'event-gap-400', capabilities: streams },
    'deaf-image': { on: 'refuses-stream+max-n-1', price: { usdPerImage: 0.04 } },
    'mute-image': {
      on: 'no-echo+no-usage',
      capabilities: { ...streams, qualities: ['high'], backgrounds: ['opaque'] },
    },
    'bare-image': { on: 'no-echo+no-usage+refuses-stream' },
    'deceiving-image': { on: 'ignores-stream', capabilities: streams },
    'cut-image': { on: 'sse-cut', capabilities: streams },
    'error-image': { on: ['sse-error', 'plain+key-after-error'], capabilities: streams },
    'polled-image': {
      on: 'polls-1',
      upstream: { base: 'bfl/v1', dialect: 'ai-sdk', provider: 'black-forest-labs' },
      upstreamModel: 'flux-pro-1.1',
      capabilities: { formats: ['jpeg'] },
    },
    'moderated-image': { on: 'moderation', capabilities: streams },
    'one-preview-image': { on: 'sse-comments', capabilities: { ...streams, maxPartialImages: 1 } },
    'ignoring-image': { on: 'wrong-format', capabilities: { ...streams, formats: ['png', 'jpeg'] } },
    'converted-image': { on: 'sse-comments', capabilities: { ...streams, formats: ['png'] } },
  },
})
const { provider } = gateway
const stream = (fields: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>> = {}) =>
  askImages(gateway, { stream: true, ...fields }, { headers })
const kinds = (events: readonly ImageEvent[]): (string | undefined)[] => events.map(({ data }) => data.type)

const PREVIEW = 'image_generation.partial_image'
const DONE = 'image_generation.completed'

for (const [what, fields, emulated] of [
  ['a model without a stream', { model: 'bare-image' }, 'stream'],
  [
    'an image that is converted',
    { model: 'converted-image', output_format: 'webp' },
    'output_format, stream',
  ],
] as const) {
  test(`partial_images is a wish: ${what} answers with none`, async () => {
    const answer = await stream({ ...fields, partial_images: 2 })
    assert.equal(answer.status, 200)
    assert.deepEqual(kinds(eventsIn(answer)), [DONE])
    assert.equal(answer.headers.get('x-torana-emulated'), emulated)
  })
}

test('the finished image of a stream whose upstream ignores the format is converted, and its event says so', async () => {
  const answer = await stream({ model: 'ignoring-image', output_format: 'jpeg', partial_images: 1 })
  const events = eventsIn(answer)
  assert.deepEqual(kinds(events), [PREVIEW, DONE])
  const done = events[1]?.data as { output_format?: string; torana?: object }
  const { format } = await sharp(pictureOf(events[1] as ImageEvent)).metadata()
  assert.deepEqual([format, done.output_format], ['jpeg', 'jpeg'])
  assert.deepEqual(done.torana, { provenance: 'none', emulated: ['output_format'] })
})

test('partial_images is a wish: the upstream is asked for as many as it makes', async () => {
  const answer = await stream({ model: 'one-preview-image', partial_images: 3 })
  assert.deepEqual(kinds(eventsIn(answer)), [PREVIEW, DONE])
})

for (const [model, scenario] of [
  ['live-image', 'plain'],
  ['crlf-image', 'sse-crlf+sse-comments+chunked-1000'],
  ['done-image', 'sse-done'],
]) {
  test(`${model}: previews and the picture come through, byte for byte`, async () => {
    const answer = await stream({ model, partial_images: 2, size: '256x256' })
    const events = eventsIn(answer)
    assert.deepEqual(kinds(events), [PREVIEW, PREVIEW, DONE])
    for (const { name, data } of events) assert.equal(name, data.type)
    assert.deepEqual(
      events.map(({ data }) => data.partial_image_index),
      [0, 1, undefined],
    )
    const [first, second, last] = events.map(pictureOf)
    assert.deepEqual(billedPictures(provider, scenario), [sha256(last as Buffer)])
    assert.notEqual(sha256(first as Buffer), sha256(second as Buffer))
    for (const bytes of [first, second, last]) assert.equal((await sharp(bytes).metadata()).width, 256)
    for (const { data } of events) {
      assert.deepEqual([data['size'], data['output_format'], data['quality']], ['256x256', 'png', 'medium'])
      assert.equal(typeof data['created_at'], 'number')
    }
    assert.deepEqual(
      events.map(({ data }) => data.usage?.output_tokens),
      [undefined, undefined, 266],
    )
    assert.equal(answer.headers.get('cache-control'), 'no-cache, no-transform')
  })
}

test('a preview is sent on when it comes, not when all is done', async () => {
  const response = await fetch(`${gateway.url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'slow-image',
      prompt: 'a',
      size: '96x64',
      stream: true,
      partial_images: 2,
    }),
  })
  const pieces: string[] = []
  for await (const piece of response.body ?? [])
    pieces.push(Buffer.from(piece as Uint8Array).toString('latin1'))
  assert.match(pieces[0] ?? '', /^event: image_generation\.partial_image\n/)
  assert.doesNotMatch(pieces[0] ?? '', /completed/)
  assert.match(pieces.join(''), /event: image_generation\.completed\n/)
})

test('an upstream that can not stream gives one event at the end, and the headers say that it was emulated', async () => {
  const answer = await stream({ model: 'deaf-image' })
  const events = eventsIn(answer)
  assert.deepEqual(kinds(events), [DONE])
  assert.ok(billedPictures(provider).includes(sha256(pictureOf(events[0] as ImageEvent))))
  assert.deepEqual(
    ['emulated', 'cost', 'deployment', 'attempts'].map((name) => answer.headers.get(`x-torana-${name}`)),
    ['stream', '0.040000000', 'deaf-image/refuses-stream.max-n-1', '1'],
  )
  assert.match(answer.headers.get('x-torana-job') ?? '', /^[0-9a-f-]{36}$/)
})

test('so does one whose jobs are polled, and one that answers in one piece although it was asked to stream', async () => {
  for (const model of ['polled-image', 'deceiving-image']) {
    const fields = model === 'polled-image' ? { size: '256x256' } : {}
    const events = eventsIn(await stream({ model, ...fields }))
    assert.deepEqual(kinds(events), [DONE], model)
    assert.ok(billedPictures(provider).includes(sha256(pictureOf(events[0] as ImageEvent))), model)
  }
})

test('two pictures are two events, from one call or from several, and the last one tells the usage', async () => {
  for (const model of ['live-image', 'deaf-image']) {
    const events = eventsIn(await stream({ model, n: 2 }))
    assert.deepEqual(kinds(events), [DONE, DONE])
    assert.equal(new Set(events.map((event) => sha256(pictureOf(event)))).size, 2)
    assert.deepEqual(
      events.map(({ data }) => data.usage?.output_tokens),
      [0, 12],
    )
  }
})

test('every event of a picture has all fields of OpenAI’s, whatever the upstream said', async () => {
  const fields = { quality: 'high', background: 'opaque', n: 2 }
  for (const [model, quality, background] of [
    ['live-image', 'medium', 'opaque'],
    ['mute-image', 'high', 'opaque'],
    ['bare-image', 'auto', 'auto'],
  ] as const) {
    const headers = { 'x-torana-unsupported': 'drop' }
    const events = eventsIn(await stream({ model, ...(model === 'mute-image' ? fields : { n: 2 }) }, headers))
    assert.deepEqual(kinds(events), [DONE, DONE], model)
    for (const { data } of events) {
      const { size, output_format: format } = data
      assert.deepEqual(
        [size, format, data['quality'], data['background']],
        ['96x64', 'png', quality, background],
        model,
      )
      const { total_tokens, input_tokens, output_tokens, input_tokens_details } = data.usage as never
      for (const count of [total_tokens, input_tokens, output_tokens])
        assert.ok(Number.isInteger(count), model)
      assert.deepEqual(Object.keys(input_tokens_details), ['text_tokens', 'image_tokens'], model)
    }
  }
  const [event] = eventsIn(
    await stream({ model: 'bare-image', quality: 'high' }, { 'x-torana-unsupported': 'drop' }),
  )
  assert.equal(event?.data['quality'], 'auto')
})

test('a stream may hand over links', async () => {
  const [event] = eventsIn(await stream({ model: 'live-image', response_format: 'url' }))
  const fetched = await fetch(event?.data.url ?? '')
  assert.equal(fetched.status, 200)
  const bytes = Buffer.from(await fetched.arrayBuffer())
  assert.equal(billedPictures(provider, 'plain').at(-1), sha256(bytes))
})

test('an error before the first event is an ordinary answer with its own status', async () => {
  assertImageFault(await stream({ model: 'moderated-image', partial_images: 1 }), 'content_policy_violation')
  assertImageFault(await stream({ model: 'live-image', n: 99 }), 'invalid_parameter', { param: 'n' })
})

for (const [model, scenario] of [
  ['cut-image', 'sse-cut'],
  ['error-image', 'sse-error'],
]) {
  test(`${model}: a stream that breaks ends with an error event, and what was begun is not begun again`, async () => {
    const headers = { 'idempotency-key': `broken-${model}` }
    const events = eventsIn(await stream({ model, partial_images: 1 }, headers))
    assert.deepEqual(kinds(events), [PREVIEW, 'error'])
    const { name, data } = events[1] as ImageEvent
    assert.equal(name, 'error')
    assert.deepEqual(
      [data.error?.code, data.error?.type, data.error?.param],
      ['outcome_unknown', 'upstream_error', null],
    )
    assert.match(data.error?.doc_url ?? '', /\/docs\/errors\/outcome_unknown$/)
    assert.deepEqual(
      [servedBy(provider, scenario).length, servedBy(provider, 'plain+key-after-error')],
      [1, []],
    )

    // A repeated request gets the same answer from the start, without previews.
    assertImageFault(await stream({ model, partial_images: 1 }, headers), 'outcome_unknown')
    assert.equal(purchasesAt(provider, scenario ?? '').length, 1)
  })
}

test('a stream that breaks before its first preview is an ordinary error', async () => {
  assertImageFault(await stream({ model: 'cut-image' }), 'outcome_unknown')
})

test('a dry run is no stream, though a stream was asked for; a job to be polled can not be one, and is refused', async () => {
  const dryRun = await stream({ model: 'live-image' }, { 'x-torana-dry-run': '1' })
  const queued = await stream({ model: 'live-image' }, { prefer: 'respond-async' })
  assert.deepEqual([dryRun.status, queued.status], [200, 400])
  for (const { headers } of [dryRun, queued])
    assert.match(headers.get('content-type') ?? '', /^application\/json/)
})

test('OpenAI’s SDK reads the events as its own', async () => {
  const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const asked = { prompt: 'a red bicycle', size: '96x64', stream: true, partial_images: 2 } as const
  const seen: string[] = []
  let last = ''
  for await (const event of await client.images.generate({ ...asked, model: 'live-image' })) {
    seen.push(event.type)
    last = event.b64_json
    if (event.type === DONE) assert.equal(event.usage.output_tokens, 206)
  }
  assert.deepEqual(seen, [PREVIEW, PREVIEW, DONE])
  assert.equal(billedPictures(provider, 'plain').at(-1), sha256(Buffer.from(last, 'base64')))

  const broken = await client.images.generate({ ...asked, model: 'cut-image' })
  await assert.rejects(
    async () => {
      for await (const event of broken) assert.equal(event.type, PREVIEW)
    },
    (error: unknown) => error instanceof OpenAI.APIError && error.code === 'outcome_unknown',
  )
})
