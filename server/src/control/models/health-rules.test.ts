import assert from 'node:assert/strict'
import { test } from 'node:test'
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
      { deployment: 'm/a', atMs: at(27), worst: 'limited' },
      { deployment: 'other/a', atMs: at(5), worst: 'quarantined' },
    ],
  })
  assert.equal(cellsOf(['m/a', 'm/b']), `b${'.'.repeat(26)}w`)
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
