import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestTrace } from './request-trace.ts'
import { serverTiming } from './server-timing.ts'

test('the parts of server-timing are the time until now', () => {
  const trace = new RequestTrace(1000)
  trace.calls.push({ startedMs: 1003.25, endedMs: 1093.25, waitedMs: 2 } as never)
  assert.equal(serverTiming(trace, 1100), 'torana;dur=8, queue;dur=2, upstream;dur=90')
})

test('a request without a call was all ours', () => {
  assert.equal(serverTiming(new RequestTrace(0), 0.44), 'torana;dur=0.4, queue;dur=0, upstream;dur=0')
})
