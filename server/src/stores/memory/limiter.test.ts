import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RateLimit } from '#core/limits/limit.ts'
import type { Clock } from '#ports/clock.ts'
import { MemoryLimiter } from './limiter.ts'

function aLimit(id: number, perMinute = 60): RateLimit {
  return { id: `key:${id}:requests`, project: 'search', unit: 'requests', perMinute }
}

function aClock(): Clock & { ms: number } {
  const clock = { ms: 0, nowMs: () => clock.ms, monotonicMs: () => clock.ms }
  return clock
}

test('limits that are untouched again are forgotten', () => {
  const clock = aClock()
  const limiter = new MemoryLimiter(clock, () => 1)
  for (let id = 0; id < 5000; id += 1) {
    clock.ms += 10
    limiter.take([{ limit: aLimit(id), amount: 1 }])
  }
  // One request of sixty a minute is paid off in a second: a hundred limits are busy at any time.
  assert.ok(limiter.size < 110, String(limiter.size))
})

test('a busy limit is kept while others come and go', () => {
  const clock = aClock()
  const limiter = new MemoryLimiter(clock, () => 1)
  const busy = aLimit(-1, 10)
  for (let taken = 0; taken < 10; taken += 1) limiter.take([{ limit: busy, amount: 1 }])
  for (let id = 0; id < 5000; id += 1) {
    clock.ms += 1
    limiter.take([{ limit: aLimit(id), amount: 1 }])
  }
  assert.equal(limiter.take([{ limit: busy, amount: 1 }]).allowed, false)
})

test('memory stays bounded even if every limit is busy', () => {
  const limiter = new MemoryLimiter(aClock(), () => 1)
  for (let id = 0; id < 120_000; id += 1) limiter.take([{ limit: aLimit(id), amount: 60 }])
  assert.ok(limiter.size <= 100_000)
  // The latest are those that still count.
  assert.equal(limiter.take([{ limit: aLimit(119_999), amount: 1 }]).allowed, false)
  assert.equal(limiter.take([{ limit: aLimit(50_000), amount: 1 }]).allowed, false)
})

test('a changed share counts from the next take on', () => {
  let share = 1
  const limiter = new MemoryLimiter(aClock(), () => share)
  const limit = aLimit(1, 600)
  limiter.take([{ limit, amount: 100 }])
  share = 1 / 3
  assert.equal(limiter.take([{ limit, amount: 1 }]).states[0]?.remaining, 99)
})
