/** What the rate limits in Redis promise when Redis dies, hangs, forgets or loses its replies. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as yieldLoop, setTimeout as delay } from 'node:timers/promises'
import type { RateLimit, RateDecision } from '#core/limits/limit.ts'
import { systemClock } from '#runtime/clock.ts'
import { MemoryLimiter } from '#stores/memory/limiter.ts'
import { REPLY_DEADLINE_MS, RedisConnection } from '#stores/redis/connection.ts'
import { RedisLimiter } from '#stores/redis/limiter.ts'
import { TAKE_SCRIPT } from '#stores/redis/take.ts'
import { eventually } from '#test/support/process.ts'
import { startRedis } from '#test/support/redis.ts'
import { startReplyProxy } from './rate-limiter-proxy.ts'
import { aLimit } from './rate-limiter.ts'

/** Two more turns of a busy event loop and a coarse clock on top of a timeout. */
const MAX_WAIT_MS = REPLY_DEADLINE_MS + 200
/** For tests in which Redis is well: a busy machine must not turn them into tests of the deadline. */
const PATIENT_MS = 10_000
/** Within this a node must have found back to a healthy Redis. */
const BACK_MS = 30_000

const redis = await startRedis()

/** Time in which this process ran: it does not advance while the machine runs another process. */
const TICK_MS = 5
let livedMs = 0
setInterval(() => (livedMs += TICK_MS), TICK_MS).unref()

interface Taken {
  readonly allowed: boolean
  readonly waitedMs: number
}

interface Node {
  readonly limiter: RedisLimiter
  readonly take: (limit: RateLimit, amount?: number) => Promise<Taken>
  /** Waits until it counts in Redis again. */
  readonly isBack: () => Promise<void>
}

async function aNode({
  url = redis.url,
  share = 1,
  nowMicroseconds,
  replyDeadlineMs = PATIENT_MS,
}: {
  readonly url?: string
  readonly share?: number
  readonly nowMicroseconds?: number
  readonly replyDeadlineMs?: number
} = {}): Promise<Node> {
  const connection = new RedisConnection({ url, scripts: [TAKE_SCRIPT], replyDeadlineMs })
  await connection.open()
  after(() => connection.close())
  const limiter = new RedisLimiter({
    connection,
    fallback: new MemoryLimiter(systemClock, () => share),
    fixedNowMicroseconds: nowMicroseconds === undefined ? undefined : () => nowMicroseconds,
  })
  return {
    limiter,
    take: async (limit, amount = 1) => {
      const startMs = livedMs
      const { allowed } = await limiter.take([{ limit, amount }])
      return { allowed, waitedMs: livedMs - startMs }
    },
    isBack: async () => {
      const endMs = performance.now() + BACK_MS
      while (limiter.state() === 'local') {
        assert.ok(performance.now() < endMs, `not back within ${BACK_MS} ms`)
        await delay(10)
      }
    },
  }
}

/** Units that Redis holds against a limit whose clock does not advance. */
async function takenInRedis(limit: RateLimit): Promise<number> {
  const value = await redis.command('GET', `torana:rate:{${limit.project}}:${limit.id}`)
  return typeof value === 'string' ? Number(value.split(':')[1]) / 60_000_000 : 0
}

function allowedOf(decisions: readonly RateDecision[]): number {
  return decisions.filter(({ allowed }) => allowed).length
}

const NOW = 1_794_700_000_123_457

test('all requests and corrections of one round of the event loop are one script call', async () => {
  const { limiter } = await aNode()
  const limits = [aLimit(1000), aLimit(1000, 'chat')]
  for (const limit of limits) limiter.correct(limit, 5)
  await Promise.all(
    Array.from({ length: 100 }, async () => limiter.take(limits.map((limit) => ({ limit, amount: 1 })))),
  )
  assert.deepEqual(limiter.counts, { takes: 100, localDecisions: 0, scriptCalls: 1, timeouts: 0, errors: 0 })
})

test('a correction reaches Redis although no request follows', async () => {
  const { limiter } = await aNode({ nowMicroseconds: NOW })
  const limit = aLimit(1000)
  limiter.correct(limit, 7)
  limiter.correct(limit, 5)
  await eventually(async () => assert.equal(await takenInRedis(limit), 12))
})

test('idle limits vanish from Redis, and those of a project share a hash tag', async () => {
  const { take } = await aNode()
  const limit = aLimit(60)
  await take(limit, 30)
  const key = `torana:rate:{search}:${limit.id}`
  // Thirty seconds of debt and a minute of margin.
  const expiryMs = Number(await redis.command('PTTL', key))
  assert.ok(expiryMs > 85_000 && expiryMs <= 90_000, String(expiryMs))
})

