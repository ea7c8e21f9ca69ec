import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filtersOf, hasFilters, timesOf } from './filters.ts'

const NOW = Date.UTC(2026, 10, 15, 16, 31)
const HOUR = 3_600_000

test('a range with a span is a mark in it; without one it is the whole window', () => {
  const from = new Date(NOW - 600_000).toISOString()
  const to = new Date(NOW).toISOString()
  assert.deepEqual(timesOf({}, NOW).window.fromMs, NOW - HOUR)
  assert.equal(timesOf({}, NOW).marked, undefined)
  assert.deepEqual(timesOf({ since: '24h', from, to }, NOW).marked, { fromMs: NOW - 600_000, toMs: NOW })
  assert.equal(timesOf({ since: '24h', from, to }, NOW).window.fromMs, NOW - 24 * HOUR)
  const days = timesOf({ from, to }, NOW)
  assert.deepEqual([days.window.fromMs, days.marked], [NOW - 600_000, undefined])
})

test('a mark that ends before it begins is none', () => {
  const [from, to] = [new Date(NOW).toISOString(), new Date(NOW - 1).toISOString()]
  assert.equal(timesOf({ since: '1h', from, to }, NOW).marked, undefined)
})

test('pictures are generations and edits, and what is not asked for is not sent', () => {
  const range = { fromMs: NOW - HOUR, toMs: NOW }
  assert.deepEqual(filtersOf({ kind: 'image', slower: 500 }, range), {
    from: '2026-11-15T15:31:00.000Z',
    to: '2026-11-15T16:31:00.000Z',
    kind: ['generation', 'edit'],
    slower_ms: 500,
  })
  assert.ok(!hasFilters({ since: '1h', sort: '-cost', project: 'search' }))
})
