import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { RetryBudget } from './retry-budget.ts'

interface Step {
  readonly afterMs: number
  readonly firstCalls: number
  readonly failures: number
}

const steps = fc.array(
  fc.record({
    afterMs: fc.oneof(fc.nat(50), fc.nat(20_000), fc.constant(3_600_000)),
    firstCalls: fc.nat(60),
    failures: fc.nat(60),
  }),
  { maxLength: 60 },
)

/** Every failure asks for a retry. */
function retriesIn(history: readonly Step[], budget = new RetryBudget()): number {
  let [nowMs, retries] = [0, 0]
  for (const { afterMs, firstCalls, failures } of history) {
    nowMs += afterMs
    for (let call = 0; call < firstCalls; call += 1) budget.begun(nowMs)
    for (let call = 0; call < failures; call += 1) if (budget.mayRetry(nowMs)) retries += 1
  }
  return retries
}

test('retries never exceed 5, half a call a second and 15 % of the first calls together', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const seconds = history.reduce((sum, { afterMs }) => sum + afterMs, 0) / 1000
      const firstCalls = history.reduce((sum, step) => sum + step.firstCalls, 0)
      assert.ok(retriesIn(history) <= 5 + 0.5 * seconds + 0.15 * firstCalls + 1e-6)
    }),
    runs(2000),
  )
})

test('the share of retries while every call fails is the documented one at each rate', () => {
  for (const [callsPerMinute, percent] of [
    [200, 30],
    [600, 20],
    [6000, 15.5],
  ] as const) {
    const calls = callsPerMinute * 10
    const history = Array.from({ length: calls }, () => ({
      afterMs: 60_000 / callsPerMinute,
      firstCalls: 1,
      failures: 1,
    }))
    const shown = (retriesIn(history) / calls) * 100
    assert.ok(shown <= percent && shown > percent - 3, `${callsPerMinute} per minute: ${shown} %`)
  }
})

test('a lone request may fail over, whenever it comes', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 3000, max: 10_000_000 }), { maxLength: 50 }), (gapsMs) => {
      const history = gapsMs.map((afterMs) => ({ afterMs, firstCalls: 1, failures: 1 }))
      assert.equal(retriesIn(history), gapsMs.length)
    }),
  )
})

test('what a busy hour earned does not pay for a storm after it', () => {
  const budget = new RetryBudget()
  for (let call = 0; call < 100_000; call += 1) budget.begun(call)
  const storm = { afterMs: 100_000 + 120_000, firstCalls: 0, failures: 1000 }
  assert.ok(retriesIn([storm], budget) <= 6)
})
