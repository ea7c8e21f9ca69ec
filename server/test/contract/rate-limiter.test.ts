import { after } from 'node:test'
import type { Clock } from '#ports/clock.ts'
import { MemoryLimiter } from '#stores/memory/limiter.ts'
import { RedisConnection } from '#stores/redis/connection.ts'
import { RedisLimiter } from '#stores/redis/limiter.ts'
import { TAKE_SCRIPT } from '#stores/redis/take.ts'
import { startRedis } from '#test/support/redis.ts'
import { rateLimiterSuite } from './rate-limiter.ts'

/** A Unix time of 2026: magnitudes as they come from a real clock. */
const START_MICROSECONDS = 1_794_700_000_123_457

rateLimiterSuite('memory', async () => {
  const clock = { nowMicroseconds: START_MICROSECONDS }
  const monotonic: Clock = { nowMs: () => 0, monotonicMs: () => clock.nowMicroseconds / 1000 }
  return { limiter: new MemoryLimiter(monotonic, () => 1), clock }
})

const redis = await startRedis()

rateLimiterSuite('redis', async () => {
  const clock = { nowMicroseconds: START_MICROSECONDS }
  const connection = new RedisConnection({
    url: redis.url,
    scripts: [TAKE_SCRIPT],
    // These tests are about decisions; a busy machine must not turn them into tests of the deadline.
    replyDeadlineMs: 10_000,
    onError: (error) => {
      throw error
    },
  })
  await connection.open()
  after(() => connection.close())
  const limiter = new RedisLimiter({
    connection,
    fallback: {
      take: () => {
        throw new Error('decided without Redis')
      },
      correct: () => {
        throw new Error('corrected without Redis')
      },
    },
    fixedNowMicroseconds: () => clock.nowMicroseconds,
  })
  return { limiter, clock }
})
