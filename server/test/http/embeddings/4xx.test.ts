/** What a caller is refused by its key, its model, its space, its media type and the rate limits of upstreams. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { keyFrom } from '#core/keys/key.ts'
import { assertFault } from '#test/support/errors.ts'
import { GATEWAY_KEY, startGateway } from '#test/support/gateway.ts'

const ours = keyFrom(Uint8Array.from({ length: 64 }, (_, index) => (index * 5) % 248))
const expired = 'expired-key-of-a-project-01'
const imported = 'sk-imported-from-elsewhere-0001'
const one = 'key-for-one-model-only-0001'
const byAlias = 'key-that-names-an-alias-0001'

const gateway = await startGateway({
  models: {
    'plain-w16': { on: 'plain', aliases: ['search-embed'] },
    'cut-w16': { on: 'plain+key-cut', embedding: { matryoshka: true } },
    'other-w16': { on: 'plain+key-other' },
    'secret-project-w16': { on: 'plain+key-secret' },
    'limited-w16': { on: 'status-429' },
    'one-a-second-w16': { on: 'rate-limited-1' },
    'two-limited-w16': { on: ['status-429', 'rate-limited-1+key-two'] },
    'relieved-w16': { on: ['status-429', 'plain'] },
  },
  projects: {
    search: {
      keys: [
        { name: 'ours', secret: ours },
        { name: 'imported', secret: imported },
        { name: 'old', secret: expired, expires: '2020-01-31' },
        { name: 'young', secret: 'young-key-of-a-project-0001', expires: '2999-01-31' },
        { name: 'one', secret: one, models: ['plain-w16'] },
        { name: 'alias', secret: byAlias, models: ['search-embed'] },
      ],
    },
  },
  retired: { 'old-embed': { on: '2026-01-31', successor: 'plain-w16' }, 'gone-embed': { on: '2025-12-24' } },
})
const question = { model: 'plain-w16', input: 'a' }

test('the answer to a request without a key says how to send one', async () => {
  assertFault(await gateway.ask(question, { key: undefined }), 'missing_api_key', {
    words: /Authorization: Bearer/,
  })
})

test('a key without Bearer before it is told apart from no key', async () => {
  const headers = { authorization: ours }
  assertFault(await gateway.ask(question, { key: undefined, headers }), 'missing_api_key', {
    words: /^The `Authorization` header has no `Bearer` before its key\./,
  })
})

for (const [title, headers] of [
  ['an empty bearer', { authorization: 'Bearer ' }],
  ['another scheme', { authorization: `Basic ${btoa('user:password')}` }],
  ['an empty header', { 'api-key': '' }],
] as const) {
  test(`${title} counts as no key`, async () => {
    assertFault(await gateway.ask(question, { key: undefined, headers }), 'missing_api_key')
  })
}

for (const [title, headers] of [
  ['Authorization', { authorization: `Bearer ${ours}` }],
  ['authorization in lower case', { authorization: `bearer ${ours}` }],
  ['Authorization with more spaces', { authorization: `Bearer   ${ours}` }],
  ['api-key', { 'api-key': ours }],
  ['x-api-key', { 'x-api-key': ours }],
] as const) {
  test(`a key is taken from ${title}`, async () => {
    assert.equal((await gateway.ask(question, { key: undefined, headers })).status, 200)
  })
}

test('keys of the file, imported keys, keys not yet expired and the key of the environment all work', async () => {
  for (const key of [ours, imported, 'young-key-of-a-project-0001', GATEWAY_KEY]) {
    assert.equal((await gateway.ask(question, { key })).status, 200, key)
  }
})

test('an unknown key is refused, and only its last four characters are repeated', async () => {
  const answer = await gateway.ask(question, { key: 'an-unknown-key-of-a-test-5678' })
  assertFault(answer, 'invalid_api_key', { words: /ends in …5678/ })
  assert.doesNotMatch(answer.text, /an-unknown-key/)
})

test('a provider’s key is recognised, and the answer says where it belongs', async () => {
  assertFault(await gateway.ask(question, { key: 'sk-proj-0123456789abcdef0123456789' }), 'invalid_api_key', {
    words: /torana\.yaml/,
  })
})

test('a mistyped key of ours is distinguished from an unknown one', async () => {
  const mistyped = ours.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  for (const key of [mistyped, ours.slice(0, -1), 'tr_']) {
    assertFault(await gateway.ask(question, { key }), 'invalid_api_key', { words: /mistyped or cut off/ })
  }
  const another = keyFrom(Uint8Array.from({ length: 64 }, (_, index) => (index * 7) % 248))
  assertFault(await gateway.ask(question, { key: another }), 'invalid_api_key', {
    words: /No valid key matches/,
  })
})

test('an expired key is refused with the moment it ended', async () => {
  assertFault(await gateway.ask(question, { key: expired }), 'key_expired', {
    words: /Key 'search\/old' expired at 2020-01-31T00:00:00/,
  })
})

test('nothing is read, parsed or called before the key is known', async () => {
  const { calls } = gateway.provider.counters()
  assertFault(await gateway.ask('{ no json', { key: 'an-unknown-key-of-a-test-5678' }), 'invalid_api_key')
  assert.equal(gateway.provider.counters().calls, calls)
})

test('a key may use the models it was given, and the refusal lists them', async () => {
  assert.equal((await gateway.ask({ model: 'plain-w16', input: 'a' }, { key: one })).status, 200)
  const { calls } = gateway.provider.counters()
  const answer = await gateway.ask({ model: 'other-w16', input: 'a' }, { key: one })
  assertFault(answer, 'model_not_allowed', { param: 'model', words: /Key 'search\/one' may use: plain-w16/ })
  assert.equal(gateway.provider.counters().calls, calls)
})

test('a model may be used under each of its names, whichever one the key has', async () => {
  for (const key of [one, byAlias]) {
    for (const model of ['plain-w16', 'search-embed']) {
      assert.equal((await gateway.ask({ model, input: 'a' }, { key })).status, 200)
    }
  }
})

test('the paths that name the model obey the same rule', async () => {
  const path = '/v1/engines/other-w16/embeddings'
  assertFault(await gateway.ask({ input: 'a' }, { key: one, path }), 'model_not_allowed')
})

test('the refusal of an unknown model names the nearest one', async () => {
  const answer = await gateway.ask({ model: 'plian-w16', input: 'a' })
  assertFault(answer, 'model_not_found', { param: 'model', words: /Did you mean 'plain-w16'\?/ })
})

test('a name that is like nothing gets no guess', async () => {
  const answer = await gateway.ask({ model: 'gpt-4o', input: 'a' })
  assertFault(answer, 'model_not_found', {
    words: /^Model 'gpt-4o' is not configured\. This key may use: /,
  })
})

test('models that a key may not use are not hinted at', async () => {
  const answer = await gateway.ask({ model: 'secret-projet-w16', input: 'a' }, { key: one })
  assertFault(answer, 'model_not_found', {
    words:
      /^Model 'secret-projet-w16' is not configured\. This key may use: plain-w16, search-embed \(GET \/v1\/models\)\.$/,
  })
})

test('a retired model names its day and its successor', async () => {
  assertFault(await gateway.ask({ model: 'old-embed', input: 'a' }), 'model_retired', {
    param: 'model',
    words: /2026-01-31.*successor is 'plain-w16'/,
  })
  assertFault(await gateway.ask({ model: 'gone-embed', input: 'a' }), 'model_retired', {
    words: /2025-12-24\.$/,
  })
})

test('a model retired by its maker is known without being configured', async () => {
  assertFault(await gateway.ask({ model: 'text-similarity-ada-001', input: 'a' }), 'model_retired', {
    words: /2024-01-04/,
  })
})

test('names that JavaScript knows are models like any other', async () => {
  for (const model of ['__proto__', 'constructor', 'toString']) {
    assertFault(await gateway.ask({ model, input: 'a' }), 'model_not_found')
  }
})

test('the space of an answer may be pinned, and another one is refused before any call', async () => {
  const first = await gateway.ask({ model: 'cut-w16', input: 'a' })
  const space = first.headers.get('x-torana-space') ?? ''
  assert.match(space, /^cut-w16@16:[0-9a-f]{8}$/)
  const headers = { 'x-torana-space': space }
  assert.equal((await gateway.ask({ model: 'cut-w16', input: 'b' }, { headers })).status, 200)
  const { calls } = gateway.provider.counters()
  const answer = await gateway.ask({ model: 'other-w16', input: 'a' }, { headers })
  assertFault(answer, 'space_mismatch', { words: /pins the vector space 'cut-w16@16/ })
  assert.equal(gateway.provider.counters().calls, calls)
})

test('a narrower width is a space of its own', async () => {
  const narrow = await gateway.ask({ model: 'cut-w16', input: 'a', dimensions: 4 })
  const space = narrow.headers.get('x-torana-space') ?? ''
  assert.match(space, /^cut-w16@4:[0-9a-f]{8}$/)
  const headers = { 'x-torana-space': space }
  assert.equal((await gateway.ask({ model: 'cut-w16', input: 'a', dimensions: 4 }, { headers })).status, 200)
  assertFault(await gateway.ask({ model: 'cut-w16', input: 'a' }, { headers }), 'space_mismatch')
})

for (const encoding of ['gzip', 'br', 'zstd']) {
  test(`a body compressed with ${encoding} is refused`, async () => {
    const headers = { 'content-encoding': encoding }
    assertFault(await gateway.ask(question, { headers }), 'unsupported_media_type', {
      words: new RegExp(encoding),
    })
  })
}

test('a body that is really compressed is refused, whatever it inflates to', async () => {
  const answer = await fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    headers: {
      'content-encoding': 'gzip',
      'content-type': 'application/json',
      authorization: `Bearer ${gateway.key}`,
    },
    body: new Uint8Array(gzipSync(Buffer.alloc(1_000_000))),
  })
  assert.equal(answer.status, 415)
})

for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded']) {
  test(`${type} is refused`, async () => {
    assertFault(await gateway.ask(question, { headers: { 'content-type': type } }), 'unsupported_media_type')
  })
}

for (const type of [
  'application/json',
  'application/json; charset=utf-8',
  'application/vnd.api+json',
  'APPLICATION/JSON',
  '',
]) {
  test(`${type} is taken`, async () => {
    assert.equal((await gateway.ask(question, { headers: { 'content-type': type } })).status, 200)
  })
}

test('identity is no compression, nor is an empty header', async () => {
  for (const encoding of ['identity', 'Identity', ''])
    assert.equal((await gateway.ask(question, { headers: { 'content-encoding': encoding } })).status, 200)
})

test('an upstream’s rate limit is passed on with its wait, and is worth a retry', async () => {
  const answer = await gateway.ask({ model: 'limited-w16', input: 'a' })
  assertFault(answer, 'upstream_rate_limited', { words: /retry in 7 s/ })
  assert.equal(answer.headers.get('retry-after'), '7')
  assert.equal(answer.headers.get('retry-after-ms'), '7000')
  assert.equal(answer.body.error.upstream?.status, 429)
})

test('the second call of a second is refused by the upstream, the first is served', async () => {
  assert.equal((await gateway.ask({ model: 'one-a-second-w16', input: 'a' })).status, 200)
  const answer = await gateway.ask({ model: 'one-a-second-w16', input: 'b' })
  assertFault(answer, 'upstream_rate_limited')
  assert.equal(answer.headers.get('retry-after'), '1')
})

test('another deployment is tried first; only when all are limited is the caller', async () => {
  assert.equal((await gateway.ask({ model: 'relieved-w16', input: 'a' })).status, 200)
  assert.equal((await gateway.ask({ model: 'two-limited-w16', input: 'a' })).status, 200)
  assertFault(await gateway.ask({ model: 'two-limited-w16', input: 'b' }), 'upstream_rate_limited', {
    // The first one asked for seven seconds, and is not asked before.
    words: /applied its rate limit|at the rate limit/,
  })
})