test('nodes that share a Redis admit exactly the limit together', async () => {
  const nodes = await Promise.all([1, 2, 3].map(() => aNode({ share: 1 / 3, nowMicroseconds: NOW })))
  const limit = aLimit(600)
  const decisions: RateDecision[] = []
  for (let round = 0; round < 20; round += 1) {
    const takes = nodes.flatMap(({ limiter }) =>
      Array.from({ length: 20 }, async () => limiter.take([{ limit, amount: 1 }])),
    )
    decisions.push(...(await Promise.all(takes)))
  }
  assert.equal(decisions.length, 1200)
  assert.equal(allowedOf(decisions), 600)
})

test('by the clock of Redis they admit the limit and what the elapsed time pays off', async () => {
  const nodes = await Promise.all([1, 2, 3].map(() => aNode({ share: 1 / 3 })))
  const limit = aLimit(600)
  const startMs = performance.now()
  let allowed = 0
  while (performance.now() - startMs < 500) {
    const takes = nodes.flatMap(({ limiter }) =>
      Array.from({ length: 50 }, async () => limiter.take([{ limit, amount: 1 }])),
    )
    allowed += allowedOf(await Promise.all(takes))
  }
  const paidOff = (performance.now() - startMs) / 100
  assert.ok(allowed >= 600 + 3 && allowed <= 600 + Math.ceil(paidOff), `${allowed}, ${paidOff}`)
})

test('without Redis each of three nodes admits a third', async () => {
  const away = await startRedis()
  const nodes = await Promise.all([1, 2, 3].map(() => aNode({ url: away.url, share: 1 / 3 })))
  await away.kill9()
  const limit = aLimit(600)
  for (const { limiter } of nodes) {
    const decisions = await Promise.all(
      Array.from({ length: 400 }, async () => limiter.take([{ limit, amount: 1 }])),
    )
    const allowed = allowedOf(decisions)
    assert.ok(allowed >= 180 && allowed <= 220, String(allowed))
  }
})

test('a node that starts without Redis decides at once, and finds it when it comes', async () => {
  const late = await startRedis()
  await late.kill9()
  const { limiter, take, isBack } = await aNode({ url: late.url })
  assert.equal(limiter.state(), 'local')
  assert.ok(!(limiter.take([{ limit: aLimit(5), amount: 1 }]) instanceof Promise))
  await late.restart()
  await isBack()
  await take(aLimit(5))
  assert.equal(limiter.counts.scriptCalls, 1)
})

test('kill -9 and restart: every request is decided in time, and the node comes back', async () => {
  const mortal = await startRedis()
  const { limiter, take, isBack } = await aNode({ url: mortal.url, replyDeadlineMs: REPLY_DEADLINE_MS })
  const limit = aLimit(1_000_000)
  const load = { runs: true }
  const waits: number[] = []
  const loaded = Promise.all(
    [1, 2, 3, 4].map(async () => {
      while (load.runs) {
        waits.push((await take(limit)).waitedMs)
        await delay(2)
      }
    }),
  )
  for (let round = 0; round < 5; round += 1) {
    await delay(50)
    await mortal.kill9()
    await eventually(async () => assert.equal(limiter.state(), 'local'))
    await mortal.restart()
    await isBack()
  }
  load.runs = false
  await loaded
  assert.ok(Math.max(...waits) < MAX_WAIT_MS, String(Math.max(...waits)))
  assert.ok(limiter.counts.localDecisions > 0)
  const callsBefore = limiter.counts.scriptCalls
  await take(limit)
  assert.equal(limiter.counts.scriptCalls, callsBefore + 1)
})

test('FLUSHALL lets limits start afresh and nothing else', async () => {
  const { limiter, take } = await aNode()
  const limit = aLimit(3)
  for (const expected of [true, true, true, false]) assert.equal((await take(limit)).allowed, expected)
  await redis.command('FLUSHALL')
  for (const expected of [true, true, true, false]) assert.equal((await take(limit)).allowed, expected)
  assert.deepEqual([limiter.counts.localDecisions, limiter.state()], [0, 'shared'])
})

test('a script that Redis forgot is sent again, and takes once', async () => {
  const { limiter, take } = await aNode({ nowMicroseconds: NOW })
  const limit = aLimit(100)
  await take(limit)
  await redis.command('SCRIPT', 'FLUSH')
  await Promise.all([take(limit), yieldLoop().then(() => take(limit))])
  assert.equal(await takenInRedis(limit), 3)
  assert.deepEqual([limiter.counts.localDecisions, limiter.state()], [0, 'shared'])
})

test('a Redis that hangs costs one timeout; then no request waits until it is back', async () => {
  const hanging = await startRedis()
  const { limiter, take, isBack } = await aNode({ url: hanging.url, replyDeadlineMs: REPLY_DEADLINE_MS })
  const limit = aLimit(1000)
  await take(limit)
  await isBack()
  hanging.pause()
  const { timeouts } = limiter.counts
  const first = await Promise.all([take(limit), delay(30).then(() => take(limit))])
  for (const { waitedMs } of first) assert.ok(waitedMs < MAX_WAIT_MS, String(waitedMs))
  assert.equal(limiter.counts.timeouts, timeouts + 1)
  // Long enough for several tries to connect, which succeed in the kernel and get no greeting.
  const endMs = performance.now() + 2500
  while (performance.now() < endMs) {
    assert.ok(!(limiter.take([{ limit, amount: 1 }]) instanceof Promise))
    await delay(5)
  }
  hanging.resume()
  await isBack()
  const { scriptCalls, localDecisions } = limiter.counts
  await take(limit)
  assert.deepEqual(
    [limiter.counts.scriptCalls, limiter.counts.localDecisions],
    [scriptCalls + 1, localDecisions],
  )
})

