import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ownTime, type CallTrace } from './request-trace.ts'

const CALL: CallTrace = {
  attempt: 0,
  callId: '01a1e008-2f4c-7d1e-b0aa-4c27d0be9c1e',
  deployment: 'small/openai',
  part: 0,
  inputs: 1,
  startedMs: 110,
  endedMs: 150,
  waitedMs: 0,
  firstByteMs: undefined,
  outcome: 'ok',
  status: undefined,
  reason: undefined,
  retryAfterMs: undefined,
  upstreamRequestId: undefined,
  insteadOf: undefined,
  sharedWith: 0,
  counts: [],
}

test("time in which no call runs is Torana's own, and waiting for a turn is neither's", () => {
  assert.deepEqual(ownTime({ startedMs: 100, calls: [] }, 30), { ownMs: 30, waitedMs: 0 })
  assert.deepEqual(ownTime({ startedMs: 100, calls: [CALL] }, 60), { ownMs: 20, waitedMs: 0 })
  const waited = { ...CALL, waitedMs: 5 }
  assert.deepEqual(ownTime({ startedMs: 100, calls: [waited] }, 60), { ownMs: 15, waitedMs: 5 })
  // Two parallel calls: their common time counts once.
  const beside = { ...CALL, startedMs: 120, endedMs: 155 }
  assert.deepEqual(ownTime({ startedMs: 100, calls: [CALL, beside] }, 60), { ownMs: 15, waitedMs: 0 })
})

test('own time and waiting are never negative, and never more than the whole', () => {
  const moment = fc.double({ min: 0, max: 1000, noNaN: true })
  const call = fc
    .record({ startedMs: moment, lastedMs: moment, waitedMs: moment })
    .map(({ startedMs, lastedMs, waitedMs }) => ({
      ...CALL,
      startedMs,
      endedMs: startedMs + lastedMs,
      waitedMs,
    }))
  fc.assert(
    fc.property(fc.array(call, { maxLength: 6 }), moment, moment, (calls, startedMs, durationMs) => {
      const { ownMs, waitedMs } = ownTime({ startedMs, calls }, durationMs)
      assert.ok(ownMs >= 0 && waitedMs >= 0)
      assert.ok(ownMs + waitedMs <= durationMs + 1e-6)
    }),
  )
})
