import { after } from 'node:test'
import { setImmediate as yieldLoop, setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '#runtime/clock.ts'
import { MemoryVectorCache } from '#stores/memory/vector-cache.ts'
import { RedisVectorCache } from '#stores/redis/vector-cache.ts'
import { TieredVectorCache } from '#stores/tiered-vector-cache.ts'
import { startRedis } from '#test/support/redis.ts'
import { vectorCacheSuite } from './vector-cache.ts'
import type { VectorCacheUnderTest } from './vector-cache.ts'

vectorCacheSuite('memory', async () => {
  let nowMs = 1000
  const cache = new MemoryVectorCache({ maxBytes: 64 * 1024 * 1024, clock: { monotonicMs: () => nowMs } })
  return { cache, settle: async () => {}, pass: async (durationMs) => void (nowMs += durationMs) }
})

const redis = await startRedis()

async function openRedisCache(): Promise<Omit<VectorCacheUnderTest, 'cache'> & { cache: RedisVectorCache }> {
  const cache = new RedisVectorCache({
    url: redis.url,
    clock: systemClock,
    // These tests are about vectors; a busy machine must not turn them into tests of the deadline.
    replyDeadlineMs: 10_000,
    events: (event) => {
      throw new Error(JSON.stringify(event))
    },
  })
  await cache.open()
  const settle = async (): Promise<void> => {
    while (cache.size().entries > 0) await yieldLoop()
  }
  after(async () => {
    await settle()
    await cache.close()
  })
  return {
    cache,
    settle,
    pass: (durationMs) => delay(durationMs),
  }
}

vectorCacheSuite('redis', openRedisCache)

vectorCacheSuite('tiered', async () => {
  const { cache: far, settle, pass } = await openRedisCache()
  // Room for a few only, so that both caches are needed.
  const near = new MemoryVectorCache({ maxBytes: 6000, clock: systemClock })
  return { cache: new TieredVectorCache({ near, far, clock: systemClock }), settle, pass }
})
