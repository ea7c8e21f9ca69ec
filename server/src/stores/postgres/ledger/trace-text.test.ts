import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestTrace } from '#core/request/request-trace.ts'
import { traceOf, traceOfOldSteps, traceText } from './trace-text.ts'

const CALL = {
  attempt: 2,
  callId: '01a1e008-2f4c-7d1e-b0aa-4c27d0be9c1e',
  deployment: 'small/openai',
  part: 1,
  inputs: 120,
  startedMs: 1046.5,
  endedMs: 1245,
  waitedMs: 3,
  firstByteMs: 1209.25,
  outcome: 'rateLimited',
  status: 429,
  reason: 'rate_limit_exceeded "quoted" \\ \0',
  retryAfterMs: 2000,
  upstreamRequestId: 'req_8f1c',
  insteadOf: 0,
  sharedWith: 11,
  counts: [{ of: 'tokens', count: 14_210, nanoUsd: 20_000_000n, per: 1_000_000 }],
} as const

const FAULT = { faultText: 'The budget is used up.', faultCause: 'connect ECONNREFUSED' }

test('what was noted of a request is read as it was noted, counted from its first byte', () => {
  const trace = new RequestTrace(1000)
  trace.authenticatedMs = 1000.125
  trace.admittedMs = 1004
  trace.bytesIn = 7
  trace.bytesOut = 9
  trace.askedModel = 'search-embed'
  trace.savedNanoUsd = 2n ** 62n
  trace.reservation = { nanoUsd: 1_346_488n, from: ['project:search'] }
  trace.emulated = ['dimensions']
  trace.wire = { in: { dimensions: 512 }, out: {}, differences: [] }
  trace.calls.push(CALL)
  const read = traceOf(traceText(trace, 'small', FAULT), 'small')
  assert.equal(read?.moments.authenticated, 0.13)
  assert.deepEqual([read?.moments.admitted, read?.moments.read], [4, undefined])
  assert.deepEqual([read?.bytesIn, read?.bytesOut, read?.askedModel], [7, 9, 'search-embed'])
  assert.equal(read?.savedNanoUsd, 2n ** 62n)
  assert.deepEqual(read?.reservation, trace.reservation)
  assert.deepEqual(read?.emulated, ['dimensions'])
  assert.deepEqual(read?.wire, trace.wire)
  assert.partialDeepStrictEqual(read, FAULT)
  const { startedMs: _start, endedMs: _end, ...same } = CALL
  assert.deepEqual(read?.attempts, [{ ...same, startMs: 46.5, durationMs: 198.5, firstByteMs: 209.25 }])
})

test('of a request with many calls the first are kept', () => {
  const trace = new RequestTrace(1000)
  for (let attempt = 0; attempt < 500; attempt += 1) trace.calls.push({ ...CALL, attempt })
  assert.equal(traceOf(traceText(trace, undefined), undefined)?.attempts.length, 64)
})

test('a text of a form that is not known is left alone, and a row of the version before reads in order', () => {
  assert.equal(traceOf('[2,"something else"]', 'small'), undefined)
  const old = traceOfOldSteps(
    {
      admitMs: 2,
      gatherMs: 40,
      settleMs: 1,
      calls: [{ callId: CALL.callId, deployment: 'small/a', outcome: 'ok', durationMs: 38 }],
    },
    'small',
  )
  assert.deepEqual(old.moments, { admitting: 0, admitted: 2, gathered: 42, settled: 43 })
  assert.deepEqual([old.attempts[0]?.startMs, old.attempts[0]?.durationMs], [2, 38])
})
