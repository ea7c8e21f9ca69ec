import { test } from 'node:test'
import assert from 'node:assert/strict'
import { fittingColumns, widthOf, type Column } from './data-table-column.ts'

const column = (id: string, rest: Partial<Column<string>> = {}): Column<string> => ({
  id,
  head: id,
  cell: (row) => row,
  ...rest,
})
const COLUMNS = [
  column('time', { width: 100 }),
  column('name', { least: 150 }),
  column('key', { width: 100, drop: 2 }),
  column('cache', { width: 50, drop: 1 }),
]

/** The width of the table, and the columns that a person sees. */
const CASES: readonly (readonly [roomWidth: number, shown: string])[] = [
  [Number.POSITIVE_INFINITY, 'time name key cache'],
  [400, 'time name key cache'],
  [399, 'time name key'],
  [350, 'time name key'],
  [349, 'time name'],
  [10, 'time name'],
]

for (const [roomWidth, shown] of CASES)
  test(`a table ${roomWidth} wide shows ${shown}: columns leave in their order, and some never do`, () => {
    const fitting = fittingColumns(COLUMNS, roomWidth)
    assert.equal(fitting.map(({ id }) => id).join(' '), shown)
  })

test('a column without a width counts with the least that it needs', () => {
  assert.equal(widthOf([column('a', { width: 30 }), column('b'), column('c', { least: 200 })]), 370)
})
