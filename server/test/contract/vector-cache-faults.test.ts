/** What the vector cache in Redis promises when Redis dies, hangs, is slow, is full, or holds foreign values. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as yieldLoop, setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '#runtime/clock.ts'
import { MemoryVectorCache } from '#stores/memory/vector-cache.ts'
import { RedisVectorCache } from '#stores/redis/vector-cache.ts'
import type { VectorCacheEvent } from '#stores/redis/vector-cache.ts'
import { TieredVectorCache } from '#stores/tiered-vector-cache.ts'
import { startRedis } from '#test/support/redis.ts'
import { startReplyProxy } from './rate-limiter-proxy.ts'
import { aDigest, aVector, exactly, expectFound, HOUR_MS } from './vector-cache.ts'

/** For tests in which Redis is well: a busy machine must not turn them into tests of the deadline. */
const PATIENT_MS = 10_000
/** For tests that do not depend on it: no reader waits longer, whatever a busy machine takes. */
const SHORT_MS = 300
/** Within this a node must have found back to a healthy Redis. */
const BACK_MS = 30_000

const redis = await startRedis()

interface Node {
  readonly cache: RedisVectorCache
  readonly events: VectorCacheEvent[]
  readonly settle: () => Promise<void>
  readonly isBack: () => Promise<void>
}

async function aNode({
  url = redis.url,
  replyDeadlineMs = PATIENT_MS,
  maxWaitingBytes,
}: {
  readonly url?: string
  readonly replyDeadlineMs?: number
  readonly maxWaitingBytes?: number
} = {}): Promise<Node> {
  const events: VectorCacheEvent[] = []
  const cache = new RedisVectorCache({
    url,
    clock: systemClock,
    replyDeadlineMs,
    maxWaitingBytes,
    events: (event) => void events.push(event),
  })
  await cache.open()
  after(() => cache.close())
  return {
    cache,
    events,
    settle: async () => {
      while (cache.size().entries > 0) await yieldLoop()
    },
    isBack: async () => {
      const endMs = performance.now() + BACK_MS
      while (cache.state() === 'away') {
        assert.ok(performance.now() < endMs, `not back within ${BACK_MS} ms`)
        await delay(10)
      }
    },
  }
}

function someEntries(count: number, width = 4) {
  return Array.from({ length: count }, () => ({ digest: aDigest(), vector: aVector(width) }))
}

function kindsOf(events: readonly VectorCacheEvent[]): string[] {
  return [...new Set(events.map(({ kind }) => kind))].sort()
}

test('a Redis that is killed in the middle means misses, and once it is back vectors are kept again', async () => {
  const { cache, events, settle, isBack } = await aNode()
  const entries = someEntries(500, 1536)
  const digests = entries.map(({ digest }) => digest)
  cache.setMany(entries, HOUR_MS)
  await settle()
  const asked = cache.getMany(digests)
  cache.setMany(entries, HOUR_MS)
  await redis.kill9()
  assert.equal((await asked).length, 500)
  await settle()
  await expectFound(
    cache,
    digests,
    digests.map(() => undefined),
  )
  assert.equal(cache.state(), 'away')
  cache.setMany(entries, HOUR_MS)
  assert.equal(cache.size().entries, 0, 'nothing is queued for a Redis that is away')
  assert.ok(cache.counts.droppedVectors >= 500)
  assert.ok(kindsOf(events).includes('away'))

  await redis.restart()
  await isBack()
  await expectFound(cache, [digests[0] ?? ''], [undefined])
  cache.setMany(entries.slice(0, 3), HOUR_MS)
  await settle()
  await expectFound(
    cache,
    digests.slice(0, 3),
    entries.slice(0, 3).map(({ vector }) => vector),
  )
})

test('a Redis that hangs is waited for once, then asked nothing until it answers again', async () => {
  const { cache, events, settle, isBack } = await aNode({ replyDeadlineMs: SHORT_MS })
  const [entry] = someEntries(1)
  assert.ok(entry)
  cache.setMany([entry], HOUR_MS)
  await settle()
  await isBack()
  redis.pause()
  await expectFound(cache, [entry.digest, aDigest()], [undefined, undefined])
  assert.equal(cache.state(), 'away')
  const lateBefore = cache.counts.lateDigests
  for (let again = 0; again < 100; again += 1) await expectFound(cache, [entry.digest], [undefined])
  assert.equal(cache.counts.lateDigests, lateBefore, 'it was asked again')
  assert.deepEqual(kindsOf(events), ['away', 'late'])
  redis.resume()
  await isBack()
  await expectFound(cache, [entry.digest], [entry.vector])
})

test('a Redis that hangs while it is written to is noticed without a read', async () => {
  const { cache, events, settle, isBack } = await aNode({ replyDeadlineMs: SHORT_MS })
  await isBack()
  redis.pause()
  cache.setMany(someEntries(10), HOUR_MS)
  await settle()
  assert.equal(cache.state(), 'away')
  assert.deepEqual(kindsOf(events), ['away', 'dropped'])
  assert.equal(cache.counts.droppedVectors, 10)
  redis.resume()
  await isBack()
})

test('what has come by the deadline counts, and a slow line is no outage', async () => {
  const proxy = await startReplyProxy(redis.port)
  const { cache, events, settle } = await aNode({ url: proxy.url, replyDeadlineMs: 1000 })
  const entries = someEntries(1280, 256)
  const digests = entries.map(({ digest }) => digest)
  cache.setMany(entries, HOUR_MS)
  await settle()
  assert.equal(cache.counts.droppedVectors, 0)
  let chunks = 0
  // Each of twenty replies is about 70 KB, and a part at most 64 KB.
  proxy.swallows = () => (chunks += 1) > 10
  const found = await cache.getMany(digests)
  const hits = found.filter((vector) => vector !== undefined).length
  assert.ok(hits > 0 && hits < 1280 && hits % 64 === 0, `${hits} hits`)
  for (const [index, vector] of found.entries())
    assert.deepEqual(exactly(vector), index < hits ? exactly(entries[index]?.vector) : undefined)
  assert.deepEqual(events, [{ kind: 'late', digests: 1280 - hits }])
  assert.equal(cache.state(), 'ready')
})

