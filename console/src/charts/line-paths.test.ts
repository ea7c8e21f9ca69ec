import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linePaths } from './line-paths.ts'

const at = (...values: (number | null)[]) => values.map((y, index) => ({ x: index * 10, y }))
const BOX = { isStep: false, bottom: 100, endX: 60 }

test('a line has a gap where nothing is known, and a value between two gaps is a point', () => {
  const { line, area, alone } = linePaths(at(1, 2, null, 4, null, 6, 7), BOX)
  assert.equal(line, 'M0 1L10 2M30 4M50 6L60 7')
  assert.equal(area, 'M0 1L10 2V100H0ZM30 4V100H30ZM50 6L60 7V100H50Z')
  assert.deepEqual(alone, [{ x: 30, y: 4 }])
})

test('a single slot is a point, and no slot is nothing', () => {
  assert.deepEqual(linePaths(at(5), BOX).alone, [{ x: 0, y: 5 }])
  assert.deepEqual(linePaths([], BOX), { line: '', area: '', alone: [] })
})

test('a step holds until the next point, and the last one to the end', () => {
  assert.equal(linePaths(at(1, 2, null, 4), { ...BOX, isStep: true }).line, 'M0 1H10V2H20M30 4H60')
})
