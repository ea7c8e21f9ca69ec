import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfiguredBudget } from '#core/catalog/catalog.ts'
import { COARSE_SLOT_MS, FINE_SLOT_MS } from '#ports/traffic-history.ts'
import { budgetsOf, paceOf, seriesOf, slotsOf } from './rules.ts'

const NOW_MS = Date.UTC(2026, 10, 17, 16, 30)
const HOUR_MS = 3_600_000

const budget = (per: ConfiguredBudget['per'], limitNanoUsd: bigint): ConfiguredBudget => ({
  limitNanoUsd,
  per,
  hard: false,
})

test('a chart has fine slots while they fit and are kept, and never more than 90 columns', () => {
  for (const [hours, endedHours, unitMs] of [
    [1, 0, FINE_SLOT_MS],
    [1, 24, FINE_SLOT_MS],
    [1, 26, COARSE_SLOT_MS],
    [24, 0, COARSE_SLOT_MS],
    [24 * 30, 0, COARSE_SLOT_MS],
    [72, 96, COARSE_SLOT_MS],
  ] as const) {
    const asked = {
      fromMs: NOW_MS - (endedHours + hours) * HOUR_MS,
      toMs: NOW_MS - endedHours * HOUR_MS,
    }
    const { fromMs, toMs, slotMs } = slotsOf(asked, NOW_MS)
    assert.deepEqual([slotMs % unitMs, fromMs % slotMs, toMs], [0, 0, asked.toMs])
    assert.ok(fromMs >= asked.fromMs)
    assert.ok((toMs - fromMs) / slotMs <= 90)
    if (hours === 1) assert.equal(slotMs, unitMs)
  }
})

test('a span shorter than a slot has the slot that it lies in', () => {
  const span = { fromMs: NOW_MS + 1, toMs: NOW_MS + 2 }
  assert.deepEqual(slotsOf(span, NOW_MS + 2), { fromMs: NOW_MS, toMs: NOW_MS + 2, slotMs: FINE_SLOT_MS })
})

test('a slot without traffic is a column of zeros', () => {
  const slots = { fromMs: NOW_MS - 3 * FINE_SLOT_MS, toMs: NOW_MS, slotMs: FINE_SLOT_MS }
  const { slot_seconds, data } = seriesOf([], slots)
  assert.equal(slot_seconds, FINE_SLOT_MS / 1000)
  assert.deepEqual(
    data.map(({ at, answered, p95_ms, spent_usd }) => [Date.parse(at), answered, p95_ms, spent_usd]),
    [3, 2, 1].map((slot) => [NOW_MS - slot * FINE_SLOT_MS, 0, null, '0.000000000']),
  )
})

test('the configuration’s budget of a project counts, not the store’s', () => {
  const stored = [
    { name: 'ads', budget: budget('day', 1n) },
    { name: 'search', budget: budget('day', 2n) },
    { name: 'free', budget: undefined },
  ]
  const declared = [{ name: 'ads', budget: budget('day', 9n) }]
  assert.deepEqual(
    [...budgetsOf(stored, declared)].map(([name, { limitNanoUsd }]) => [name, limitNanoUsd]),
    [
      ['ads', 9n],
      ['search', 2n],
    ],
  )
})

test('the pace of a day is the sum of what each budget allows for a day', () => {
  for (const [per, day] of [
    ['day', 2100n],
    ['week', 300n],
    // November has 30 days.
    ['month', 70n],
    ['total', undefined],
  ] as const)
    assert.equal(paceOf([budget(per, 2100n)], NOW_MS), day, per)
  assert.equal(paceOf([budget('day', 5n), budget('week', 70n), budget('total', 1n)], NOW_MS), 15n)
  assert.equal(paceOf([], NOW_MS), undefined)
})
