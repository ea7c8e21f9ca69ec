/** The same request, sent many times, is bought once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import OpenAI from 'openai'
import { GATEWAY_KEY, startGateway } from '#test/support/gateway.ts'
import {
  askImages,
  assertImageFault,
  billedPictures,
  IMAGES_PATH,
  picturesIn,
  purchasesAt,
  servedBy,
  sha256,
  SMALL,
} from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'

const OTHER_KEY = 'key-of-another-project-0000001'
const SAME_KEY = 'key-of-the-other-project-00002'
const gateway = await startGateway({
  images: {
    'slow-image': { on: 'slow-300' },
    'slower-image': { on: 'slow-2500' },
    'plain-image': { on: 'plain', capabilities: { stream: true } },
    'shared-image': { on: 'plain+key-shared' },
    'refused-image': { on: 'moderation' },
    'strict-image': { on: 'strict-fields' },
    'shaky-image': { on: 'fails-first-1' },
    'left-image': { on: 'slow-700+key-left' },
  },
  projects: {
    other: {
      keys: [
        { name: 'k', secret: OTHER_KEY },
        { name: 'l', secret: SAME_KEY },
      ],
    },
  },
})
const { provider } = gateway
const ask = (
  fields: Readonly<Record<string, unknown>>,
  idempotencyKey: string,
  { key = GATEWAY_KEY, ...headers }: Readonly<Record<string, string>> = {},
) => askImages(gateway, fields, { key, headers: { 'idempotency-key': idempotencyKey, ...headers } })

test('fifty times at once: one purchase, and fifty identical bodies', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => ask({ model: 'slow-image' }, 'fifty-at-once')),
  )
  for (const { status, text } of answers) assert.equal(status, 200, text.slice(0, 500))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  assert.equal(new Set(answers.map(({ headers }) => headers.get('x-torana-job'))).size, 1)
  assert.equal(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size, 50)
  assert.equal(purchasesAt(provider, 'slow-300').length, 1)
  // And once more, long after the end.
  assert.equal((await ask({ model: 'slow-image' }, 'fifty-at-once')).text, answers[0]?.text)
  assert.equal(purchasesAt(provider, 'slow-300').length, 1)
})

test('the order of fields makes no other request; another value does, and is refused', async () => {
  const first = await ask({ model: 'plain-image', n: 1, user: 'u' }, 'the-same')
  const again = await gateway.ask(
    { user: 'u', size: SMALL, prompt: 'a red bicycle', model: 'plain-image' },
    { path: IMAGES_PATH, headers: { 'idempotency-key': 'the-same' } },
  )
  assert.equal(again.text, first.text)
  for (const change of [{ prompt: 'a blue bicycle' }, { n: 2 }, { response_format: 'url' }])
    assertImageFault(
      await ask({ model: 'plain-image', user: 'u', ...change }, 'the-same'),
      'idempotency_key_reused',
      { param: 'idempotency-key' },
    )
})

test('a key belongs to its project, and to all keys of it', async () => {
  const answers = [
    await ask({ model: 'shared-image' }, 'shared'),
    await ask({ model: 'shared-image' }, 'shared', { key: OTHER_KEY }),
    await ask({ model: 'shared-image' }, 'shared', { key: SAME_KEY }),
  ]
  const [ours, theirs, theirsToo] = answers.map(({ text }) => text)
  assert.notEqual(ours, theirs)
  assert.equal(theirs, theirsToo)
  assert.equal(purchasesAt(provider, 'plain+key-shared').length, 2)
})

test('a refusal is replayed without asking anybody', async () => {
  const refusals = [
    await ask({ model: 'refused-image' }, 'refused'),
    await ask({ model: 'refused-image' }, 'refused'),
  ]
  for (const refusal of refusals)
    assertImageFault(refusal, 'content_policy_violation', { words: /safety system/ })
  assert.equal(purchasesAt(provider, 'moderation').length, 1)
  const strict = [0, 1].map(() => ask({ model: 'strict-image', sparkle: 1 }, 'sparkling'))
  for (const refusal of await Promise.all(strict))
    assertImageFault(refusal, 'upstream_refused', { words: /sparkle/ })
  assert.equal(purchasesAt(provider, 'strict-fields').length, 1)
})

test('a failure that bought nothing frees the key', async () => {
  assertImageFault(await ask({ model: 'shaky-image' }, 'second-chance'), 'upstream_failed')
  await picturesIn(await ask({ model: 'shaky-image' }, 'second-chance'))
  assert.equal(servedBy(provider, 'fails-first-1').length, 1)
})

test('what is refused before it is a job leaves the key unused', async () => {
  assertImageFault(await ask({ model: 'plain-image', n: 0 }, 'unused'), 'invalid_parameter')
  assert.equal((await ask({ model: 'plain-image' }, 'unused', { 'x-torana-dry-run': '1' })).status, 200)
  await picturesIn(await ask({ model: 'plain-image', prompt: 'another one' }, 'unused'))
})

test('a client that leaves does not stop the job: asked again, the picture is there, and was bought once', async () => {
  const leaving = new AbortController()
  const asked = fetch(`${gateway.url}${IMAGES_PATH}`, {
    method: 'POST',
    signal: leaving.signal,
    headers: {
      authorization: `Bearer ${gateway.key}`,
      'content-type': 'application/json',
      'idempotency-key': 'left-alone',
    },
    body: JSON.stringify({ model: 'left-image', prompt: 'a red bicycle', size: SMALL }),
  })
  await eventually(async () => assert.equal(provider.counters().inFlight, 1))
  leaving.abort()
  await assert.rejects(asked)
  const [picture] = await picturesIn(await ask({ model: 'left-image' }, 'left-alone'))
  assert.deepEqual(billedPictures(provider, 'slow-700+key-left'), [sha256(picture as Buffer)])
})

test('a retry of the SDK’s own, after its time-out, joins what it retries: one purchase, and the picture arrives', async () => {
  const client = new OpenAI({
    apiKey: gateway.key,
    baseURL: `${gateway.url}/v1`,
    timeout: 1000,
    maxRetries: 8,
  })
  const asked = { model: 'slower-image', prompt: 'a red bicycle', size: SMALL as '1024x1024' }
  const { data } = await client.images.generate(asked)
  const bytes = Buffer.from(data?.[0]?.b64_json ?? '', 'base64')
  assert.deepEqual(billedPictures(provider, 'slow-2500'), [sha256(bytes)])
  assert.equal(purchasesAt(provider, 'slow-2500').length, 1)
})

test('the first try of a new request joins nothing, nor does a retry of what was already received', async () => {
  const fields = { model: 'plain-image', prompt: 'once more' }
  const before = purchasesAt(provider, 'plain').length
  for (const retry of ['0', '1', '0']) {
    const headers = { 'x-stainless-retry-count': retry }
    await picturesIn(await askImages(gateway, fields, { headers }))
  }
  assert.equal(purchasesAt(provider, 'plain').length, before + 3)
})

test('a retry joins no job whose number its client has received', async () => {
  const fields = { model: 'slow-image', prompt: 'not waited for' }
  const before = purchasesAt(provider, 'slow-300').length
  const queued = await askImages(gateway, fields, { headers: { prefer: 'respond-async' } })
  assert.equal(queued.status, 202)
  const retry = await askImages(gateway, fields, { headers: { 'x-stainless-retry-count': '1' } })
  assert.notEqual(retry.headers.get('x-torana-job'), queued.headers.get('x-torana-job'))
  await eventually(async () => assert.equal(purchasesAt(provider, 'slow-300').length, before + 2))
})

test('a retry joins no job whose own client waits, and retries at the same time get a picture each', async () => {
  const fields = { model: 'slow-image', prompt: 'equal prompts at the same time' }
  const before = purchasesAt(provider, 'slow-300').length
  const counts = ['0', '1', '1', '2', '0', '1']
  const answers = await Promise.all(
    counts.map((count) => askImages(gateway, fields, { headers: { 'x-stainless-retry-count': count } })),
  )
  const jobs = new Set(answers.map(({ headers }) => headers.get('x-torana-job')))
  assert.equal(jobs.size, counts.length)
  assert.equal(purchasesAt(provider, 'slow-300').length, before + counts.length)
})

test('of several retries for a job whose client left, one joins it', async () => {
  const fields = { model: 'left-image', prompt: 'one client left' }
  const scenario = 'slow-700+key-left'
  const before = purchasesAt(provider, scenario).length
  const leaving = new AbortController()
  const asked = fetch(`${gateway.url}${IMAGES_PATH}`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...fields, size: SMALL }),
  })
  await eventually(async () => assert.equal(provider.counters().inFlight, 1))
  leaving.abort()
  await assert.rejects(asked)
  // An SDK waits for longer before it retries.
  await setTimeout(200)
  const headers = { 'x-stainless-retry-count': '1' }
  const answers = await Promise.all([1, 2, 3].map(() => askImages(gateway, fields, { headers })))
  for (const { status, text } of answers) assert.equal(status, 200, text.slice(0, 500))
  assert.equal(new Set(answers.map(({ headers }) => headers.get('x-torana-job'))).size, 3)
  assert.equal(purchasesAt(provider, scenario).length, before + 3)
})

test('who says what would come anyway asks for the same as who says nothing', async () => {
  const servedBefore = servedBy(provider, 'plain').length
  const answers = [
    await ask({ model: 'plain-image' }, 'the-default'),
    await ask({ model: 'plain-image', response_format: 'b64_json' }, 'the-default'),
    await ask({ model: 'plain-image', response_format: 'base64', n: 1, stream: false }, 'the-default'),
  ]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  )
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  assert.equal(servedBy(provider, 'plain').length, servedBefore + 1)
  assertImageFault(
    await ask({ model: 'plain-image', response_format: 'url' }, 'the-default'),
    'idempotency_key_reused',
    { param: 'idempotency-key' },
  )
})
