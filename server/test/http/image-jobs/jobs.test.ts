/** Image jobs in the background: begun with `Prefer: respond-async`, polled until they end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { GATEWAY_KEY, startGateway, type Asked } from '#test/support/gateway.ts'
import {
  askImages,
  assertImageFault,
  billedPictures,
  picturesIn,
  purchasesAt,
  sha256,
  type ImagesAsked,
} from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'

const OTHER_KEY = 'key-of-another-project-0000001'
const gateway = await startGateway({
  images: {
    'slow-image': { on: 'slow-500', price: { usdPerImage: 0.04 } },
    'plain-image': { on: 'plain', image: { answersWith: 'url' } },
    'generous-image': { on: 'one-more', price: { usdPerImage: 0.04 } },
    'refused-image': { on: 'moderation' },
    'failing-image': { on: 'status-500' },
    'lost-image': { on: 'serves-then-resets' },
    'polled-image': {
      on: 'polls-2',
      upstream: { base: 'bfl/v1', dialect: 'ai-sdk', provider: 'black-forest-labs' },
      upstreamModel: 'flux-pro-1.1',
      capabilities: { formats: ['jpeg'] },
    },
  },
  projects: { other: { keys: [{ name: 'k', secret: OTHER_KEY }] } },
})
const { provider } = gateway

interface Job {
  readonly id: string
  readonly object: string
  readonly status: string
  readonly created_at: number
  readonly expires_at: number
  readonly model: string
  readonly result?: ImagesAsked['body']
  readonly extra?: readonly { readonly id: string; readonly url: string }[]
  readonly error?: Asked['body']['error']
}

const jobIn = ({ body }: Pick<Asked, 'body'>): Job => body as unknown as Job

async function begin(
  fields: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Job> {
  const answer = await askImages(gateway, fields, { headers: { prefer: 'respond-async', ...headers } })
  assert.equal(answer.status, 202, answer.text)
  const job = jobIn(answer as unknown as Asked)
  assert.deepEqual(
    ['x-torana-job', 'location', 'preference-applied'].map((name) => answer.headers.get(name)),
    [job.id, `/v1/images/jobs/${job.id}`, 'respond-async'],
  )
  return job
}

const look = (id: string): Promise<Asked> => gateway.get(`/v1/images/jobs/${id}`)

function end(id: string): Promise<Job> {
  return eventually(async () => {
    const answer = await look(id)
    assert.equal(answer.status, 200, answer.text)
    const job = jobIn(answer)
    assert.ok(!['queued', 'running'].includes(job.status), job.status)
    return job
  })
}

test('a job is answered at once, and ends as the request would have been answered', async () => {
  const begun = await begin({ model: 'slow-image' })
  assert.equal(begun.object, 'image.job')
  assert.ok(['queued', 'running'].includes(begun.status), begun.status)
  assert.deepEqual([begun.model, begun.result, begun.error], ['slow-image', undefined, undefined])
  assert.equal(begun.expires_at - begun.created_at, 7 * 24 * 3600)

  const job = await end(begun.id)
  assert.deepEqual([job.id, job.status, job.error], [begun.id, 'succeeded', undefined])
  const bytes = Buffer.from(job.result?.data[0]?.b64_json ?? '', 'base64')
  assert.deepEqual(billedPictures(provider, 'slow-500'), [sha256(bytes)])
  assert.equal(job.result?.['output_format'], 'png')
  assert.equal((await look(begun.id)).headers.get('cache-control'), 'no-store')
})

test('a polled upstream is asked for as long as it takes, and submitted to once', async () => {
  const { id } = await begin({ model: 'polled-image', size: '256x256' })
  const job = await end(id)
  assert.equal(job.status, 'succeeded', JSON.stringify(job.error))
  const bytes = Buffer.from(job.result?.data[0]?.b64_json ?? '', 'base64')
  assert.deepEqual(billedPictures(provider, 'polls-2'), [sha256(bytes)])
  assert.equal(purchasesAt(provider, 'polls-2').length, 1)
})

test('a result by links is one that opens', async () => {
  const { id } = await begin({ model: 'plain-image' })
  const { result } = await end(id)
  const answer = await fetch(result?.data[0]?.url ?? '')
  assert.equal(sha256(Buffer.from(await answer.arrayBuffer())), billedPictures(provider, 'plain').at(-1))
})

for (const [model, status, code] of [
  ['refused-image', 'failed', 'content_policy_violation'],
  ['failing-image', 'failed', 'upstream_failed'],
  ['lost-image', 'unknown', 'outcome_unknown'],
]) {
  test(`${model}: a job without pictures says why`, async () => {
    const { id } = await begin({ model })
    const job = await end(id)
    assert.deepEqual([job.status, job.result, job.error?.code], [status, undefined, code])
    assert.match(job.error?.doc_url ?? '', new RegExp(`/docs/errors/${code}$`))
  })
}

test('a request with a waiting caller has a job too', async () => {
  const answer = await askImages(gateway, { model: 'slow-image' })
  const job = await end(answer.headers.get('x-torana-job') ?? '')
  assert.equal(job.status, 'succeeded')
  assert.deepEqual(job.result, answer.body)
})

test('another project’s job is not said to exist, nor is one that never was', async () => {
  const { id } = await begin({ model: 'plain-image' })
  await end(id)
  assertFault(await gateway.get(`/v1/images/jobs/${id}`, { key: OTHER_KEY }), 'not_found', {
    words: /no image job .* in project 'other'/,
  })
  assertFault(await gateway.get(`/v1/images/jobs/${id}`, { key: undefined }), 'missing_api_key')
  for (const never of ['0199f7a0-0000-7000-8000-000000000000', 'x', `${id}0`])
    assertFault(await look(never), 'not_found')
})

test('an idempotency key finds the job that is under way, and the one that has ended', async () => {
  const headers = { 'idempotency-key': 'one-job' }
  const fields = { model: 'slow-image', prompt: 'one job' }
  const before = purchasesAt(provider, 'slow-500').length
  const first = await begin(fields, headers)
  assert.equal((await begin(fields, headers)).id, first.id)
  const waited = await askImages(gateway, fields, { headers })
  assert.equal(waited.headers.get('x-torana-job'), first.id)
  const [bytes] = await picturesIn(waited)
  const ended = await begin(fields, headers)
  assert.deepEqual([ended.id, ended.status], [first.id, 'succeeded'])
  assert.equal(sha256(Buffer.from(ended.result?.data[0]?.b64_json ?? '', 'base64')), sha256(bytes as Buffer))
  assert.equal(purchasesAt(provider, 'slow-500').length, before + 1)
})

test('a wrong request is refused at once', async () => {
  const headers = { prefer: 'respond-async, wait=10' }
  const answer = await askImages(gateway, { model: 'plain-image', n: 0 }, { headers })
  assert.deepEqual([answer.status, answer.body.error.param], [400, 'n'])
})

test('a stream can not be asked for without waiting', async () => {
  const headers = { prefer: 'respond-async' }
  const answer = await askImages(gateway, { model: 'plain-image', stream: true }, { headers })
  assertImageFault(answer, 'invalid_parameter', { param: 'stream', words: /respond-async/ })
})

test('a job goes on when the client that waited for it has left', async () => {
  const leaving = new AbortController()
  const asked = fetch(`${gateway.url}/v1/images/generations`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'slow-image', prompt: 'nobody waits', size: '96x64' }),
  })
  const before = billedPictures(provider, 'slow-500').length
  await eventually(async () => assert.equal(provider.counters().inFlight, 1))
  leaving.abort()
  await assert.rejects(asked)
  await eventually(async () => assert.equal(billedPictures(provider, 'slow-500').length, before + 1))
  // The SDK's retry finds the image that no client received.
  const headers = { 'x-stainless-retry-count': '1' }
  const retried = await askImages(gateway, { model: 'slow-image', prompt: 'nobody waits' }, { headers })
  const [bytes] = await picturesIn(retried)
  assert.equal(billedPictures(provider, 'slow-500').at(-1), sha256(bytes as Buffer))
  assert.equal(billedPictures(provider, 'slow-500').length, before + 1)
})

test('a picture more than asked for is kept and paid for, the answer has as many as were asked for and says so', async () => {
  const answer = await askImages(gateway, { model: 'generous-image' })
  const [shown, ...others] = await picturesIn(answer)
  assert.ok(shown)
  assert.deepEqual(others, [])
  assert.equal(answer.headers.get('x-torana-extra'), '1')
  assert.equal(answer.headers.get('x-torana-cost'), '0.080000000')
  const jobId = answer.headers.get('x-torana-job') ?? ''
  const { status, extra } = jobIn(await gateway.get(`/v1/images/jobs/${jobId}`))
  assert.equal(status, 'succeeded')
  assert.deepEqual(
    extra?.map(({ id }) => id),
    [`${jobId}-0-1`],
  )
  const kept = await fetch(extra?.[0]?.url ?? '')
  assert.equal(kept.status, 200)
  const bytes = Buffer.from(await kept.arrayBuffer())
  assert.deepEqual([sha256(shown), sha256(bytes)], billedPictures(provider, 'one-more'))
})
