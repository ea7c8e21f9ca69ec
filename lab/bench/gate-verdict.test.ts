import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verdictOf, type Costs } from './gate-verdict.ts'

/** As on a busy machine: the first while code is compiled, one beside another process's work. */
const WINDOWS: readonly Costs[] = [
  { bareCpu: 120, toranaCpu: 350 },
  { bareCpu: 51, toranaCpu: 116 },
  { bareCpu: 50, toranaCpu: 112 },
  { bareCpu: 98, toranaCpu: 274 },
  { bareCpu: 56, toranaCpu: 110 },
]

function dearer(by: number): Costs[] {
  return WINDOWS.map(({ bareCpu, toranaCpu }) => ({ bareCpu, toranaCpu: toranaCpu * by }))
}

test('the better quarter of the windows speaks, whatever the others cost', () => {
  assert.equal(verdictOf(WINDOWS, 0.46).ratio, 50 / 112)
  assert.ok(verdictOf(WINDOWS, 0.46).isPassed)
})

test('a machine whose speed changes between windows changes nothing', () => {
  const atSpeeds = WINDOWS.map(({ bareCpu, toranaCpu }, index) => ({
    bareCpu: bareCpu * (1 + index),
    toranaCpu: toranaCpu * (1 + index),
  }))
  assert.equal(verdictOf(atSpeeds, 0.46).ratio, verdictOf(WINDOWS, 0.46).ratio)
})

test('a lane that noise moved passes, one that costs a third more does not', () => {
  assert.ok(verdictOf(dearer(1.1), 0.46).isPassed)
  assert.ok(!verdictOf(dearer(1.34), 0.46).isPassed)
  assert.ok(verdictOf(dearer(0.5), 0.46).isPassed)
})

test('the same lane fails beside a committed figure that is a third higher', () => {
  assert.ok(!verdictOf(WINDOWS, 0.46 * 1.34).isPassed)
})

test('a gate that measured nothing does not pass', () => {
  assert.deepEqual(
    [verdictOf([], 0.46).isPassed, verdictOf([], 0.46).text],
    [false, 'hot lane: nothing was measured'],
  )
})
