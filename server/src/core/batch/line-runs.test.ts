import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runsOf } from './line-runs.ts'

test('runs hold exactly the lines that they were made of', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 60 })), (numbers) => {
      const runs = runsOf(numbers)
      for (let number = 0; number <= 61; number += 1)
        assert.equal(
          runs.some(([first, last]) => first <= number && number <= last),
          numbers.includes(number),
        )
      for (const [index, [first, last]] of runs.entries()) {
        assert.ok(first <= last)
        assert.ok(first > (runs[index - 1]?.[1] ?? -1) + 1)
      }
    }),
  )
})
