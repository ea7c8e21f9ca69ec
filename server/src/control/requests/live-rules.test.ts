import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { RequestTrace, type CallTrace } from '#core/request/request-trace.ts'
import type { RequestRecord } from '#ports/observer.ts'
import type { RequestFilter } from './filter-queries.ts'
import { matches, rowOfRecord } from './live-rules.ts'

const CALL: CallTrace = {
  attempt: 0,
  callId: '',
  deployment: 'small/azure',
  part: 0,
  inputs: 3,
  startedMs: 1030,
  endedMs: 1080,
  waitedMs: 10,
  firstByteMs: undefined,
  outcome: 'timeout',
  status: undefined,
  reason: undefined,
  retryAfterMs: undefined,
  upstreamRequestId: undefined,
  insteadOf: undefined,
  sharedWith: 0,
  counts: [],
}
const trace = new RequestTrace(1000)
trace.calls.push(CALL)
trace.images = 2
trace.isUnpriced = true
trace.usage = 'estimated'
trace.asset = 'asset-1'

const RECORD: RequestRecord = {
  requestId: '01900000-0000-7000-8000-000000000000',
  route: 'image-edits',
  status: 429,
  fault: 'upstream_rate_limited',
  clientRequestId: 'c1',
  clientAddress: '192.0.2.7',
  project: 'ads',
  keyId: 'ads/web',
  model: 'small',
  deployment: 'small/openai',
  attempts: 2,
  inputs: 3,
  cache: { hits: 1, misses: 2 },
  promptTokens: 40,
  amountNanoUsd: 500n,
  trace,
  user: 'ann',
  tags: { team: 'red', tier: 'gold' },
  durationMs: 100.126,
}
/** A path that does not exist, asked for without a key. */
const BARE: RequestRecord = {
  requestId: RECORD.requestId,
  route: 'none',
  status: 404,
  durationMs: 0.5,
  user: '',
}

type Filter = Omit<RequestFilter, 'fromMs' | 'toMs'>
const FILTERS: readonly (readonly [lets: Filter, stops: Filter])[] = [
  [{ projects: ['search', 'ads'] }, { projects: ['search'] }],
  [{ key: ['ads/web'] }, { key: ['ads/ci'] }],
  [{ model: ['small'] }, { model: ['large'] }],
  [{ kind: ['edit'] }, { kind: ['embedding', 'generation'] }],
  [{ source: 'callers' }, { source: 'batches' }],
  [{ outcome: ['failed'] }, { outcome: ['limited', 'answered'] }],
  [{ fault: ['upstream_rate_limited'] }, { fault: ['rate_limited'] }],
  [{ deployment: 'small/openai' }, { deployment: 'small/cohere' }],
  // A deployment that was tried counts, not only the one that served.
  [{ deployment: 'small/azure' }, { deployment: 'small' }],
  [{ status: 429 }, { status: 200 }],
  [{ slower_ms: 100 }, { slower_ms: 100.126 }],
  [{ dearerNanoUsd: 499n }, { dearerNanoUsd: 500n }],
  [{ tries: 2 }, { tries: 3 }],
  [{ client: 'c1' }, { client: 'c2' }],
  [{ address: '192.0.2.7' }, { address: '192.0.2.8' }],
  [{ user: 'ann' }, { user: 'bob' }],
  [{ tags: { team: 'red', tier: 'gold' } }, { tags: { team: 'red', tier: 'iron' } }],
]
const passes = (record: RequestRecord, filter: Filter): boolean =>
  matches(record, { fromMs: 0, toMs: 0, ...filter })

test('the live tail shows a request where every part of its filter fits, and a part that is absent fits all', () => {
  assert.ok(passes(RECORD, {}))
  assert.ok(passes(BARE, {}))
  assert.ok(passes(RECORD, Object.assign({}, ...FILTERS.map(([lets]) => lets)) as Filter))
  for (const [lets, stops] of FILTERS) {
    assert.ok(passes(RECORD, lets), inspect(lets))
    for (const filter of [stops, { ...lets, ...stops }]) assert.ok(!passes(RECORD, filter), inspect(filter))
  }
})

test('a request without a project, key, model or label is in no filter that names one', () => {
  for (const [lets] of FILTERS.filter(([{ source }]) => source === undefined))
    assert.ok(!passes(BARE, lets), Object.keys(lets).join())
  assert.ok(!passes(BARE, { user: '' }))
  assert.ok(!passes(BARE, { dearerNanoUsd: 0n }))
  assert.ok(passes({ ...BARE, amountNanoUsd: 1n }, { dearerNanoUsd: 0n }))
  assert.ok(!passes(BARE, { tries: 1 }))
  assert.ok(passes({ ...BARE, trace }, { tries: 1 }))
})

test('a record is shown as the row that the log will have', () => {
  assert.deepEqual(rowOfRecord(RECORD, 'n1'), {
    id: RECORD.requestId,
    at: new Date(0x0190_0000_0000).toISOString(),
    kind: 'edit',
    source: 'callers',
    status: 429,
    fault: 'upstream_rate_limited',
    outcome: 'failed',
    project: 'ads',
    key: 'ads/web',
    model: 'small',
    deployments: ['small/azure', 'small/openai'],
    calls: 2,
    inputs: 3,
    hits: 1,
    tokens: 40,
    images: 2,
    cost_usd: '0.000000500',
    unpriced: true,
    usage: 'estimated',
    duration_ms: 100.13,
    own_ms: 40.13,
    waited_ms: 10,
    node: 'n1',
    asset: 'asset-1',
    user: 'ann',
    tags: { team: 'red', tier: 'gold' },
  })
})

test('a record that knows little has a row without what is unknown', () => {
  assert.deepEqual(rowOfRecord(BARE, 'n1'), {
    id: RECORD.requestId,
    at: new Date(0x0190_0000_0000).toISOString(),
    kind: 'embedding',
    source: 'callers',
    status: 404,
    fault: null,
    outcome: 'refused',
    project: null,
    key: null,
    model: null,
    deployments: [],
    calls: 0,
    inputs: null,
    hits: null,
    tokens: null,
    images: null,
    cost_usd: null,
    unpriced: false,
    usage: null,
    duration_ms: 0.5,
    own_ms: 0.5,
    waited_ms: 0,
    node: 'n1',
    asset: null,
    user: null,
    tags: {},
  })
  assert.equal(rowOfRecord({ ...BARE, trace: new RequestTrace(0) }, 'n1').usage, null)
  // Whether it was paid is unknown, whatever the call counted.
  assert.equal(rowOfRecord({ ...RECORD, status: 424 }, 'n1').usage, 'unknown')
})
