import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { closedLoop, Latencies, openLoop } from './load.ts'

test('a percentile is the figure that a sorted list has there', () => {
  const times = fc.array(fc.integer({ min: 1, max: 60_000_000 }), { minLength: 1, maxLength: 400 })
  fc.assert(
    fc.property(times, fc.constantFrom(0.5, 0.9, 0.99, 1), (microseconds, share) => {
      const sorted = microseconds.toSorted((left, right) => left - right)
      const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
      const seen = Latencies.of(microseconds.map((one) => one / 1000)).atMs(share) * 1000
      assert.ok(Math.abs(seen - exact) <= exact * 1e-4, `${seen} for ${exact}`)
    }),
  )
})

test('an open loop sends at its rate though nothing is answered', async () => {
  const ending = new AbortController()
  let sent = 0
  const startedMs = performance.now()
  const loop = openLoop({ perSecond: 200, signal: ending.signal }, () => (sent += 1))
  await wait(300)
  ending.abort()
  await loop
  const due = ((performance.now() - startedMs) / 1000) * 200
  assert.ok(sent >= 59 && sent <= due + 1, `${sent} of ${due}`)
})

test('a closed loop has no more in progress than it has clients, and waits for the last answers', async () => {
  const ending = new AbortController()
  let [inProgress, most, ended] = [0, 0, 0]
  const loop = closedLoop({ clients: 3, signal: ending.signal }, async () => {
    inProgress += 1
    most = Math.max(most, inProgress)
    await wait(5)
    inProgress -= 1
    ended += 1
  })
  await wait(50)
  ending.abort()
  await loop
  assert.deepEqual([most, inProgress], [3, 0])
  assert.ok(ended >= 3)
})
