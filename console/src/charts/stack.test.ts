import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { brushIn, brushOf } from './brush.ts'
import { count, duration, moneyTick } from '../app/format.ts'
import { fromZero } from './axis.ts'
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
      const { ticks, share } = fromZero(most, 3, String)
      assert.equal(ticks[0]?.value, 0)
      assert.ok((ticks.at(-1)?.value ?? 0) >= most * (1 - 1e-9), `${most}`)
      assert.deepEqual([share(0), share(ticks.at(-1)?.value ?? 0)], [0, 1])
      assert.ok(ticks.length <= 8)
    }),
  )
})

test('no two ticks of an axis read the same, and small ones have digits enough', () => {
  const texts = (most: number, text: (value: number, digits: number) => string, lines = 3): string[] =>
    fromZero(most, lines, text).ticks.map((tick) => tick.text)
  assert.deepEqual(texts(1, count), ['0', '1'])
  assert.deepEqual(texts(2, count), ['0', '1', '2'])
  assert.deepEqual(texts(0.0005, moneyTick, 5), ['$0', '$0.0001', '$0.0002', '$0.0003', '$0.0004', '$0.0005'])
  assert.deepEqual(texts(0.00025, moneyTick, 5), [
    '$0',
    '$0.00005',
    '$0.00010',
    '$0.00015',
    '$0.00020',
    '$0.00025',
  ])
  const most = fc.double({ min: 1e-8, max: 1e9, noNaN: true })
  fc.assert(
    fc.property(
      most,
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom(moneyTick, duration),
      (value, lines, text) => {
        const all = texts(value, (one, digits) => text(one, digits), lines)
        assert.ok(all.length >= 2)
        if (text === moneyTick || value >= 1) assert.equal(new Set(all).size, all.length, all.join())
      },
    ),
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 6 }), (value, lines) => {
      const all = texts(value, count, lines)
      assert.equal(new Set(all).size, all.length, all.join())
    }),
  )
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
