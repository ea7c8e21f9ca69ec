import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

const gateway = await startGateway({
  models: {
    'never-w16': { on: 'never' },
    'slow-w16': { on: 'slow-500' },
    'patient-w16': { on: 'slow-500', attemptTimeoutMs: 600_000 },
    'status-504-w16': { on: 'status-504' },
    'status-408-w16': { on: 'status-408' },
    'relieved-w16': { on: ['never', 'plain'] },
    'three-w16': { on: ['never', 'never+key-2', 'never+key-3', 'never+key-4'] },
  },
  limits: { attemptTimeoutMs: 300, requestTimeoutMs: 700 },
})

const { provider } = gateway

for (const model of ['never-w16', 'slow-w16', 'status-504-w16', 'status-408-w16']) {
  test(`${model}: no answer in time is 504, worth a retry`, async () => {
    assertFault(await gateway.ask({ model, input: 'a' }), 'upstream_timeout', {
      words: /did not answer in time/,
    })
  })
}

test('a model with a timeout of its own is not bound by that of the node', async () => {
  assert.equal((await gateway.ask({ model: 'patient-w16', input: 'a' })).status, 200)
})

test('a hanging upstream is left for the next deployment after its share of the time', async () => {
  const startedMs = performance.now()
  const { status } = await gateway.ask({ model: 'relieved-w16', input: 'a' })
  assert.equal(status, 200)
  assert.ok(performance.now() - startedMs >= 290)
})

test('the time of the whole request bounds all attempts together', async () => {
  const startedMs = performance.now()
  assertFault(await gateway.ask({ model: 'three-w16', input: 'a' }), 'upstream_timeout')
  const tookMs = performance.now() - startedMs
  assert.ok(tookMs >= 690, `${tookMs} ms`)
  // Three attempts, of which the last is cut short; the fourth would begin after 900 ms.
  assert.equal(provider.entries().filter(({ scenario }) => scenario === 'never+key-4').length, 0)
})

test('the time-out of the caller’s own SDK shortens ours, so that it sees our error', async () => {
  const served = (): number => provider.entries().filter(({ scenario }) => scenario === 'plain').length
  const before = served()
  for (const header of ['x-stainless-timeout', 'x-stainless-read-timeout']) {
    // By our own timeouts the second deployment would have answered it.
    assertFault(
      await gateway.ask({ model: 'relieved-w16', input: 'a' }, { headers: { [header]: '0.2' } }),
      'upstream_timeout',
    )
  }
  assert.equal(served(), before)
})
