import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyFrom } from '#core/keys/key.ts'
import { assertFault } from '#test/support/errors.ts'
import { GATEWAY_KEY, startGateway } from '#test/support/gateway.ts'

const ours = keyFrom(Uint8Array.from({ length: 64 }, (_, index) => (index * 5) % 248))
const expired = 'expired-key-of-a-project-01'
const imported = 'sk-imported-from-elsewhere-0001'

const gateway = await startGateway({
  models: { 'plain-w16': { on: 'plain' } },
  projects: {
    search: {
      keys: [
        { name: 'ours', secret: ours },
        { name: 'imported', secret: imported },
        { name: 'old', secret: expired, expires: '2020-01-31' },
        { name: 'young', secret: 'young-key-of-a-project-0001', expires: '2999-01-31' },
      ],
    },
  },
})
const question = { model: 'plain-w16', input: 'a' }

test('the answer to a request without a key says how to send one', async () => {
  assertFault(await gateway.ask(question, { key: undefined }), 'missing_api_key', {
    words: /Authorization: Bearer/,
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
    words: /'old' expired at 2020-01-31T00:00:00/,
  })
})

test('nothing is read, parsed or called before the key is known', async () => {
  const { calls } = gateway.provider.counters()
  assertFault(await gateway.ask('{ no json', { key: 'an-unknown-key-of-a-test-5678' }), 'invalid_api_key')
  assert.equal(gateway.provider.counters().calls, calls)
})