const DAMAGE: Readonly<Record<string, string>> = {
  'cut short': `redis.call('SET', KEYS[1], string.sub(redis.call('GET', KEYS[1]), 1, -2))`,
  'too long': `redis.call('APPEND', KEYS[1], 'x')`,
  'a changed bit of its values': `redis.call('SETRANGE', KEYS[1], 60, 'x')`,
  'another version': `redis.call('SETRANGE', KEYS[1], 0, string.char(9))`,
  empty: `redis.call('SET', KEYS[1], '')`,
  text: `redis.call('SET', KEYS[1], 'garbage that somebody else put here, of some length')`,
  'the value of another digest': `redis.call('SET', KEYS[1], redis.call('GET', KEYS[2]))`,
}

test('a value that is damaged or foreign is a miss, and is reported', async () => {
  const { cache, events, settle } = await aNode()
  for (const [name, script] of Object.entries(DAMAGE)) {
    const [one, other] = someEntries(2, 40)
    assert.ok(one && other)
    cache.setMany([one, other], HOUR_MS)
    await settle()
    await redis.command('EVAL', script, '2', `v1:${one.digest}`, `v1:${other.digest}`)
    events.length = 0
    await expectFound(cache, [other.digest, one.digest], [other.vector, undefined])
    assert.deepEqual(events, [{ kind: 'broken', values: 1 }], name)
    cache.setMany([one], HOUR_MS)
    await settle()
    await expectFound(cache, [one.digest], [one.vector])
  }
  const listed = aDigest()
  await redis.command('LPUSH', `v1:${listed}`, 'x')
  await expectFound(cache, [listed], [undefined])
  assert.equal(cache.state(), 'ready')
})

test('more writes than may wait are dropped and reported; the others arrive', async () => {
  const { cache, events, settle } = await aNode({ maxWaitingBytes: 10 * 400 })
  const entries = someEntries(25, 100)
  cache.setMany(entries, HOUR_MS)
  assert.deepEqual(cache.size(), { entries: 10, bytes: 4000 })
  await settle()
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['dropped'],
  )
  assert.equal(cache.counts.droppedVectors, 15)
  await expectFound(
    cache,
    entries.map(({ digest }) => digest),
    entries.map(({ vector }, index) => (index < 10 ? vector : undefined)),
  )
})

test('a vector that is too large for an entry is dropped and reported; its neighbours arrive', async () => {
  const { cache, events, settle } = await aNode()
  const [one, other] = someEntries(2)
  assert.ok(one && other)
  cache.setMany([{ ...one, vector: { ...one.vector, tokens: 0.5 } }, other], HOUR_MS)
  await settle()
  await expectFound(cache, [one.digest, other.digest], [undefined, other.vector])
  assert.deepEqual(kindsOf(events), ['dropped'])
})

test('a full Redis that does not evict refuses writes, which is reported, and is still read', async () => {
  const { cache, events, settle } = await aNode()
  const [kept, refused] = someEntries(2)
  assert.ok(kept && refused)
  cache.setMany([kept], HOUR_MS)
  await settle()
  await redis.command('CONFIG', 'SET', 'maxmemory', '1')
  try {
    cache.setMany([refused], HOUR_MS)
    await settle()
    await expectFound(cache, [kept.digest, refused.digest], [kept.vector, undefined])
  } finally {
    await redis.command('CONFIG', 'SET', 'maxmemory', '0')
  }
  const [event] = events
  assert.ok(event?.kind === 'dropped' && /OOM/.test(event.reason), JSON.stringify(events))
})

test('keys die with their time to live, also the longest there can be', async () => {
  const { cache, events, settle } = await aNode()
  const [hour, ever] = someEntries(2)
  assert.ok(hour && ever)
  cache.setMany([hour], HOUR_MS + 0.7)
  cache.setMany([ever], Number.POSITIVE_INFINITY)
  await settle()
  const left = Number(await redis.command('PTTL', `v1:${hour.digest}`))
  assert.ok(left > HOUR_MS - 60_000 && left <= HOUR_MS, String(left))
  assert.ok(Number(await redis.command('PTTL', `v1:${ever.digest}`)) > 100 * 365 * 24 * HOUR_MS)
  await expectFound(cache, [ever.digest], [ever.vector])
  assert.deepEqual(events, [])
})

test('what one node has written another finds, keeps near for the rest of its time, and has without Redis', async () => {
  const writer = await aNode()
  const reader = await aNode()
  const [entry] = someEntries(1)
  assert.ok(entry)
  writer.cache.setMany([entry], HOUR_MS)
  await writer.settle()
  let monotonicMs = 0
  const near = new MemoryVectorCache({ maxBytes: 1_000_000, clock: { monotonicMs: () => monotonicMs } })
  const tiered = new TieredVectorCache({
    near,
    far: reader.cache,
    // Half of its time has gone by.
    clock: { nowMs: () => systemClock.nowMs() + HOUR_MS / 2 },
  })
  await expectFound(tiered, [entry.digest], [entry.vector])
  assert.equal(tiered.size().entries, 1)
  await reader.cache.close()
  await expectFound(tiered, [aDigest(), entry.digest], [undefined, entry.vector])
  monotonicMs += HOUR_MS / 2
  await expectFound(tiered, [entry.digest], [undefined])
})
