import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MANY_RUNS } from '#test/support/arbitraries.ts'
import { grantOf, projectOf, windowHolds, windowOf, type BudgetPeriod } from './budget.ts'

const DAY_MS = 86_400_000
const moment = fc.integer({ min: 0, max: Date.UTC(2100, 11, 31, 23, 59, 59, 999) })
const period = fc.constantFrom<BudgetPeriod>('day', 'week', 'month', 'total')

/** The same windows by the calendar of the runtime. */
function calendarWindow(per: BudgetPeriod, atMs: number): readonly [number, number] {
  const at = new Date(atMs)
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  switch (per) {
    case 'day':
      return [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)]
    case 'week': {
      const monday = day - ((at.getUTCDay() + 6) % 7)
      return [Date.UTC(year, month, monday), Date.UTC(year, month, monday + 7)]
    }
    case 'month':
      return [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)]
    case 'total':
      return [0, Date.UTC(9999, 11, 31, 23, 59, 59)]
  }
}

test('every window is that of the calendar, from 1970 to 2100', () => {
  fc.assert(
    fc.property(period, moment, (per, atMs) => {
      const { startMs, endMs } = windowOf(per, atMs)
      assert.deepEqual([startMs, endMs], calendarWindow(per, atMs))
    }),
    MANY_RUNS,
  )
})

test('every first and last millisecond of a month is in it, leap years and centuries included', () => {
  for (let year = 1970; year <= 2100; year += 1) {
    for (let month = 0; month < 12; month += 1) {
      const [startMs, endMs] = [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)]
      assert.deepEqual(windowOf('month', startMs), { startMs, endMs })
      assert.deepEqual(windowOf('month', endMs - 1), { startMs, endMs })
    }
  }
})

test('a moment is in its own window and in no other', () => {
  fc.assert(
    fc.property(period, moment, (per, atMs) => {
      const window = windowOf(per, atMs)
      assert.ok(windowHolds(window, atMs))
      assert.ok(!windowHolds(window, window.startMs - 1))
      assert.ok(!windowHolds(window, window.endMs))
      if (per !== 'total') assert.equal(windowOf(per, window.endMs).startMs, window.endMs)
    }),
    MANY_RUNS,
  )
})

test('windows begin with a day, so that the sums of an hour fall into one of them', () => {
  fc.assert(
    fc.property(period, moment, (per, atMs) => {
      assert.ok(Number.isInteger(windowOf(per, atMs).startMs / DAY_MS))
    }),
    MANY_RUNS,
  )
})

const amount = fc.bigInt({ min: 0n, max: 10n ** 15n })
const state = fc.record({ limitNanoUsd: amount, spentNanoUsd: amount, leasedNanoUsd: amount })

test('a grant never takes spent and leased beyond the limit', () => {
  fc.assert(
    fc.property(state, amount, fc.integer({ min: 0, max: 50 }), (before, needed, liveNodes) => {
      const granted = grantOf(before, needed, liveNodes)
      const left = before.limitNanoUsd - before.spentNanoUsd - before.leasedNanoUsd
      assert.ok(granted >= 0n)
      assert.ok(granted === 0n || granted <= left)
    }),
    MANY_RUNS,
  )
})

test('what is needed is granted exactly when it fits, and never less than it', () => {
  fc.assert(
    fc.property(state, amount, fc.integer({ min: 0, max: 50 }), (before, needed, liveNodes) => {
      const granted = grantOf(before, needed, liveNodes)
      const left = before.limitNanoUsd - before.spentNanoUsd - before.leasedNanoUsd
      if (left < needed) assert.equal(granted, 0n)
      else assert.ok(granted >= needed)
    }),
    MANY_RUNS,
  )
})

test('all that is left is granted, and not a nano-dollar more', () => {
  const before = { limitNanoUsd: 1000n, spentNanoUsd: 100n, leasedNanoUsd: 100n }
  assert.deepEqual([grantOf(before, 800n, 1), grantOf(before, 801n, 1)], [800n, 0n])
})

test('beyond what is needed a node gets its share of a quarter of what is left', () => {
  assert.equal(grantOf({ limitNanoUsd: 1000n, spentNanoUsd: 100n, leasedNanoUsd: 100n }, 1n, 1), 200n)
  assert.equal(grantOf({ limitNanoUsd: 1000n, spentNanoUsd: 100n, leasedNanoUsd: 100n }, 1n, 4), 50n)
  assert.equal(grantOf({ limitNanoUsd: 1000n, spentNanoUsd: 100n, leasedNanoUsd: 100n }, 60n, 4), 60n)
  fc.assert(
    fc.property(state, amount, fc.integer({ min: 1, max: 50 }), (before, needed, liveNodes) => {
      const granted = grantOf(before, needed, liveNodes)
      const left = before.limitNanoUsd - before.spentNanoUsd - before.leasedNanoUsd
      assert.ok(granted <= needed || granted * 4n * BigInt(liveNodes) <= left)
    }),
    MANY_RUNS,
  )
})

test('a budget of a project or of one of its keys belongs to the project', () => {
  assert.deepEqual(['project:search', 'key:search/ci'].map(projectOf), ['search', 'search'])
})
