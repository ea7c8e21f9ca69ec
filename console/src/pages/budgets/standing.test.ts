import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nanoOf } from '../../app/money.ts'
import { endsEarly, fullness, markOf, usedUpWith, type Standing } from './standing.ts'

const NOW = Date.UTC(2026, 10, 15)
const DAY_MS = 86_400_000

const standing = (over: Partial<Standing> = {}): Standing => ({
  id: 'project:ads',
  scope: 'project',
  name: 'ads',
  managed_by: 'store',
  managed_at: null,
  limit_usd: '50.000000000',
  per: 'month',
  hard: true,
  window: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
  spent_usd: '40.000000000',
  unknown_usd: '0.000000000',
  left_usd: '10.000000000',
  leased_usd: '0.000000000',
  refuses: false,
  forecast: {
    used_up_at: new Date(NOW + 5 * DAY_MS).toISOString(),
    earliest: null,
    latest: null,
    at_end_usd: '72.000000000',
  },
  ...over,
})

test('a budget that will not last is a warning, a used up hard one is worse, and a calm one is good', () => {
  assert.equal(markOf(standing()), 'warn')
  assert.equal(endsEarly(standing()), true)
  assert.equal(markOf(standing({ left_usd: '0.000000000' })), 'bad')
  assert.equal(markOf(standing({ left_usd: '0.000000000', hard: false })), 'warn')
  assert.equal(markOf(standing({ forecast: null, spent_usd: '10.000000000' })), 'good')
  assert.equal(fullness(standing()), 0.8)
})

test('a budget that rejects requests is bad, even when nothing of it is spent', () => {
  const empty = {
    forecast: null,
    spent_usd: '0.000000000',
    left_usd: '0.000500000',
    limit_usd: '0.000500000',
  }
  assert.equal(markOf(standing(empty)), 'good')
  assert.equal(markOf(standing({ ...empty, refuses: true })), 'bad')
})

test('another limit is used up earlier or later at the same pace, or lasts, or is full already', () => {
  const at = (usd: string) => usedUpWith(standing(), nanoOf(usd), NOW)
  assert.deepEqual(at('60.000000000'), { kind: 'on', atMs: NOW + 10 * DAY_MS })
  assert.deepEqual(at('90.000000000'), { kind: 'lasts' })
  assert.deepEqual(at('40.000000000'), { kind: 'full' })
  assert.deepEqual(usedUpWith(standing({ forecast: null }), nanoOf('60'), NOW), { kind: 'unknown' })
})
