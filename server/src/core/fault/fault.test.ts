import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UpstreamFailure, type FailureKind } from './failure.ts'
import { Fault } from './fault.ts'
import { FAULTS } from './table.ts'
import { faultOfFailure } from './of-failure.ts'
import { allFaultsMarkdown, faultMarkdown } from './page.ts'

const mapping: Record<FailureKind, readonly [code: keyof typeof FAULTS, status: number, retry: boolean]> = {
  refused: ['upstream_refused', 400, false],
  contentRefused: ['content_policy_violation', 400, false],
  // Never 401: the caller's own key is fine.
  rejectedUs: ['upstream_rejected_us', 503, false],
  missing: ['upstream_model_missing', 502, false],
  rateLimited: ['upstream_rate_limited', 429, true],
  failed: ['upstream_failed', 502, true],
  unreachable: ['upstream_unreachable', 502, true],
  broken: ['upstream_broken_answer', 502, true],
  timedOut: ['upstream_timeout', 504, true],
}
for (const [kind, [code, status, retry]] of Object.entries(mapping)) {
  test(`an upstream that ${kind} ends as ${status} ${code}`, () => {
    const failure = new UpstreamFailure(kind as FailureKind, 'its own words', {
      deployment: 'm/here',
      status: 418,
    })
    const fault = faultOfFailure(failure, 'm', 1)
    assert.deepEqual([fault.code, fault.entry.status, fault.entry.retry], [code, status, retry])
    assert.match(fault.message, /m\/here/)
    assert.equal(fault.upstream?.status, 418)
    assert.equal(fault.cause, failure)
    assert.doesNotMatch(fault.message, /attempts/)
  })
}

test('the message names the number of attempts, when there was more than one', () => {
  for (const kind of [
    'failed',
    'unreachable',
    'timedOut',
    'broken',
    'rateLimited',
    'rejectedUs',
    'missing',
  ] as const) {
    assert.match(
      faultOfFailure(new UpstreamFailure(kind, 'x', { deployment: 'd' }), 'm', 3).message,
      /last of 3 attempts/,
    )
  }
})

test('what the upstream said about the credential stays with the operator', () => {
  const fault = faultOfFailure(
    new UpstreamFailure('rejectedUs', 'account acme-corp is suspended', { deployment: 'd' }),
    'm',
    1,
  )
  assert.doesNotMatch(fault.message, /acme/)
})

test('the wait and the field that an upstream names are passed on', () => {
  const failure = new UpstreamFailure('rateLimited', 'slow down', {
    deployment: 'd',
    retryAfterMs: 6200,
    param: 'input',
  })
  const fault = faultOfFailure(failure, 'm', 1)
  assert.deepEqual([fault.retryAfterMs, fault.param], [6200, 'input'])
  assert.match(fault.message, /retry in 7 s/)
})

test('every fault says what happened, what to do, and has a page', () => {
  const all = allFaultsMarkdown()
  for (const [code, entry] of Object.entries(FAULTS)) {
    assert.match(code, /^[a-z]+(_[a-z]+)*$/)
    assert.ok(entry.meaning.endsWith('.') && entry.nextStep.endsWith('.'), code)
    assert.ok(entry.status >= 400 && entry.status < 600, code)
    assert.ok(all.includes(faultMarkdown(code as keyof typeof FAULTS)), code)
  }
})

test('faults of the caller are never worth a retry, except a request that did not arrive in time', () => {
  for (const [code, { status, retry }] of Object.entries(FAULTS)) {
    if (status < 500 && status !== 429 && status !== 408) assert.equal(retry, false, code)
  }
})

test('a fault is an error with its code, and keeps its cause to itself', () => {
  const fault = new Fault('internal_error', 'message', { cause: new Error('secret') })
  assert.equal(fault.entry.status, 500)
  assert.doesNotMatch(JSON.stringify(fault), /secret/)
})
