import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CELL_MS, CELLS, cellsOf } from './rules.ts'

test('a cell has the worst state of its half hour; slots outside of the day are left out', () => {
  const slot = (cell: number, worst: 'healthy' | 'ejected' | 'quarantined', deployment = 'm/one') => ({
    deployment,
    atMs: 1000 + cell * CELL_MS,
    worst,
  })
  const cells = cellsOf(
    [
      slot(-1, 'quarantined'),
      slot(0, 'healthy'),
      slot(2, 'healthy'),
      slot(2.5, 'ejected'),
      slot(2.6, 'healthy'),
      slot(CELLS, 'ejected'),
      slot(CELLS - 1, 'quarantined', 'm/two'),
    ],
    1000,
  )
  assert.deepEqual(
    [...cells],
    [
      ['m/one', `g.b${'.'.repeat(CELLS - 3)}`],
      ['m/two', `${'.'.repeat(CELLS - 1)}q`],
    ],
  )
})
