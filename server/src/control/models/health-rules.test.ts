import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeSummary } from '#core/traffic/node-summary.ts'
import { healthOf, weekFromMs, WEEK_CELL_MS } from './health-rules.ts'

const NOW_MS = Date.UTC(2026, 10, 20, 13)
const fromMs = weekFromMs(NOW_MS)
const sources = { summaries: [], drains: [], worst: [], fromMs, startedAtMs: 5 }

test('a cell of a model is the worst of its deployments, and the last cell is of now', () => {
  const at = (cell: number) => fromMs + cell * WEEK_CELL_MS
  const { cellsOf } = healthOf({
    ...sources,
    worst: [
      { deployment: 'm/a', atMs: at(0), worst: 'healthy' },
      { deployment: 'm/b', atMs: at(0), worst: 'ejected' },
      { deployment: 'm/b', atMs: at(3), worst: 'quarantined' },
      { deployment: 'm/a', atMs: at(3), worst: 'healthy' },
      { deployment: 'm/a', atMs: at(27), worst: 'limited' },
      // A week ago, and a clock that is ahead.
      { deployment: 'm/a', atMs: at(-1), worst: 'ejected' },
      { deployment: 'm/a', atMs: at(28), worst: 'ejected' },
      { deployment: 'other/a', atMs: at(5), worst: 'quarantined' },
    ],
  })
  assert.equal(cellsOf(['m/a', 'm/b']), `b..q${'.'.repeat(23)}w`)
  assert.equal(at(28) - at(0), 7 * 24 * 3_600_000)
  assert.equal(at(27), Math.floor(NOW_MS / WEEK_CELL_MS) * WEEK_CELL_MS)
})

test('a drain of the store counts before a node has heard of it, and silence is health', () => {
  const { standingOf } = healthOf({
    ...sources,
    drains: [{ deployment: 'm/a', reason: 'moving', by: 'maria', atMs: 77 }],
  })
  assert.deepEqual(standingOf('m/a'), { state: 'drained', until: null, since: '1970-01-01T00:00:00.077Z' })
  assert.deepEqual(standingOf('m/b'), { state: 'healthy', until: null, since: '1970-01-01T00:00:00.005Z' })
})

test('the state of now is in the last cell, except of a deployment that no one calls', () => {
  const seen = (id: string, state: string, calls: number) => ({
    id,
    state,
    calls,
    sinceMs: 7,
    untilMs: id === 'm/a' ? 9 : null,
    failures: {},
    rate: {},
    latency: { classes: [], counts: [] },
  })
  const of = (...deployments: object[]) =>
    healthOf({ ...sources, summaries: [{ node: 'n1', deployments }] as unknown as NodeSummary[] })
  const day = (last: string): string => '.'.repeat(27) + last
  for (const [state, calls, last] of [
    ['healthy', 0, '.'],
    ['healthy', 1, 'g'],
    ['ejected', 0, 'b'],
  ] as const)
    assert.equal(of(seen('m/a', state, calls)).cellsOf(['m/a', 'm/b']), day(last))
  assert.equal(of(seen('m/a', 'healthy', 1), seen('m/b', 'ejected', 0)).cellsOf(['m/b', 'm/a']), day('b'))
  const { standingOf } = of(seen('m/a', 'ejected', 1), seen('m/b', 'limited', 1))
  assert.deepEqual(standingOf('m/a'), {
    state: 'ejected',
    until: '1970-01-01T00:00:00.009Z',
    since: '1970-01-01T00:00:00.007Z',
  })
  assert.equal(standingOf('m/b').until, null)
})
