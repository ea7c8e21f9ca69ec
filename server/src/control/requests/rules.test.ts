import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { amountsOf, stepsOf } from './rules.ts'

test('the lines of a call sum to what was posted for it, rounded up once', () => {
  const count = fc.record({
    of: fc.constant('tokens' as const),
    count: fc.integer({ min: 0, max: 10_000_000 }),
    nanoUsd: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    per: fc.constantFrom(1 as const, 1_000_000 as const),
  })
  fc.assert(
    fc.property(fc.array(count, { minLength: 1, maxLength: 6 }), (counts) => {
      const millionths = counts.reduce(
        (sum, one) => sum + BigInt(one.count) * one.nanoUsd * (one.per === 1 ? 1_000_000n : 1n),
        0n,
      )
      const posted = (millionths + 999_999n) / 1_000_000n
      const amounts = amountsOf(counts, posted)
      assert.equal(
        amounts?.reduce<bigint>((sum, one) => sum + (one ?? 0n), 0n),
        posted,
      )
    }),
  )
})

test('counts that do not add up to the amount are not shown as if they did', () => {
  const counts = [{ of: 'tokens', count: 100, nanoUsd: 20_000_000n, per: 1_000_000 }] as const
  assert.deepEqual(amountsOf(counts, 2000n), [2000n])
  assert.equal(amountsOf(counts, 1999n), undefined)
  assert.equal(amountsOf([], 0n), undefined)
  assert.deepEqual(amountsOf(counts, undefined), [undefined])
})

const CALL = {
  attempt: 0,
  callId: '',
  deployment: 'small/openai',
  part: 0,
  inputs: 101,
  startMs: 8,
  durationMs: 185,
  waitedMs: 1,
  firstByteMs: undefined,
  outcome: 'ok',
  status: undefined,
  reason: undefined,
  retryAfterMs: undefined,
  upstreamRequestId: undefined,
  insteadOf: undefined,
  sharedWith: 0,
  counts: [],
}

const TRACE = {
  moments: { authenticated: 0.1, read: 3.3, admitting: 3.4, admitted: 4.3, gathered: 197, settled: 199 },
  attempts: [CALL],
  bytesIn: 1_900_000,
  bytesOut: 3_900_000,
  width: 1536,
  encoding: 'base64',
}
const ROW = { duration_ms: 207, inputs: 640, hits: 412 }

test('the steps of a request follow each other, with its calls between gathering and checking', () => {
  assert.deepEqual(
    stepsOf(TRACE, ROW).map(({ name, start_ms, duration_ms }) => [name, start_ms, duration_ms]),
    [
      ['authenticate', 0, 0.1],
      ['read', 0.1, 3.2],
      ['negotiate', 3.3, 0.1],
      ['admit', 3.4, 0.9],
      ['gather', 4.3, 2.7],
      ['shape', 193, 4],
      ['settle', 197, 2],
      ['answer', 199, 8],
    ],
  )
  assert.deepEqual(stepsOf(TRACE, ROW).at(-1)?.note, { bytes: 3_900_000, encoding: 'base64' })
})

test('a request that was refused ends with the step that refused it', () => {
  const refused = { ...TRACE, moments: { authenticated: 0.1 }, attempts: [] }
  assert.deepEqual(
    stepsOf(refused, { ...ROW, duration_ms: 0.6 }).map(({ name }) => name),
    ['authenticate', 'read'],
  )
})

test('a request whose calls all failed still has its answer', () => {
  const { authenticated, read, admitting, admitted } = TRACE.moments
  const failed = { ...TRACE, moments: { authenticated, read, admitting, admitted } }
  assert.deepEqual(
    stepsOf(failed, { ...ROW, duration_ms: 195 })
      .map(({ name, start_ms }) => [name, start_ms])
      .slice(-2),
    [
      ['gather', 4.3],
      ['answer', 193],
    ],
  )
})

test('no step begins before the one before it, and none ends after the request', () => {
  const moment = fc.option(fc.double({ min: 0, max: 300, noNaN: true }), { nil: undefined })
  const moments = fc.record({
    authenticated: moment,
    read: moment,
    admitting: moment,
    admitted: moment,
    lookedUp: moment,
    gathered: moment,
    settled: moment,
  })
  fc.assert(
    fc.property(moments, fc.double({ min: 0, max: 300, noNaN: true }), (noted, durationMs) => {
      let atMs = 0
      const steps = stepsOf({ ...TRACE, moments: noted }, { ...ROW, duration_ms: durationMs })
      for (const { start_ms, duration_ms } of steps) {
        assert.ok(start_ms >= atMs - 0.011 && duration_ms >= 0)
        atMs = start_ms + duration_ms
      }
      assert.ok(atMs <= durationMs + 0.02)
    }),
  )
})
