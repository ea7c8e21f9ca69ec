import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nodeClock } from './clock.ts'

const DAY_MS = 86_400_000
const NOW_MS = 1_800_000_000_000

/** A machine whose wall clock is off, and a store whose clock is right. */
function aMachine({ offMs = 0 } = {}) {
  const state = { monotonicMs: 1000, offMs, storeOffMs: 0 }
  const clock = nodeClock({
    nowMs: () => NOW_MS + state.monotonicMs + state.offMs,
    monotonicMs: () => state.monotonicMs,
  })
  const storeMs = (): number => NOW_MS + state.monotonicMs + state.storeOffMs
  return {
    state,
    clock,
    storeMs,
    /** One heartbeat: the store reads its clock between the question and the answer. */
    hear: (beforeMs = 0, afterMs = 0): void => {
      const askedMs = state.monotonicMs
      state.monotonicMs += beforeMs
      const readMs = storeMs()
      state.monotonicMs += afterMs
      clock.follow(readMs, askedMs)
    },
  }
}

test('a node has the clock of its machine until the store has answered, and the clock of the store from then on', () => {
  const { clock, hear, storeMs, state } = aMachine({ offMs: 40 * DAY_MS })
  assert.deepEqual([clock.nowMs() - storeMs(), clock.skewMs(), clock.steadyMs()], [40 * DAY_MS, undefined, 0])
  hear()
  assert.deepEqual([clock.nowMs() - storeMs(), clock.skewMs()], [0, 40 * DAY_MS])
  state.monotonicMs += 5000
  assert.deepEqual([clock.nowMs() - storeMs(), clock.steadyMs()], [0, 5000])
})

test('a wall clock that jumps moves nothing but the skew', () => {
  const { clock, hear, storeMs, state } = aMachine()
  hear()
  state.offMs = -3 * DAY_MS
  assert.deepEqual([clock.nowMs() - storeMs(), clock.skewMs()], [0, -3 * DAY_MS])
  state.monotonicMs += 1000
  hear()
  assert.deepEqual([clock.skewMs(), clock.steadyMs()], [-3 * DAY_MS, 1000])
})

test('a slow answer moves no clock that is right, however long it took and wherever the store read its clock', () => {
  const waits = fc.nat({ max: 60_000 })
  fc.assert(
    fc.property(fc.array(fc.tuple(waits, waits), { minLength: 1, maxLength: 20 }), (answers) => {
      const { clock, hear, storeMs } = aMachine()
      for (const [beforeMs, afterMs] of answers) {
        hear(beforeMs, afterMs)
        assert.deepEqual([clock.nowMs() - storeMs(), clock.skewMs()], [0, 0])
      }
    }),
  )
})

test('the clock of a node is wrong by no more than its quickest answer took', () => {
  const waits = fc.nat({ max: 5000 })
  const offsets = fc.integer({ min: -50 * DAY_MS, max: 50 * DAY_MS })
  fc.assert(
    fc.property(
      offsets,
      fc.array(fc.tuple(waits, waits), { minLength: 1, maxLength: 20 }),
      (offMs, answers) => {
        const { clock, hear, storeMs } = aMachine({ offMs })
        for (const [beforeMs, afterMs] of answers) hear(beforeMs, afterMs)
        const quickestMs = Math.min(...answers.map(([before, after]) => before + after))
        assert.ok(Math.abs(clock.nowMs() - storeMs()) <= quickestMs)
      },
    ),
  )
})

test('a jump of the clock of the store begins the steady time again, in either direction', () => {
  for (const jumpMs of [40 * DAY_MS, -40 * DAY_MS, 11_000]) {
    const { clock, hear, state } = aMachine()
    hear()
    state.monotonicMs += 2 * 3_600_000
    hear()
    assert.equal(clock.steadyMs(), 2 * 3_600_000)
    state.storeOffMs = jumpMs
    hear()
    assert.equal(clock.steadyMs(), 0)
  }
})
