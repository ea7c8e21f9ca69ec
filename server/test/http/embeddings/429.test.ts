import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

const gateway = await startGateway({
  models: {
    'limited-w16': { on: 'status-429' },
    'one-a-second-w16': { on: 'rate-limited-1' },
    'two-limited-w16': { on: ['status-429', 'rate-limited-1+key-two'] },
    'relieved-w16': { on: ['status-429', 'plain'] },
  },
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
