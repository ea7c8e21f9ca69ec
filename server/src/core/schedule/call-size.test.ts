import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CallSize } from './call-size.ts'

test('calls in the background shrink by half while people have to wait, and grow slowly while nobody has to', () => {
  const size = new CallSize()
  const first = size.next(0, 0)
  assert.equal(size.next(1, 200), first / 2)
  for (let calls = 2; calls < 10; calls += 1) size.next(calls, calls * 200)
  const least = size.next(10, 2000)
  assert.equal(least, 16)
  assert.equal(size.next(10, 2100), least)
  const grown = size.next(10, 2600)
  assert.ok(grown > least)
  for (let ms = 3000; ms < 20_000; ms += 100) size.next(10, ms)
  assert.equal(size.next(10, 20_000), 256)
})

test('however many calls ask at once, the size changes once, and it always stays within its bounds', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(3), fc.nat(300)), { maxLength: 200 }), (steps) => {
      const size = new CallSize()
      let [waits, nowMs] = [0, 0]
      for (const [more, ms] of steps) {
        waits += more
        nowMs += ms
        const inputs = size.next(waits, nowMs)
        assert.ok(inputs >= 16 && inputs <= 256)
        for (let again = 0; again < 10; again += 1) assert.equal(size.next(waits, nowMs), inputs)
      }
    }),
  )
})
