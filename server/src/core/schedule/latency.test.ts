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

test('the measurements of an idle deployment fade', () => {
  const latency = new Latency()
  latency.learn(0, 500, false, 0)
  for (const [nowMs, expectedMs] of [
    [100, 500],
    [2500, 500],
    [4500, 500 / Math.E],
    [30_000, 500 * Math.exp(-13.75)],
  ] as const)
    assert.equal(latency.expectedMs(0, nowMs), expectedMs, `after ${nowMs} ms`)
})

test('among the first calls of a size each counts less than the one before it', () => {
  const latency = new Latency()
  for (const ms of [100, 100, 200]) latency.learn(0, ms, false, 0)
  assert.equal(latency.usualMs(0)?.toFixed(6), (100 * 2 ** (1 / 4)).toFixed(6))
})

test('the first call of a size while all are twice as slow tells half its time as the usual', () => {
  const latency = new Latency()
  latency.learn(0, 100, false, 0)
  latency.learn(0, 200, true, 1_000_000)
  assert.equal(latency.ratio(1, 600), 2)
  assert.equal(latency.usualMs(1), 300)
})

test('where another time becomes the usual, the time that is expected stays the same', () => {
  const latency = new Latency()
  latency.learn(0, 100, false, 0)
  latency.learn(0, 300, true, 1_000_000)
  latency.rescale(3)
  assert.deepEqual([latency.usualMs(0), latency.expectedMs(0, 1_000_000)], [300, 300])
})
