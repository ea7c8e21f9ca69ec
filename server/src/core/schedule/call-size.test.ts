import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CallSize } from './call-size.ts'

test('background calls shrink by half while callers have to wait, and grow slowly otherwise', () => {
  const size = new CallSize()
  const at = (waits: number, nowMs: number): number => (size.next({ waits, excess: 0 }, nowMs), size.inputs)
  const first = at(0, 0)
  assert.equal(at(1, 200), first / 2)
  assert.deepEqual([at(1, 699), at(1, 700)], [first / 2, first / 2 + 32])
  for (let calls = 5; calls < 10; calls += 1) at(calls, calls * 200)
  const least = at(10, 2000)
  assert.equal(least, 16)
  assert.equal(at(10, 2100), least)
  const grown = at(10, 2600)
  assert.ok(grown > least)
  for (let ms = 3000; ms < 20_000; ms += 100) at(10, ms)
  assert.equal(at(10, 20_000), 256)
})

test('however many calls ask at once, the size changes once, and it always stays within its bounds', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(3), fc.nat(300)), { maxLength: 200 }), (steps) => {
      const size = new CallSize()
      let [waits, nowMs] = [0, 0]
      for (const [more, ms] of steps) {
        waits += more
        nowMs += ms
        size.next({ waits, excess: 0 }, nowMs)
        const { inputs } = size
        for (let again = 0; again < 10; again += 1) {
          const next = size.next({ waits, excess: 0 }, nowMs)
          assert.ok(next >= 16 && next <= 256 && next >= inputs * 0.7 && next <= inputs * 1.3)
          assert.equal(size.inputs, inputs)
        }
      }
    }),
  )
})

test('calls that begin together do not end together: their sizes are spread around the average', () => {
  const size = new CallSize()
  const sizes = Array.from({ length: 32 }, () => size.next({ waits: 0, excess: 0 }, 0)).sort((a, b) => a - b)
  const { inputs } = size
  const mean = sizes.reduce((sum, one) => sum + one, 0) / sizes.length
  assert.ok(Math.abs(mean - inputs) < inputs / 10, `${mean}`)
  assert.ok(new Set(sizes).size > 28, sizes.join(' '))
  assert.ok((sizes.at(-1) as number) - (sizes[0] as number) > inputs * 0.4, sizes.join(' '))
})

test('calls that take too long beside those of people shrink until they do not, and then keep their size', () => {
  fc.assert(
    fc.property(fc.integer({ min: 40, max: 400 }), (mostMs) => {
      const size = new CallSize()
      const sizes: number[] = []
      // A call takes 20 ms, and 1 ms for each input.
      for (let nowMs = 0; nowMs < 20_000; nowMs += 100) {
        size.next({ waits: 0, excess: (20 + size.inputs) / mostMs }, nowMs)
        if (nowMs >= 10_000) sizes.push(size.inputs)
      }
      const right = Math.min(256, Math.max(16, mostMs - 20))
      assert.ok(Math.max(...sizes) <= right, sizes.join(' '))
      assert.ok(
        Math.min(...sizes) >= Math.min(right, 16) && Math.min(...sizes) >= right / 2 - 32,
        sizes.join(' '),
      )
      assert.equal(new Set(sizes).size, 1)
    }),
  )
})
