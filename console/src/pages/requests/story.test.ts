import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULTS } from '../../../../server/src/core/fault/table.ts'
import type { RequestDetail } from '../../api/queries/requests.ts'
import { storyOf } from './story.ts'

const CALL: RequestDetail['attempts'][number] = {
  attempt: 0,
  call_id: '01a1e008-2f4c-7d1e-b0aa-4c27d0be7c1a',
  deployment: 'text-embedding-3-small/openai',
  part: 0,
  inputs: 101,
  start_ms: 7,
  waited_ms: 0,
  first_byte_ms: null,
  duration_ms: 185,
  outcome: 'ok',
  status: null,
  reason: null,
  retry_after_ms: null,
  upstream_request_id: null,
  instead_of: null,
  shared_with: 0,
}

function request(overrides: Partial<RequestDetail> = {}): RequestDetail {
  return {
    kind: 'embedding',
    outcome: 'answered',
    status: 200,
    fault: null,
    model: 'text-embedding-3-small',
    inputs: 1,
    hits: null,
    duration_ms: 190,
    own_ms: 5,
    waited_ms: 0,
    unpriced: false,
    usage: 'upstream',
    emulated: [],
    dropped: [],
    attempts: [CALL],
    skips: [],
    ...overrides,
  } as RequestDetail
}

test('a plain request is one sentence', () => {
  assert.deepEqual(storyOf(request()), ['Served by **openai** in 185 ms.'])
})

test('a failover names who failed, with what, and who took over', () => {
  const failed = {
    ...CALL,
    deployment: 'text-embedding-3-small/azure-eu',
    outcome: 'rateLimited',
    status: 429,
    retry_after_ms: 2000,
  }
  const story = storyOf(
    request({
      inputs: 640,
      hits: 412,
      attempts: [failed, { ...CALL, attempt: 1, part: 1 }, { ...CALL, attempt: 2, instead_of: 0 }],
    }),
  )
  assert.deepEqual(story, [
    '412 of 640 texts were cached. The other 228 were sent in two calls.',
    '~azure-eu~ returned 429 (`retry-after: 2`) and was paused for that long. **openai** took over.',
  ])
})

test('calls that failed alike show once', () => {
  const failed = { ...CALL, outcome: 'unreachable' }
  const story = storyOf(
    request({
      outcome: 'failed',
      status: 502,
      fault: 'upstream_unreachable',
      attempts: [failed, { ...failed, attempt: 1 }],
    }),
  )
  assert.deepEqual(story, [
    '~openai~ couldn’t be reached.',
    'The model has no other deployment, so there was no fallback.',
  ])
})

test('a failed request says why there was no fallback: each deployment that was not tried, with its reason', () => {
  const failed = { ...CALL, outcome: 'failed', status: 500 }
  const skip = (name: string, reason: RequestDetail['skips'][number]['reason']) => ({
    deployment: `text-embedding-3-small/${name}`,
    reason,
    text: '',
  })
  const told = (...skips: RequestDetail['skips']) =>
    storyOf(request({ outcome: 'failed', status: 502, fault: 'upstream_failed', attempts: [failed], skips }))
  assert.deepEqual(told(skip('azure-us', 'quarantined')), [
    '~openai~ returned 500.',
    '**azure-us** was quarantined, so there was no fallback.',
  ])
  assert.deepEqual(told(skip('server-2', 'unpriced'), skip('azure-us', 'drained')), [
    '~openai~ returned 500.',
    '**server-2** has no price and the key’s budget is hard.',
    '**azure-us** was drained, so there was no fallback.',
  ])
})

test('what was all in the cache made no call', () => {
  assert.deepEqual(storyOf(request({ inputs: 3, hits: 3, attempts: [] })), [
    'All 3 texts were cached. Nothing was sent upstream.',
  ])
})

test('the one at fault is named: the caller, a limit, Torana, an upstream, or it is unknown', () => {
  const ended = (overrides: Partial<RequestDetail>) =>
    storyOf(request({ attempts: [], ...overrides })).join(' ')
  assert.match(
    ended({ outcome: 'refused', status: 400, fault: 'empty_input' }),
    /Invalid request: `empty_input`/,
  )
  assert.match(
    ended({ outcome: 'limited', status: 429, fault: 'rate_limit_exceeded' }),
    /Blocked by a key or project limit/,
  )
  assert.match(ended({ outcome: 'failed', status: 500, fault: 'internal_error' }), /Torana failed/)
  assert.match(
    ended({ outcome: 'failed', status: 503, fault: 'no_healthy_deployment' }),
    /No deployment could serve/,
  )
  assert.match(
    ended({ outcome: 'unknown', status: 424, fault: 'outcome_unknown' }),
    /can’t tell whether this call was billed/,
  )
  assert.match(
    ended({ outcome: 'refused', status: 499, fault: 'client_closed_request' }),
    /caller disconnected/,
  )
})

test('of every fault that can fail a request, the one at fault is named: deployments, or Torana with no call made', () => {
  const faults = Object.entries(FAULTS).filter(([, { status }]) => status >= 500)
  assert.ok(faults.length > 20)
  for (const [fault, { status }] of faults) {
    const [last] = storyOf(request({ attempts: [], outcome: 'failed', status, fault })).slice(-1)
    const isOfDeployments = /upstream|deployment|space/.test(fault)
    assert.equal(
      last,
      isOfDeployments
        ? `No deployment could serve the request: \`${fault}\`.`
        : `Torana failed: \`${fault}\`. Nothing was sent upstream.`,
    )
  }
})

test('a refusal by the terms that an admin set is not the fault of the request', () => {
  for (const fault of [
    'project_deleted',
    'model_not_allowed',
    'scope_not_allowed',
    'address_not_allowed',
    'model_unpriced',
  ] as const) {
    assert.equal(FAULTS[fault].who, 'operator')
    const [last] = storyOf(request({ attempts: [], outcome: 'refused', status: 403, fault })).slice(-1)
    assert.match(last ?? '', /^Not allowed by the settings of the key, project or model/, fault)
  }
})

test('waiting, sharing, emulation, missing counts and missing prices show', () => {
  const story = storyOf(
    request({
      waited_ms: 940,
      duration_ms: 2000,
      own_ms: 10,
      usage: 'estimated',
      emulated: ['dimensions'],
      dropped: ['user'],
      attempts: [{ ...CALL, shared_with: 11 }],
    }),
  ).join(' ')
  assert.match(story, /Queued for 940 ms/)
  assert.match(story, /shared with 11 other requests/)
  assert.match(story, /doesn’t support it: `dimensions`/)
  assert.match(story, /supports it: `user`/)
  assert.match(story, /estimated the tokens/)
  assert.match(story, /The upstream accounted for 52\.5% of the time/)
  assert.match(storyOf(request({ unpriced: true })).join(' '), /no cost was recorded/)
})
