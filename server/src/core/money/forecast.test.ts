import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MANY_RUNS } from '#test/support/arbitraries.ts'
import { forecastUntil, usedUp, type Spending } from './forecast.ts'

const DAY_MS = 86_400_000
const NOON = Date.UTC(2026, 10, 16, 12)
const END = Date.UTC(2026, 11, 1)

const amount = fc.bigInt({ min: 0n, max: 10n ** 15n })
const spending: fc.Arbitrary<Spending> = fc.record({
  lastDaysNanoUsd: fc.array(amount, { minLength: 7, maxLength: 7 }),
  spentNanoUsd: amount,
  nowMs: fc.integer({ min: Date.UTC(2026, 10, 1), max: END - 1 }),
})

test('with the same sum on each day the forecast goes on with it, to the part of a day', () => {
  const even = { lastDaysNanoUsd: Array.from({ length: 7 }, () => 1000n), spentNanoUsd: 500n, nowMs: NOON }
  const expected = 500n + 500n + 14n * 1000n
  assert.deepEqual(forecastUntil(even, END), {
    nanoUsd: expected,
    lowNanoUsd: expected,
    highNanoUsd: expected,
  })
})

test('a quiet weekend is forecast as a quiet weekend', () => {
  // 2026-11-16 is a Monday: the last seven days end with a Sunday.
  const days = [100n, 100n, 100n, 100n, 100n, 0n, 0n]
  const monday = { lastDaysNanoUsd: days, spentNanoUsd: 0n, nowMs: Date.UTC(2026, 10, 16) }
  assert.equal(forecastUntil(monday, Date.UTC(2026, 10, 21))?.nanoUsd, 500n)
  assert.equal(forecastUntil(monday, Date.UTC(2026, 10, 23))?.nanoUsd, 500n)
})

test('fewer than three days of spending make no forecast', () => {
  const days = [0n, 0n, 0n, 0n, 0n, 5n, 5n]
  const young = { lastDaysNanoUsd: days, spentNanoUsd: 10n, nowMs: NOON }
  assert.equal(forecastUntil(young, END), undefined)
  assert.equal(usedUp(young, 100n, END), undefined)
  assert.notEqual(forecastUntil({ ...young, lastDaysNanoUsd: [0n, 0n, 0n, 0n, 5n, 0n, 5n] }, END), undefined)
})

test('low, usual and high are in order, and none is below what was spent', () => {
  fc.assert(
    fc.property(spending, (drawn) => {
      const forecast = forecastUntil(drawn, END)
      if (forecast === undefined) return
      assert.ok(forecast.lowNanoUsd >= drawn.spentNanoUsd)
      assert.ok(forecast.lowNanoUsd <= forecast.nanoUsd)
      assert.ok(forecast.nanoUsd <= forecast.highNanoUsd)
    }),
    MANY_RUNS,
  )
})

test('the limit is reached in order: first at the busy pace, last at the quiet one, and never after the end', () => {
  fc.assert(
    fc.property(spending, amount, (drawn, limit) => {
      const when = usedUp(drawn, limit, END)
      if (when === undefined) return
      const inOrder = [when.earliestMs, when.atMs, when.latestMs].map((atMs) => atMs ?? Infinity)
      assert.deepEqual(
        inOrder,
        inOrder.toSorted((a, b) => a - b),
      )
      for (const atMs of [when.earliestMs, when.atMs, when.latestMs])
        assert.ok(atMs === undefined || (atMs >= drawn.nowMs && atMs <= END))
    }),
    MANY_RUNS,
  )
})

test('at the moment when the limit is reached, the forecast is the limit but for the spending of a millisecond', () => {
  fc.assert(
    fc.property(spending, amount, (drawn, limit) => {
      const atMs = usedUp(drawn, limit, END)?.atMs
      if (atMs === undefined || limit <= drawn.spentNanoUsd) return
      const before = forecastUntil(drawn, atMs)?.nanoUsd as bigint
      const after = forecastUntil(drawn, atMs + 1)?.nanoUsd as bigint
      const days = BigInt(Math.ceil((atMs - drawn.nowMs) / DAY_MS) + 2)
      assert.ok(before <= limit)
      assert.ok(after + days >= limit)
    }),
    MANY_RUNS,
  )
})
