import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import {
  leasedOf,
  leftUnknown,
  NOTHING_LEASED,
  openEntry,
  paidEntry,
  savedEntry,
  type PaidCall,
} from './call.ts'

const CALL = {
  requestId: 'r',
  attempt: 2,
  callId: 'c',
  project: 'ads',
  keyId: 'ads/web',
  model: 'm',
  deployment: 'm/one',
  batchId: 'b',
  labels: { user: 'ann', tags: undefined },
} as Parameters<typeof openEntry>[0]
const LEASED = { projectLeaseNanoUsd: 100n, keyLeaseNanoUsd: 60n }
const known = (nanoUsd: bigint) => ({ kind: 'known', nanoUsd }) as const
const UNPRICED = { kind: 'unpriced' } as Parameters<typeof openEntry>[1]

test('a call that has begun is unknown at its full cost, until its end is known', () => {
  assert.deepEqual(openEntry(CALL, known(100n), LEASED, true, 'an image'), {
    ...CALL,
    kind: 'unknown',
    usage: 'unknown',
    tokens: undefined,
    images: 0,
    amountNanoUsd: 100n,
    ...LEASED,
    countsRequest: true,
    remarks: { what: 'an image' },
  })
  const unpriced = openEntry(CALL, UNPRICED, NOTHING_LEASED, false)
  assert.deepEqual(
    [unpriced.amountNanoUsd, unpriced.remarks, unpriced.countsRequest, leasedOf(unpriced)],
    [undefined, undefined, false, 0n],
  )
})

const PAID: PaidCall = { usage: 'upstream', tokens: 7, images: 1, cost: known(80n) }
const open = (): LedgerEntry => openEntry(CALL, known(100n), LEASED, true, 'an image')

test('a paid call uses its cost from each lease, and never more than the lease', () => {
  for (const [cost, amount, project, key] of [
    [known(80n), 80n, 80n, 60n],
    [known(60n), 60n, 60n, 60n],
    [known(1n), 1n, 1n, 1n],
    [known(101n), 101n, 100n, 60n],
    [known(0n), 0n, 0n, 0n],
    [UNPRICED, undefined, 0n, 0n],
  ] as const)
    assert.deepEqual(paidEntry(open(), { ...PAID, inputs: 12, cost }, false), {
      ...open(),
      kind: 'post',
      usage: 'upstream',
      tokens: 7,
      images: 1,
      inputs: 12,
      amountNanoUsd: amount,
      projectLeaseNanoUsd: project,
      keyLeaseNanoUsd: key,
      countsRequest: false,
      remarks: undefined,
    })
})

test('a paid call has a remark where the upstream counted or charged something else', () => {
  for (const [call, remarks] of [
    [{ reportedTokens: 9 }, { reportedTokens: 9 }],
    [{ reportedNanoUsd: 12n }, { reportedNanoUsd: '12' }],
    [{ costBy: 'upstream' }, { costBy: 'upstream' }],
    [
      { reportedTokens: 0, reportedNanoUsd: 0n, costBy: 'upstream' },
      { reportedTokens: 0, costBy: 'upstream', reportedNanoUsd: '0' },
    ],
  ] as const)
    assert.deepEqual(paidEntry(open(), { ...PAID, ...call }, true).remarks, remarks)
})

test('an answer without a call is a post of nothing, with what it saved and what no check has confirmed', () => {
  const unconfirmed = [{ deployment: 'm/one', fromMs: 1, untilMs: 2, vectors: 3 }]
  assert.deepEqual(savedEntry(CALL, { hits: 3, savedNanoUsd: 50n, unconfirmed }, true), {
    ...CALL,
    kind: 'post',
    usage: 'upstream',
    tokens: 0,
    images: 0,
    amountNanoUsd: 0n,
    projectLeaseNanoUsd: 0n,
    keyLeaseNanoUsd: 0n,
    countsRequest: true,
    hits: 3,
    savedNanoUsd: 50n,
    remarks: { unconfirmed },
  })
})

test('a call whose end is not known keeps its lease and says why, in our own words', () => {
  for (const [failure, what, remarks] of [
    [undefined, undefined, { what: 'an image', reason: 'Torana failed while the call was in progress' }],
    [
      new UpstreamFailure('timedOut', 'no answer in time', { deployment: 'm/one' }),
      'other',
      { what: 'an image', reason: 'no answer in time' },
    ],
    [
      new UpstreamFailure('failed', 'your prompt was: secret', { deployment: 'm/one', status: 500 }),
      undefined,
      { what: 'an image', reason: 'the upstream answered 500' },
    ],
  ] as const)
    assert.deepEqual(leftUnknown(open(), failure, what), { ...open(), remarks })
  const plain = openEntry(CALL, known(1n), NOTHING_LEASED, true)
  assert.equal(leftUnknown(plain, undefined, 'an edit').remarks?.what, 'an edit')
})

test('a call has leased the larger of its two leases, as both bound the same money', () => {
  for (const [projectLeaseNanoUsd, keyLeaseNanoUsd, leased] of [
    [5n, 3n, 5n],
    [3n, 5n, 5n],
    [0n, 4n, 4n],
    [4n, 4n, 4n],
  ] as const)
    assert.equal(leasedOf({ ...open(), projectLeaseNanoUsd, keyLeaseNanoUsd }), leased)
})
