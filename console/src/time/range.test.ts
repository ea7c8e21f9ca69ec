import { test } from 'node:test'
import assert from 'node:assert/strict'
import { daysAfter, startOf } from './day.ts'
import { rangeOf, rangeText, sinceUntil } from './range.ts'

const NOW = Date.parse('2026-11-15T16:31:00Z')

test('a page shows its usual range when its address names none', () => {
  assert.deepEqual(rangeOf({}, '1h', NOW), { fromMs: NOW - 3_600_000, toMs: NOW, span: '1h' })
})

test('from a moment to a moment goes before so far back', () => {
  const range = rangeOf({ since: '7d', from: '2026-11-15T16:00:00Z', to: '2026-11-15T16:10:00Z' }, '1h', NOW)
  assert.deepEqual(range, { fromMs: NOW - 1_860_000, toMs: NOW - 1_260_000, span: undefined })
})

test('a range that ends before it begins is not shown', () => {
  assert.equal(rangeOf({ from: '2026-11-15T16:10:00Z', to: '2026-11-15T16:00:00Z' }, '24h', NOW).span, '24h')
})

test('the API is asked for an end only where the range has one', () => {
  assert.deepEqual(sinceUntil(rangeOf({}, '1h', NOW)), { since: '2026-11-15T15:31:00.000Z' })
  const range = rangeOf({ from: '2026-11-10T00:00:00Z', to: '2026-11-13T00:00:00Z' }, '1h', NOW)
  assert.deepEqual(sinceUntil(range), {
    since: '2026-11-10T00:00:00.000Z',
    until: '2026-11-13T00:00:00.000Z',
  })
})

for (const zone of ['UTC', 'Asia/Kolkata', 'America/Los_Angeles'])
  test(`picked days are named as they were picked, in ${zone}`, () => {
    const text = (first: string, last: string): string =>
      rangeText({ fromMs: startOf(first, zone), toMs: startOf(daysAfter(last, 1), zone) }, zone)
    assert.equal(text('2026-11-01', '2026-11-15'), '1 Nov – 15 Nov')
    // A day of 25 hours, and one of 23.
    assert.equal(text('2026-11-01', '2026-11-01'), '1 Nov')
    assert.equal(text('2026-03-08', '2026-03-08'), '8 Mar')
  })

test('a range that is not of whole days has the clock of both ends', () => {
  const text = (from: string, to: string): string =>
    rangeText({ fromMs: Date.parse(from), toMs: Date.parse(to) }, 'UTC')
  assert.equal(text('2026-11-15T16:00:00Z', '2026-11-15T16:10:00Z'), '15 Nov 16:00 – 16:10')
  assert.equal(text('2026-11-15T16:00:00Z', '2026-11-16T00:00:00Z'), '15 Nov 16:00 – 16 Nov 00:00')
})
