import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LatencyCounts, quantileOf } from './latency-counts.ts'

const durations = fc.array(fc.double({ min: 0.2, max: 600_000, noNaN: true }), {
  minLength: 1,
  maxLength: 300,
})

function countsOf(values: readonly number[]): LatencyCounts {
  const counts = new LatencyCounts()
  for (const value of values) counts.add(value)
  return counts
}

test('a quantile is within a twentieth and a rounding of the true one', () => {
  fc.assert(
    fc.property(durations, fc.constantFrom(0.5, 0.95, 0.99, 1), (values, share) => {
      const sorted = [...values].sort((a, b) => a - b)
      const truth = sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] as number
      const found = countsOf(values).quantile(share) as number
      assert.ok(Math.abs(found - truth) <= truth * 0.052 + 0.05, `${found} for ${truth}`)
    }),
  )
})

test('counts of parts add up to the counts of the whole, in any order', () => {
  fc.assert(
    fc.property(durations, durations, (some, others) => {
      const whole = countsOf([...some, ...others])
      const parts = [countsOf(others).sparse(), countsOf(some).sparse()]
      for (const share of [0.5, 0.95, 0.99]) assert.equal(quantileOf(parts, share), whole.quantile(share))
      const sum = new LatencyCounts()
      for (const part of parts) sum.addAll(part)
      assert.equal(sum.total, some.length + others.length)
      assert.deepEqual(sum.sparse(), whole.sparse())
    }),
  )
})

test('nothing counted has no quantile, and what can’t be a time is counted as the shortest', () => {
  const counts = new LatencyCounts()
  assert.equal(counts.quantile(0.95), undefined)
  counts.add(Number.NaN)
  counts.add(-1)
  counts.add(0)
  assert.deepEqual(counts.sparse(), { classes: [0], counts: [3] })
  counts.clear()
  assert.equal(counts.total, 0)
  counts.add(Number.POSITIVE_INFINITY)
  assert.equal(counts.sparse().classes.length, 1)
  counts.addAll({ classes: [9999, -1, 3], counts: [5, 5] })
  assert.equal(counts.total, 1)
})
