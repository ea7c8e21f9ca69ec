import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ticksTo, waterfallLayout } from './layout.ts'

const call = (attempt: number, start_ms: number, duration_ms: number, more = {}) => ({
  attempt,
  start_ms,
  duration_ms,
  waited_ms: 0,
  first_byte_ms: null,
  outcome: 'ok',
  instead_of: null,
  ...more,
})
const step = (name: string, start_ms: number, duration_ms: number) => ({ name, start_ms, duration_ms })

test('calls stand between gathering and checking, and one that took the place of another is joined to it', () => {
  const { rows, joints } = waterfallLayout(
    [step('authenticate', 0, 0.1), step('gather', 4, 3), step('shape', 245, 4)],
    [call(0, 7, 38, { outcome: 'rateLimited' }), call(1, 7, 185), call(2, 46, 199, { instead_of: 0 })],
    259,
  )
  assert.deepEqual(
    rows.map(({ key }) => key),
    ['authenticate', 'gather', 'call 0', 'call 1', 'call 2', 'shape'],
  )
  assert.deepEqual(joints, [{ fromRow: 2, toRow: 4, atMs: 45 }])
  assert.equal(rows[2]?.bars[0]?.tone, 'failed')
})

test('a call is pale until its first byte and solid after it, and its wait stands before it', () => {
  const { rows } = waterfallLayout([], [call(0, 20, 100, { waited_ms: 5, first_byte_ms: 90 })], 130)
  assert.deepEqual(rows[0]?.bars, [
    { fromMs: 15, toMs: 20, tone: 'waited' },
    { fromMs: 20, toMs: 90, tone: 'upstream' },
    { fromMs: 90, toMs: 120, tone: 'answering' },
  ])
})

test('a step that nobody could see is folded into the one after it', () => {
  const { rows } = waterfallLayout([step('authenticate', 0, 0.02), step('read', 0.02, 3)], [], 3.1)
  assert.deepEqual(
    rows.map(({ key, startMs, durationMs }) => [key, startMs, durationMs]),
    [['read', 0, 3.02]],
  )
})

test('a call that dwarfs all the rest brings a lens for the beginning', () => {
  assert.equal(waterfallLayout([step('admit', 0, 2)], [call(0, 5, 9000)], 9010).lensMs, 20)
  assert.equal(waterfallLayout([step('admit', 0, 2)], [call(0, 5, 180)], 200).lensMs, undefined)
})

test('ticks are round, begin at zero, and none is beyond the end', () => {
  fc.assert(
    fc.property(fc.double({ min: 0.1, max: 1e7, noNaN: true }), (endMs) => {
      const ticks = ticksTo(endMs)
      assert.equal(ticks[0], 0)
      assert.ok(ticks.length >= 3 && ticks.length <= 7, `${ticks.length} ticks`)
      assert.ok((ticks.at(-1) ?? 0) <= endMs * 1.001)
    }),
  )
})
