import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { stepsOf } from './steps.ts'

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

const REQUEST = {
  moments: { authenticated: 0.1, read: 3.3, admitting: 3.4, admitted: 4.3, gathered: 197, settled: 199 },
  attempts: [CALL],
  durationMs: 207,
  bytesIn: 1_900_000,
  bytesOut: 3_900_000,
  inputs: 640,
  hits: 412,
  width: 1536,
  encoding: 'base64',
}

test('the steps of a request follow each other, with its calls between gathering and checking', () => {
  assert.deepEqual(
    stepsOf(REQUEST).map(({ name, start_ms, duration_ms }) => [name, start_ms, duration_ms]),
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
  assert.deepEqual(stepsOf(REQUEST).at(-1)?.note, { bytes: 3_900_000, encoding: 'base64' })
})

test('a request that was refused ends with the step that refused it', () => {
  const refused = { ...REQUEST, moments: { authenticated: 0.1 }, attempts: [], durationMs: 0.6 }
  assert.deepEqual(
    stepsOf(refused).map(({ name }) => name),
    ['authenticate', 'read'],
  )
})

test('a request whose calls all failed still has its answer', () => {
  const { authenticated, read, admitting, admitted } = REQUEST.moments
  const failed = { ...REQUEST, moments: { authenticated, read, admitting, admitted }, durationMs: 195 }
  assert.deepEqual(
    stepsOf(failed)
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
      for (const { start_ms, duration_ms } of stepsOf({ ...REQUEST, moments: noted, durationMs })) {
        assert.ok(start_ms >= atMs - 0.011 && duration_ms >= 0)
        atMs = start_ms + duration_ms
      }
      assert.ok(atMs <= durationMs + 0.02)
    }),
  )
})