test('a Redis that has become slow is left alone until it is quick again', async () => {
  const proxy = await startReplyProxy(redis.port)
  const { limiter, take, isBack } = await aNode({ url: proxy.url, replyDeadlineMs: REPLY_DEADLINE_MS })
  const limit = aLimit(1000)
  proxy.delayMs = 300
  assert.ok((await take(limit)).waitedMs < MAX_WAIT_MS)
  const endMs = performance.now() + 2000
  while (performance.now() < endMs) {
    assert.equal(limiter.state(), 'local')
    await delay(5)
  }
  proxy.delayMs = 0
  await isBack()
})

test('with every twentieth reply lost no request hangs and nothing is taken twice', async () => {
  const proxy = await startReplyProxy(redis.port)
  const { limiter, isBack, take } = await aNode({
    url: proxy.url,
    nowMicroseconds: NOW,
    replyDeadlineMs: REPLY_DEADLINE_MS,
  })
  const limit = aLimit(1_000_000)
  let replies = 0
  proxy.swallows = () => {
    replies += 1
    return replies % 20 === 0
  }
  let longestMs = 0
  let shared = 0
  while (shared < 300) {
    await isBack()
    const localBefore = limiter.counts.localDecisions
    const waits = await Promise.all([take(limit), take(limit), yieldLoop().then(() => take(limit))])
    longestMs = Math.max(longestMs, ...waits.map(({ waitedMs }) => waitedMs))
    shared += 3 - (limiter.counts.localDecisions - localBefore)
  }
  assert.ok(longestMs < MAX_WAIT_MS, String(longestMs))
  const { takes, localDecisions, timeouts, errors } = limiter.counts
  assert.ok(timeouts + errors > 3, 'no reply got lost: nothing was tested')
  const taken = await takenInRedis(limit)
  // Answered takes are counted; of the others, each at most once.
  assert.ok(taken >= takes - localDecisions && taken <= takes, `${takes - localDecisions} ${taken} ${takes}`)
})

test('a reply is never taken for that of another call', async () => {
  const proxy = await startReplyProxy(redis.port)
  const { limiter, take } = await aNode({ url: proxy.url, nowMicroseconds: NOW })
  const [first, second] = [aLimit(1000), aLimit(1)]
  await take(second)
  let lost = 0
  proxy.swallows = () => (lost += 1) === 1
  const decisions = await Promise.all([take(first), delay(20).then(() => take(second))])
  assert.equal(limiter.counts.localDecisions, 2)
  // The second call got a reply at once, but to the first: it must not be trusted.
  assert.deepEqual([limiter.counts.timeouts, limiter.counts.errors], [0, 2])
  assert.ok(decisions.every(({ waitedMs }) => waitedMs < MAX_WAIT_MS))
})

test('a stall of our own event loop is not taken for an outage of Redis', async () => {
  const replyDeadlineMs = 200
  const limit = aLimit(1000)
  // Of several tries the best: on a busy machine Redis may really be late.
  let fewestTimeouts = Infinity
  for (let tries = 0; tries < 10 && fewestTimeouts > 0; tries += 1) {
    const { limiter, take, isBack } = await aNode({ replyDeadlineMs })
    // Before the call is written, right after, and while the reply is on its way.
    for (const rounds of [0, 1, 2, 3]) {
      await isBack()
      const taken = take(limit)
      for (let round = 0; round < rounds; round += 1) await yieldLoop()
      const endMs = performance.now() + 2 * replyDeadlineMs
      while (performance.now() < endMs);
      await taken
    }
    fewestTimeouts = Math.min(fewestTimeouts, limiter.counts.timeouts)
  }
  assert.equal(fewestTimeouts, 0)
})

test('a Redis that refuses to write is done without, at once', async () => {
  const full = await startRedis()
  const { limiter, take } = await aNode({ url: full.url, share: 1 / 2 })
  const limit = aLimit(10)
  await full.command('CONFIG', 'SET', 'maxmemory', '1')
  const { allowed, waitedMs } = await take(limit)
  assert.deepEqual([allowed, limiter.counts.errors, limiter.counts.localDecisions], [true, 1, 1])
  assert.ok(waitedMs < REPLY_DEADLINE_MS)
})

test('corrections count locally while Redis is away', async () => {
  const away = await startRedis()
  const { limiter, take } = await aNode({ url: away.url })
  await away.kill9()
  const limit = aLimit(10)
  await take(limit)
  limiter.correct(limit, 9)
  assert.equal((await take(limit)).allowed, false)
})
