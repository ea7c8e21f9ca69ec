import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isInRuns, runsOf } from './line-runs.ts'

test('runs hold exactly the lines that they were made of', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 60 })), (numbers) => {
      const runs = runsOf(numbers)
      const isIn = isInRuns(runs.toReversed())
      for (let number = 0; number <= 61; number += 1) assert.equal(isIn(number), numbers.includes(number))
      for (const [index, [first, last]] of runs.entries()) {
        assert.ok(first <= last)
        assert.ok(first > (runs[index - 1]?.[1] ?? -1) + 1)
      }
    }),
  )
})
