import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { brushIn, brushOf } from './brush.ts'
import { powerTicks, valueTicks } from './axis.ts'
import { stacked, tallest } from './stack.ts'

const columns = fc.array(fc.array(fc.nat(1000), { minLength: 1, maxLength: 6 }), { maxLength: 40 })

test('parts of a column touch, don’t overlap, and sum to it', () => {
  fc.assert(
    fc.property(columns, (values) => {
      for (const [index, parts] of stacked(values).entries()) {
        let top = 0
        for (const part of parts) {
          assert.equal(part.from, top)
          assert.ok(part.to > part.from)
          top = part.to
        }
        assert.equal(
          top,
          (values[index] ?? []).reduce((sum, value) => sum + value, 0),
        )
        assert.ok(top <= tallest(values))
      }
    }),
  )
})

test('an axis of sums begins at zero and reaches the highest value', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (most) => {
      const ticks = valueTicks(most)
      assert.equal(ticks[0], 0)
      assert.ok((ticks.at(-1) ?? 0) >= most, `${most}: ${ticks.join()}`)
      assert.ok(ticks.length <= 8)
    }),
  )
})

test('an axis of logarithms holds all values', () => {
  assert.deepEqual(powerTicks(12, 870), [10, 100, 1000])
})

test('a mark is the same whichever way it is dragged', () => {
  assert.deepEqual(brushOf(7, 3), brushOf(3, 7))
})

test('a mark of all slots is no mark', () => {
  const slots = [0, 10, 20, 30]
  assert.equal(brushIn(0, 40, slots, 10), undefined)
  assert.deepEqual(brushIn(10, 30, slots, 10), { first: 1, last: 2 })
  assert.equal(brushIn(100, 200, slots, 10), undefined)
})
