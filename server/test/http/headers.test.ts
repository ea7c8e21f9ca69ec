import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'

const both = { encodings: ['float', 'base64'] }
const gateway = await startGateway({
  models: {
    'plain-w16': { on: 'plain', capabilities: both },
    'priced-w16': { on: ['status-500', 'plain'], price: { usdPerMillionTokens: 0.02 }, capabilities: both },
    'free-w16': { on: 'plain+key-free', price: 'free' },
    'split-w16': { on: 'max-inputs-1', capabilities: { maxInputs: 1 } },
    'silent-w16': { on: 'no-usage' },
    'limited-w16': { on: 'status-429' },
    'failing-w16': { on: 'status-500' },
    'rejecting-w16': { on: 'status-401' },
    'cohere-w16': {
      on: 'plain',
      upstream: { base: 'cohere/v2', dialect: 'ai-sdk', provider: 'cohere' },
      embedding: {
        inputType: { field: 'input_type', values: { document: 'search_document' }, default: 'document' },
      },
    },
    'float-w16': { on: 'float-only', embedding: { matryoshka: true } },
  },
})

const UUIDV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('x-request-id is ours, unique, sorts by time, and is never the caller’s: on answers and on errors alike', async () => {
  const headers = { 'x-request-id': 'the-callers-own', 'x-client-request-id': 'another' }
  const ids: string[] = []
  for (const [body, options] of [
    [{ model: 'plain-w16', input: 'a' }, {}],
    [{ model: 'plain-w16', input: 'a' }, { path: '/embeddings' }],
    [{ model: 'plain-w16', input: 'a' }, { key: undefined }],
    [{ model: 'failing-w16', input: 'a' }, {}],
    ['no json', {}],
    [{}, { path: '/v1/nowhere' }],
  ] as const) {
    const answer = await gateway.ask(body, { headers, ...options })
    ids.push(answer.headers.get('x-request-id') ?? '')
    if (answer.status !== 200) assert.equal(answer.body.error.request_id, ids.at(-1))
  }
  for (const path of ['/v1/models', '/v1/models/plain-w16', '/v1/models/nothing']) {
    ids.push((await gateway.get(path, { headers })).headers.get('x-request-id') ?? '')
  }
  for (const id of ids) assert.match(id, UUIDV7)
  assert.equal(new Set(ids).size, ids.length)
  const times = ids.map((id) => Number.parseInt(id.replace('-', '').slice(0, 12), 16))
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  )
})

test('an answer says who served it, in how many attempts, at what cost, in which space', async () => {
  const { headers } = await gateway.ask({ model: 'priced-w16', input: 'four' })
  assert.equal(headers.get('x-torana-deployment'), 'priced-w16/plain')
  assert.equal(headers.get('x-torana-attempts'), '2')
  assert.equal(headers.get('x-torana-cost'), '0.000000020')
  assert.equal(headers.get('x-torana-usage'), 'upstream')
  assert.match(headers.get('x-torana-space') ?? '', /^priced-w16@16:[0-9a-f]{8}$/)
  assert.equal(headers.get('x-torana-emulated'), null)
  assert.equal(headers.get('x-torana-dropped'), null)
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
})

test('free is a price, an unknown price is not zero', async () => {
  assert.equal(
    (await gateway.ask({ model: 'free-w16', input: 'a' })).headers.get('x-torana-cost'),
    '0.000000000',
  )
  assert.equal(
    (await gateway.ask({ model: 'plain-w16', input: 'a' })).headers.get('x-torana-cost'),
    'unpriced',
  )
})

test('a split request counts each call as an attempt and names its deployment once', async () => {
  const { headers } = await gateway.ask({ model: 'split-w16', input: ['a', 'b', 'c', 'a'] })
  assert.equal(headers.get('x-torana-attempts'), '3')
  assert.equal(headers.get('x-torana-deployment'), 'split-w16/max-inputs-1')
})

test('what Torana did itself is listed', async () => {
  const { headers } = await gateway.ask({
    model: 'float-w16',
    input: [[9906], [1917]],
    dimensions: 4,
    encoding_format: 'base64',
  })
  assert.deepEqual(headers.get('x-torana-emulated')?.split(', ').toSorted(), [
    'dimensions',
    'encoding_format',
    'input',
  ])
})

test('usage without a count is marked as estimated', async () => {
  assert.equal(
    (await gateway.ask({ model: 'silent-w16', input: 'a' })).headers.get('x-torana-usage'),
    'estimated',
  )
})

test('x-should-retry and retry-after are set deliberately', async () => {
  for (const [model, shouldRetry, retryAfter] of [
    ['limited-w16', 'true', '7'],
    ['failing-w16', 'true', null],
    ['rejecting-w16', 'false', null],
    ['unknown', 'false', null],
  ] as const) {
    const { headers } = await gateway.ask({ model, input: 'a' })
    assert.equal(headers.get('x-should-retry'), shouldRetry, model)
    assert.equal(headers.get('retry-after'), retryAfter, model)
  }
  assert.equal((await gateway.ask({ model: 'plain-w16', input: 'a' })).headers.get('x-should-retry'), null)
})

test('a small answer has a length; a keep-alive connection is offered', async () => {
  const { headers, text } = await gateway.ask({ model: 'plain-w16', input: ['a', 'ü'] })
  assert.equal(headers.get('content-length'), String(Buffer.byteLength(text)))
})

test('dropped fields are named in ASCII, whatever they are called', async () => {
  const headers = { 'x-torana-unsupported': 'drop' }
  for (const name of ['größe', 'a\r\nset-cookie: b', '漢字']) {
    const answer = await gateway.ask({ model: 'cohere-w16', input: 'a', [name]: 1 }, { headers })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(decodeURI(answer.headers.get('x-torana-dropped') ?? ''), name)
  }
})

test('a dropped field may have a name that is no Unicode text; a very long one is refused without repeating it', async () => {
  const headers = { 'x-torana-unsupported': 'drop' }
  const ask = (name: string) => gateway.ask({ model: 'cohere-w16', input: 'a', [name]: 1 }, { headers })
  assert.equal((await ask('\ud800')).status, 200)
  const refusal = await ask('x'.repeat(100_000))
  assert.equal(refusal.status, 400)
  assert.ok(refusal.text.length < 1000)
})
