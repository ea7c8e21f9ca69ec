/** Notices about a model that ends: in the list of models, with each answer, and once its upstream has shut it down. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BatchCaller, embeddingLines } from '#test/support/batches.ts'
import { aPicture, askJson, EDITS, references } from '#test/support/edits.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'
import { askImages, assertImageFault, SMALL } from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'

const DAY_MS = 86_400_000
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
const dayIn = (days: number): string => new Date(today + days * DAY_MS).toISOString().slice(0, 10)
const SOON = dayIn(30)
const FAR = dayIn(200)
const PAST = dayIn(-1)

const streams = { stream: true, maxPartialImages: 3 }
const gateway = await startGateway({
  models: {
    'ending-w16': {
      on: 'plain',
      aliases: ['search'],
      cache: { ttl: '1h' },
      ends: [{ endsOn: SOON, successor: 'next-w16' }],
    },
    'next-w16': { on: 'plain+key-next' },
    'far-w16': { on: 'plain+key-far', ends: [{ endsOn: FAR }] },
    'half-w16': { on: ['plain+key-half', 'plain+key-other'], ends: [{ endsOn: PAST }] },
    'moved-w16': { on: ['status-404', 'plain+key-moved'], ends: [{ endsOn: PAST }, { endsOn: SOON }] },
    'ended-w16': { on: 'plain+key-ended', ends: [{ endsOn: PAST }] },
    'gone-w16': { on: 'status-404+key-gone', ends: [{ endsOn: PAST, successor: 'next-w16' }] },
    'lost-w16': { on: 'status-404+key-lost', ends: [{ endsOn: SOON }] },
  },
  images: {
    'ending-image': { on: 'plain', capabilities: streams, ends: [{ endsOn: SOON, successor: 'next-image' }] },
    'gone-image': {
      on: 'status-404',
      capabilities: { edits: EDITS },
      ends: [{ endsOn: PAST, successor: 'next-image' }],
    },
  },
})
const HEADER = 'x-torana-model-ends'
const embedded = async (model: string): Promise<string | null> => {
  const { status, headers } = await gateway.ask({ model, input: 'a' })
  assert.equal(status, 200)
  return headers.get(HEADER)
}

test('the list of models has the day in OpenAI’s field: that of the last deployment', async () => {
  const { body } = await gateway.get('/v1/models')
  const days = Object.fromEntries(
    (body.data as unknown as { id: string; shutdown_date: string | null }[]).map((one) => [
      one.id,
      one.shutdown_date,
    ]),
  )
  assert.deepEqual(days, {
    'ending-w16': SOON,
    search: SOON,
    'next-w16': null,
    'far-w16': FAR,
    'half-w16': null,
    'moved-w16': SOON,
    'ended-w16': PAST,
    'gone-w16': PAST,
    'lost-w16': SOON,
    'ending-image': SOON,
    'gone-image': PAST,
  })
  const one = await gateway.get('/v1/models/search')
  assert.equal(one.body['shutdown_date'], SOON)
})

test('answers with vectors tell of the end within 90 days, also from the cache and by an alias', async () => {
  for (const model of ['ending-w16', 'ending-w16', 'search'])
    assert.equal(await embedded(model), `${SOON}; successor=next-w16`)
  assert.equal(await embedded('next-w16'), null)
  assert.equal(await embedded('far-w16'), null)
})

test('a model with a deployment that goes on does not end', async () => {
  assert.equal(await embedded('half-w16'), null)
  // The first deployment has ended and its upstream says so: the second one answers.
  assert.equal(await embedded('moved-w16'), SOON)
})

test('after its day a model is called as before, and answers say that it has ended', async () => {
  assert.equal(await embedded('ended-w16'), `${PAST}; ended`)
})

test('an upstream that no longer knows a model after its day: model_retired, with the day and the successor', async () => {
  assertFault(await gateway.ask({ model: 'gone-w16', input: 'a' }), 'model_retired', {
    param: 'model',
    words: new RegExp(`shut 'gone-w16' down on ${PAST}.*'next-w16'`),
  })
  assertImageFault(await askImages(gateway, { model: 'gone-image' }), 'model_retired', {
    param: 'model',
    words: new RegExp(`${PAST}.*'next-image'`),
  })
  const edited = await askJson(gateway, { model: 'gone-image', images: references(await aPicture(8, 8)) })
  assertImageFault(edited, 'model_retired', { param: 'model' })
  // Before its day it is a wrong configuration.
  assertFault(await gateway.ask({ model: 'lost-w16', input: 'a' }), 'upstream_model_missing')
})

test('lines of a batch for a model that is gone fail with model_retired, and the batch ends', async () => {
  const caller = new BatchCaller(gateway.url)
  const fileId = await caller.upload(embeddingLines('gone-w16', ['a', 'b', 'c']))
  const batch = await caller.ended((await caller.create(fileId)).id)
  assert.deepEqual([batch.status, batch.request_counts.failed], ['completed', 3])
  const lines = await caller.lines(batch.error_file_id)
  assert.deepEqual(
    lines.map(({ response }) => [response?.status_code, response?.body.error?.code]),
    Array.from({ length: 3 }, () => [404, 'model_retired']),
  )
})

test('images tell of the end in one piece, event by event, edited, and as a job', async () => {
  const ends = `${SOON}; successor=next-image`
  const plain = await askImages(gateway, { model: 'ending-image' })
  assert.equal(plain.headers.get(HEADER), ends)
  const previews = await askImages(gateway, { model: 'ending-image', stream: true, partial_images: 2 })
  assert.match(previews.text, /partial_image/)
  assert.equal(previews.headers.get(HEADER), ends)
  const queued = await askImages(
    gateway,
    { model: 'ending-image', size: SMALL, prompt: 'another' },
    { headers: { prefer: 'respond-async' } },
  )
  assert.equal(queued.status, 202)
  assert.equal(queued.headers.get(HEADER), ends)
  await eventually(async () => {
    const job = await gateway.get(queued.headers.get('location') ?? '')
    assert.equal(job.headers.get(HEADER), ends)
    assert.equal(job.body['status'], 'succeeded')
  })
})
