import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fault } from '#core/fault/fault.ts'
import type { RateLimit, RateState, RateTake, RateUnit } from '#core/limits/limit.ts'
import type { RateLimiter } from '#ports/limiter.ts'
import { aKey } from '#test/support/sharing.ts'
import { correctRates, countRequest, NOTHING_TAKEN, takeLate, takeRates } from './rates.ts'

const limitOf = (unit: RateUnit, owner = 'key:ads/web'): RateLimit => ({
  id: `${owner}:${unit}`,
  project: 'ads',
  unit,
  perMinute: 60,
})
const [REQUESTS, TOKENS, IMAGES] = [limitOf('requests'), limitOf('tokens'), limitOf('images')]
const ALL = [REQUESTS, TOKENS, IMAGES]

/** A limiter that answers as a test says, and keeps what it was asked. */
function limiterWith(retryAfterMs: Readonly<Record<string, number | undefined>> = {}) {
  const taken: string[] = []
  const corrected: string[] = []
  const limiter: RateLimiter = {
    take(takes) {
      taken.push(...takes.map(({ limit, amount }) => `${limit.unit} ${amount}`))
      const states = takes.map(({ limit }): RateState => {
        const retry = limit.id in retryAfterMs ? retryAfterMs[limit.id] : 0
        return { limit, remaining: 7, resetMs: 0, retryAfterMs: retry }
      })
      return { allowed: states.every((one) => one.retryAfterMs === 0), states }
    },
    correct: (limit, difference) => void corrected.push(`${limit.unit} ${difference}`),
  }
  return { limiter, taken, corrected }
}
const keyWith = (limits: readonly RateLimit[]) => aKey('ads', { limits })

test('a request takes one request and its amounts, each from the limits of its unit, and nothing of an amount of 0', async () => {
  for (const [limits, amounts, isCounted, expected] of [
    [ALL, { tokens: 40, images: 2 }, false, ['requests 1', 'tokens 40', 'images 2']],
    [ALL, { tokens: 40, images: 0 }, false, ['requests 1', 'tokens 40']],
    [ALL, { tokens: 1, images: 0 }, true, ['tokens 1']],
    [ALL, { tokens: 0, images: 0 }, true, []],
    [[IMAGES], { tokens: 9, images: 3 }, false, ['images 3']],
    [[], { tokens: 9, images: 3 }, false, []],
  ] as const) {
    const { limiter, taken } = limiterWith()
    const before: RateTake = { limit: REQUESTS, amount: 1 }
    const state: RateState = { limit: REQUESTS, remaining: 1, resetMs: 0, retryAfterMs: 0 }
    const counted = isCounted ? { takes: [before], states: [state] } : undefined
    const result = await takeRates({ key: keyWith(limits), ...amounts, counted }, limiter)
    assert.deepEqual(taken, expected)
    const all = isCounted ? ['requests 1', ...expected] : expected
    assert.deepEqual(
      result.takes.map(({ limit, amount }) => `${limit.unit} ${amount}`),
      all,
    )
    assert.deepEqual(
      result.states.map(({ limit }) => limit.unit),
      all.map((one) => one.split(' ')[0]),
    )
  }
})

test('a request is counted before its body is read, where a limit counts requests', async () => {
  const { limiter, taken } = limiterWith()
  assert.equal(countRequest(keyWith([TOKENS, IMAGES]), limiter), undefined)
  const counted = await countRequest(keyWith(ALL), limiter)
  assert.deepEqual([taken, counted?.takes], [['requests 1'], [{ limit: REQUESTS, amount: 1 }]])
  assert.deepEqual(NOTHING_TAKEN, { takes: [], states: [] })
})

test('a refusal is of the limit that lasts longest, and says whether a retry can help', async () => {
  const project = limitOf('tokens', 'project:ads')
  for (const [retries, code, retryAfterMs, words] of [
    [
      { [TOKENS.id]: 1500, [project.id]: 1400 },
      'rate_limit_exceeded',
      1500,
      "key 'ads/web' (60 tokens per minute) has 7 left; this request needs 40. Retry in 1.5 s.",
    ],
    [
      { [TOKENS.id]: 1400, [project.id]: 61_000 },
      'rate_limit_exceeded',
      61_000,
      "project 'ads' (60 tokens per minute) has 7 left; this request needs 40. Retry in 61.0 s.",
    ],
    [
      { [REQUESTS.id]: 9000, [project.id]: undefined },
      'request_exceeds_rate_limit',
      undefined,
      "project 'ads' (60 tokens per minute) is too low for this request, which needs 40. Send a smaller request.",
    ],
    [
      { [REQUESTS.id]: 1 },
      'rate_limit_exceeded',
      1,
      "key 'ads/web' (60 requests per minute) has 7 left; this request needs 1. Retry in 0.0 s.",
    ],
  ] as const) {
    const { limiter } = limiterWith(retries)
    const key = keyWith([...ALL, project])
    await assert.rejects(takeRates({ key, tokens: 40, images: 0 }, limiter), (fault: Fault) => {
      assert.deepEqual([fault.code, fault.retryAfterMs], [code, retryAfterMs])
      assert.equal(fault.message, `The rate limit of ${words}`)
      assert.equal(fault.rates.length, 3)
      return true
    })
  }
  // The headers of a refusal also have the state of what was counted before.
  const counted = {
    takes: [],
    states: [{ limit: REQUESTS, remaining: 1, resetMs: 0, retryAfterMs: 0 }],
  }
  const { limiter } = limiterWith({ [TOKENS.id]: 10 })
  await assert.rejects(takeRates({ key: keyWith(ALL), tokens: 1, images: 0, counted }, limiter), {
    rates: [...counted.states, { limit: TOKENS, remaining: 7, resetMs: 0, retryAfterMs: 10 }],
  })
})

test('the end of a request corrects tokens and images by what was used, and never the request itself', () => {
  const takes = ALL.map((limit) => ({ limit, amount: 10 }))
  for (const [used, expected] of [
    [{ tokens: 12, images: 3 }, ['tokens 2', 'images -7']],
    [{ tokens: 10, images: 10 }, []],
    [{ tokens: 0, images: 11 }, ['tokens -10', 'images 1']],
  ] as const) {
    const { limiter, corrected } = limiterWith()
    correctRates(takes, used, limiter)
    assert.deepEqual(corrected, expected)
  }
})

test('a call that ends after its request takes all it used', () => {
  const takes = ALL.map((limit) => ({ limit, amount: 10 }))
  for (const [used, expected] of [
    [{ tokens: 12, images: 0 }, ['tokens 12']],
    [{ tokens: 0, images: 1 }, ['images 1']],
    [{ tokens: 0, images: 0 }, []],
  ] as const) {
    const { limiter, corrected } = limiterWith()
    takeLate(takes, used, limiter)
    assert.deepEqual(corrected, expected)
  }
})
