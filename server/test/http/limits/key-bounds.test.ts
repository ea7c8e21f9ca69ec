/** The bounds of a key besides its models: kinds of requests, how many at once, and from where. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'

const keyOf = (name: string) => `key-that-is-bound-by-${name}-01`
const bound = (name: string, bounds: object) => ({ name, secret: keyOf(name), ...bounds })

const gateway = await startGateway({
  models: { 'plain-w16': { on: 'plain' }, 'slow-w16': { on: 'slow-1000' } },
  images: { 'fake-image': { on: 'plain' } },
  projects: {
    p: {
      keys: [
        bound('embeddings', { scopes: ['embeddings'] }),
        bound('pictures', { scopes: ['images', 'edits'] }),
        bound('one-at-once', { maxCallsAtOnce: 1 }),
        bound('here', { addresses: ['127.0.0.0/8', '::1'] }),
        bound('elsewhere', { addresses: ['192.0.2.0/24', '2001:db8::/32'] }),
      ],
    },
  },
  env: { TRUSTED_PROXIES: '127.0.0.1' },
})

const embed = (key: string, headers: Record<string, string> = {}, model = 'plain-w16') =>
  gateway.ask({ model, input: 'a' }, { key: keyOf(key), headers })
const picture = (key: string, path: string) =>
  gateway.ask({ model: 'fake-image', prompt: 'a cat' }, { key: keyOf(key), path })

test('a key is refused for what it has no scope for, and nothing of the body is read', async () => {
  assert.equal((await embed('embeddings')).status, 200)
  const refused = await picture('embeddings', '/v1/images/generations')
  assertFault(refused, 'scope_not_allowed', { words: /for embeddings, not for images/ })
  assertFault(await picture('embeddings', '/v1/images/edits'), 'scope_not_allowed', {
    words: /not for edits/,
  })
  assertFault(await embed('pictures'), 'scope_not_allowed', {
    words: /for images, edits, not for embeddings/,
  })
  const unreadable = await gateway.ask('{ this is no JSON', { key: keyOf('pictures') })
  assertFault(unreadable, 'scope_not_allowed')
  assert.equal(gateway.provider.counters().calls, 1)
})

test('a key with a maximum of calls at once has one more when one has ended', async () => {
  const before = gateway.provider.counters().calls
  const slow = embed('one-at-once', {}, 'slow-w16')
  await eventually(async () => assert.equal(gateway.provider.counters().calls, before + 1))
  const second = await embed('one-at-once')
  assertFault(second, 'too_many_calls_at_once', { words: /may have 1 concurrent requests/ })
  assert.equal(second.headers.get('retry-after'), '1')
  assert.equal((await embed('embeddings')).status, 200, 'other keys are not held up')
  assert.equal((await slow).status, 200)
  assert.equal((await embed('one-at-once')).status, 200)
  assertFault(await embed('one-at-once', {}, 'no-such-model'), 'model_not_found')
  assert.equal((await embed('one-at-once')).status, 200, 'a refused request gives its place back')
})

test('a key is refused from addresses that it does not name, as trusted proxies tell them', async () => {
  assert.equal((await embed('here')).status, 200)
  assertFault(await embed('elsewhere'), 'address_not_allowed', { words: /from 127\.0\.0\.1/ })
  assert.equal((await embed('elsewhere', { 'x-forwarded-for': '192.0.2.9' })).status, 200)
  assert.equal((await embed('elsewhere', { 'x-forwarded-for': '2001:db8::9' })).status, 200)
  assertFault(await embed('here', { 'x-forwarded-for': '198.51.100.1' }), 'address_not_allowed', {
    words: /from 198\.51\.100\.1/,
  })
  // Addresses before the one that the proxy wrote may be forged.
  assertFault(
    await embed('elsewhere', { 'x-forwarded-for': '192.0.2.9, 198.51.100.1' }),
    'address_not_allowed',
  )
  assertFault(await gateway.get('/v1/models', { key: keyOf('elsewhere') }), 'address_not_allowed')
})
