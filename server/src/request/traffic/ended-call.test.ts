import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { callTraceOf, recordCall, type EndedCall } from './ended-call.ts'

test('log and request detail name the address that callers do not read, and no word of an upstream', () => {
  const at = 'connect ECONNREFUSED 10.0.0.7:80'
  for (const [failure, reason] of [
    [new UpstreamFailure('unreachable', 'connection refused', { deployment: 'm/u' }, at), at],
    [new UpstreamFailure('failed', 'a text of a caller', { deployment: 'm/u', status: 500 }), undefined],
  ] as const) {
    const call: EndedCall = {
      requestId: 'r',
      callId: 'c',
      model: 'm',
      deployment: 'm/u',
      inputs: 1,
      outcome: failure.kind,
      failure,
      startedMs: 0,
      endedMs: 1,
      waitedMs: 0,
      firstByteMs: undefined,
      upstreamRequestId: undefined,
    }
    const own = { attempt: 0, part: 0, inputs: 1, insteadOf: undefined, sharedWith: 0, counts: [] }
    const logged: (string | undefined)[] = []
    recordCall(call, {
      callEnded: (ended) => void logged.push(ended.reason),
      overcounted: () => {},
      undercounted: () => {},
      requestEnded: () => {},
    })
    assert.deepEqual([logged, callTraceOf(call, own).reason], [[reason], reason])
  }
})
