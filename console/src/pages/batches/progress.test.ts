import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doneOf, leftMs, markOf, shareOf, tookMs } from './progress.ts'

const lines = { total: 200, completed: 40, failed: 10 }

test('lines that failed are done too', () => {
  assert.equal(doneOf({ lines }), 50)
  assert.equal(shareOf({ lines }), 0.25)
  assert.equal(shareOf({ lines: { total: 0, completed: 0, failed: 0 } }), 1)
})

test('the time left follows from the rate of late, and is not guessed without one', () => {
  assert.equal(leftMs({ lines, lines_per_second: 10 }), 15_000)
  assert.equal(leftMs({ lines, lines_per_second: 0 }), undefined)
  assert.equal(leftMs({ lines, lines_per_second: null }), undefined)
})

test('a state has its shape: what waits for a budget, or ended with failed lines, is not simply well', () => {
  const pause = {
    code: 'budget_exhausted',
    text: 'The hard budget does not cover the next lines.',
    until: '2026-11-16T12:00:00.000Z',
    by: null,
    at: null,
    reason: null,
    remedy: { kind: 'raise_budget', project: 'search', key: 'search/indexer', model: null },
  } as const
  assert.equal(markOf({ state: 'in_progress', pause: null, lines }), 'wait')
  assert.equal(markOf({ state: 'in_progress', pause, lines }), 'warn')
  assert.equal(markOf({ state: 'completed', pause: null, lines }), 'warn')
  assert.equal(markOf({ state: 'completed', pause: null, lines: { ...lines, failed: 0 } }), 'good')
  assert.equal(markOf({ state: 'failed', pause: null, lines }), 'bad')
  assert.equal(markOf({ state: 'cancelled', pause: null, lines }), 'off')
})

test('a batch that has ended took as long as it took, whatever the time is now', () => {
  const made = '2026-11-16T12:00:00.000Z'
  assert.equal(tookMs({ created_at: made, ended_at: '2026-11-16T12:01:00.000Z' }, Date.now()), 60_000)
  assert.equal(tookMs({ created_at: made, ended_at: null }, Date.parse(made) + 5000), 5000)
})
