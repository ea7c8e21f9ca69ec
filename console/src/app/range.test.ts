import { test } from 'node:test'
import assert from 'node:assert/strict'
import { rangeOf } from './range.ts'

const NOW = Date.parse('2026-11-15T16:31:00Z')

test('a page looks at its usual range when its address says nothing', () => {
  assert.deepEqual(rangeOf({}, '1h', NOW), { fromMs: NOW - 3_600_000, toMs: NOW, span: '1h' })
})

test('from a moment to a moment goes before so far back', () => {
  const range = rangeOf({ since: '7d', from: '2026-11-15T16:00:00Z', to: '2026-11-15T16:10:00Z' }, '1h', NOW)
  assert.deepEqual(range, { fromMs: NOW - 1_860_000, toMs: NOW - 1_260_000, span: undefined })
})

test('a range that ends before it begins is not looked at', () => {
  assert.equal(rangeOf({ from: '2026-11-15T16:10:00Z', to: '2026-11-15T16:00:00Z' }, '24h', NOW).span, '24h')
})
