import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { normal } from '#test/simulation/schedule-world.ts'
import { seeded } from '#test/support/seeded.ts'
import { Latency, sizeClass } from './latency.ts'

const sizes = fc.integer({ min: 0, max: 8 })
const durationsMs = fc.double({ min: 1, max: 60_000, noNaN: true })

test('more work is never of a smaller size, and sizes are few', () => {
  fc.assert(
    fc.property(fc.nat(10_000_000), fc.nat(10_000_000), (one, other) => {
      const [less, more] = [Math.min(one, other), Math.max(one, other)]
      assert.ok(sizeClass(less, 0) <= sizeClass(more, 0))
      assert.ok(sizeClass(0, less) <= sizeClass(0, more))
      assert.ok(sizeClass(more, 0) <= 8 && sizeClass(less, 0) >= 0)
    }),
  )
  assert.deepEqual(
    [1, 64, 65, 256, 257, 100_000].map((tokens) => sizeClass(tokens, 0)),
    [0, 0, 1, 1, 2, 6],
  )
  assert.deepEqual(
    [1, 4, 5, 10].map((images) => sizeClass(0, images)),
    [0, 1, 2, 2],
  )
})

test('the usual is the median, however the calls scatter', () => {
  for (const spread of [0.1, 0.3, 0.6]) {
    const [random, latency] = [seeded(11), new Latency()]
    for (let call = 0; call < 2000; call += 1)
      latency.learn(0, 50 * Math.exp(spread * normal(random)), false, call)
    const usualMs = latency.usualMs(0) ?? 0
    assert.ok(usualMs > 50 * 0.75 && usualMs < 50 * 1.33, `${usualMs} ms at a spread of ${spread}`)
  }
})

test('one call, however long, moves the usual by 6 % at most; a busy one not at all', () => {
  fc.assert(
    fc.property(durationsMs, fc.double({ min: 0.001, max: 10_000_000, noNaN: true }), (usual, odd) => {
      const latency = new Latency()
      for (let call = 0; call < 100; call += 1) latency.learn(3, usual, false, call)
      latency.learn(3, odd, true, 100)
      assert.ok(Math.abs((latency.usualMs(3) ?? 0) / usual - 1) < 1e-6)
      latency.learn(3, odd, false, 100)
      assert.ok(Math.abs((latency.usualMs(3) ?? 0) / usual - 1) < 0.06)
    }),
  )
})

test('a size never seen is bounded by its neighbours, and nothing known is nothing said', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(sizes, durationsMs), { maxLength: 20 }), sizes, (calls, asked) => {
      const latency = new Latency()
      for (const [size, ms] of calls) latency.learn(size, ms, false, 0)
      const known = new Set(calls.map(([size]) => size))
      const usual = latency.usualMs(asked)
      assert.equal(usual === undefined, known.size === 0)
      if (usual === undefined || known.has(asked)) return
      const larger = [...known].filter((size) => size > asked)
      const near = larger.length > 0 ? Math.min(...larger) : Math.max(...known)
      assert.equal(usual, (latency.usualMs(near) ?? 0) * 4 ** Math.max(0, asked - near))
    }),
  )
})

test('what is known of one that nobody calls fades', () => {
  const latency = new Latency()
  latency.learn(0, 500, false, 0)
  assert.equal(latency.expectedMs(0, 100), 500)
  assert.ok((latency.expectedMs(0, 30_000) ?? 0) < 50)
})
