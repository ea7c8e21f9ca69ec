import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verdictOf } from './gate-verdict.ts'

const RATIOS = [0.47, 0.52, 0.31, 0.5, 0.49]

test('the middle window speaks, whatever one of them cost', () => {
  assert.ok(verdictOf(RATIOS, 0.49).isPassed)
})

test('a lane that noise moved passes, one that costs a half more does not', () => {
  const dearer = (by: number): number[] => RATIOS.map((ratio) => ratio / by)
  assert.ok(verdictOf(dearer(1.1), 0.49).isPassed)
  assert.ok(!verdictOf(dearer(1.5), 0.49).isPassed)
})

test('the same lane fails beside a committed figure that is a half higher', () => {
  assert.ok(!verdictOf(RATIOS, 0.49 * 1.5).isPassed)
})

test('a gate that measured nothing does not pass', () => {
  assert.throws(() => verdictOf([], 0.49), /nothing was measured/)
})
