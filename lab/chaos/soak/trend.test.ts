import assert from 'node:assert/strict'
import { test } from 'node:test'
import { growthOf, tenthsOf } from './trend.ts'

const samplesOf = (bytesOf: (index: number) => number) =>
  Array.from({ length: 100 }, (_, index) => ({ atMs: index * 36_000, bytes: bytesOf(index), handles: 7 }))

test('a leak shows in the slope and in the last tenth, and a flat line shows none', () => {
  const { first, last, perHour } = growthOf(
    samplesOf((index) => 100 + index),
    ({ bytes }) => bytes,
  )
  assert.deepEqual([first, last, Math.round(perHour)], [105, 195, 100])
  assert.equal(growthOf(samplesOf(Math.random), ({ handles }) => handles).perHour, 0)
})

test('answers are split into tenths by the time of their request, each one once', () => {
  const answers = Array.from({ length: 25 }, (_, index) => ({ atMs: 100 - index, tookMs: index }))
  const tenths = tenthsOf(answers)
  assert.equal(tenths.length, 10)
  assert.deepEqual(
    tenths.flat(),
    Array.from({ length: 25 }, (_, index) => 24 - index),
  )
})
