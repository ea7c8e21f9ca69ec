import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

const gateway = await startGateway({
  models: {
    'plain-w16': { on: 'plain', embedding: { matryoshka: true } },
    'other-w16': { on: 'plain+key-other' },
  },
})

test('the space of an answer may be pinned, and another one is refused before any call', async () => {
  const first = await gateway.ask({ model: 'plain-w16', input: 'a' })
  const space = first.headers.get('x-torana-space') ?? ''
  assert.match(space, /^plain-w16@16:[0-9a-f]{8}$/)
  const headers = { 'x-torana-space': space }
  assert.equal((await gateway.ask({ model: 'plain-w16', input: 'b' }, { headers })).status, 200)
  const { calls } = gateway.provider.counters()
  const answer = await gateway.ask({ model: 'other-w16', input: 'a' }, { headers })
  assertFault(answer, 'space_mismatch', { words: /pins the vector space 'plain-w16@16/ })
  assert.equal(gateway.provider.counters().calls, calls)
})

test('a narrower width is a space of its own', async () => {
  const narrow = await gateway.ask({ model: 'plain-w16', input: 'a', dimensions: 4 })
  const space = narrow.headers.get('x-torana-space') ?? ''
  assert.match(space, /^plain-w16@4:[0-9a-f]{8}$/)
  const headers = { 'x-torana-space': space }
  assert.equal(
    (await gateway.ask({ model: 'plain-w16', input: 'a', dimensions: 4 }, { headers })).status,
    200,
  )
  assertFault(await gateway.ask({ model: 'plain-w16', input: 'a' }, { headers }), 'space_mismatch')
})
