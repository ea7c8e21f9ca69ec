import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestTrace } from '#core/request/request-trace.ts'
import { traceOf, traceText, type TracedRow } from './trace-text.ts'

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

const ROW: TracedRow = { model: 'small', inputs: 120, deployments: ['small/azure', 'small/openai'] }
const FAULT = {
  faultText: 'The budget is used up.',
  faultCause: 'connect ECONNREFUSED',
  skips: [
    { deployment: 'small/server', reason: 'unpriced' },
    { deployment: 'other/server', reason: 'drained' },
  ],
} as const

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
  const read = traceOf(traceText(trace, ROW, FAULT), ROW)
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

test('a usual request has a short text, from which all that was noted is read', () => {
  const trace = new RequestTrace(1000)
  for (const [index, name] of (['authenticatedMs', 'readMs', 'admittedMs', 'gatheredMs'] as const).entries())
    trace[name] = 1000 + index / 8
  trace.space = 'small@1536:daaf8260'
  trace.width = 1536
  trace.encoding = 'base64'
  trace.usage = 'upstream'
  const call = {
    ...CALL,
    attempt: 0,
    deployment: 'small/azure',
    part: 0,
    outcome: 'ok',
    waitedMs: 0,
    status: undefined,
    reason: undefined,
    retryAfterMs: undefined,
    upstreamRequestId: undefined,
    insteadOf: undefined,
    sharedWith: 0,
  }
  trace.calls.push(call)
  const text = traceText(trace, ROW)
  assert.ok(text.length < 130, text)
  const { startedMs: _start, endedMs: _end, ...same } = call
  assert.partialDeepStrictEqual(traceOf(text, ROW), {
    moments: { authenticated: 0, read: 0.13, admitted: 0.25, gathered: 0.38 },
    attempts: [{ ...same, startMs: 46.5, durationMs: 198.5, firstByteMs: 209.25 }],
    space: 'small@1536:daaf8260',
    width: 1536,
    encoding: 'base64',
    usage: 'upstream',
  })
})

test('prices and spaces that are not usual are read as they were noted', () => {
  const trace = new RequestTrace(1000)
  trace.space = '@cf/baai/bge@768:1'
  trace.encoding = 'int8'
  const counts = [
    { of: 'tokens', count: 1, nanoUsd: 2n ** 60n, per: 1_000_000 },
    { of: 'images', count: 2, nanoUsd: undefined, per: 1 },
    { of: 'text_input', count: 0.5, nanoUsd: 0n, per: 1_000_000 },
  ] as const
  trace.calls.push({ ...CALL, counts })
  const read = traceOf(traceText(trace, ROW), ROW)
  assert.deepEqual([read?.space, read?.encoding, read?.usage], ['@cf/baai/bge@768:1', 'int8', undefined])
  assert.deepEqual(read?.attempts[0]?.counts, counts)
})

test('of a request with many calls the first are kept', () => {
  const trace = new RequestTrace(1000)
  for (let attempt = 0; attempt < 500; attempt += 1) trace.calls.push({ ...CALL, attempt })
  assert.equal(traceOf(traceText(trace, ROW), ROW)?.attempts.length, 64)
})

test('a text of a form that is not known is left alone', () => {
  assert.equal(traceOf('[3,"something else"]', ROW), undefined)
})
