import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallTimes } from './call-times.ts'

/** Calls of both kinds for a second, each kind with one duration. */
function timesOf(peopleMs: number, backgroundMs: number): CallTimes {
  const times = new CallTimes()
  for (let nowMs = 0; nowMs <= 1000; nowMs += 10) {
    times.ended(false, peopleMs, nowMs)
    times.ended(true, backgroundMs, nowMs)
  }
  return times
}

test('calls in the background may take twice as long as those of people', () => {
  assert.equal(timesOf(300, 600).excess(1000), 1)
  assert.equal(timesOf(300, 1200).excess(1000), 2)
})

test('however short the calls of people are, a tenth of a second is not too long', () => {
  assert.ok(timesOf(5, 90).excess(1000) <= 1)
  assert.ok(timesOf(5, 200).excess(1000) > 1)
})

test('without recent callers, background calls may take any time', () => {
  const times = timesOf(100, 5000)
  assert.ok(times.excess(1000) > 1)
  times.ended(true, 5000, 12_000)
  assert.equal(times.excess(12_000), 0)
})

test('what calls took a while ago does not count when new ones come', () => {
  const times = timesOf(100, 5000)
  times.ended(false, 100, 60_000)
  times.ended(true, 100, 60_000)
  assert.equal(times.excess(60_000), 0.5)
})
