import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RateUnit } from '#core/limits/limit.ts'
import { rateHeaders } from './rate-headers.ts'

function state(unit: RateUnit, perMinute: number, remaining: number, resetMs: number) {
  return { limit: { id: `x:${unit}`, project: 'p', unit, perMinute }, remaining, resetMs, retryAfterMs: 0 }
}

test('the limit with less left speaks for its unit, in the words of OpenAI', () => {
  const headers = rateHeaders([
    state('requests', 600, 599, 100),
    state('tokens', 1000, 40, 57_600),
    state('requests', 60, 58, 2000),
    state('tokens', 5000, 4000, 90_000),
  ])
  assert.deepEqual(
    headers.join(' '),
    'x-ratelimit-limit-requests 60 x-ratelimit-remaining-requests 58 x-ratelimit-reset-requests 2s ' +
      'x-ratelimit-limit-tokens 1000 x-ratelimit-remaining-tokens 40 x-ratelimit-reset-tokens 57.6s',
  )
})

for (const [ms, text] of [
  [0, '0ms'],
  [12.2, '13ms'],
  [1500, '1.5s'],
  [90_000, '1m30s'],
] as const) {
  test(`${ms} ms until a limit is untouched are written ${text}`, () => {
    assert.equal(rateHeaders([state('tokens', 1, 1, ms)])[5], text)
  })
}

test('without limits there are no headers', () => {
  assert.deepEqual(rateHeaders([]), [])
})
