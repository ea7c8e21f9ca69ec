import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Budget } from '#core/money/budget.ts'
import { memoryMoney } from '#test/support/money.ts'
import { aKey } from '#test/support/sharing.ts'
import { admitWithin, Admission, mustAsk, type AdmissionTerms } from './admission.ts'

const PROJECT: Budget = { id: 'project:p', limitNanoUsd: 1000n, per: 'day', hard: true }
const OWN: Budget = { id: 'key:p/k', limitNanoUsd: 1000n, per: 'day', hard: true }
const SOFT: Budget = { ...OWN, hard: false }
const LIMIT = { id: 'key:p/k:requests', project: 'p', unit: 'requests', perMinute: 9 } as const
const COST = { kind: 'known', nanoUsd: 40n } as const

test('a hard budget or a limit is asked before a request runs, and every budget is reported', () => {
  for (const [budgets, limits, asks] of [
    [[], [], false],
    [[SOFT], [], false],
    [[PROJECT], [], true],
    [[PROJECT, SOFT], [], true],
    [[SOFT, PROJECT], [], true],
    [[], [LIMIT], true],
  ] as const) {
    const reported: Budget[] = []
    const outside = { ...memoryMoney(), underBudget: (budget: Budget) => void reported.push(budget) }
    assert.equal(mustAsk(aKey('p', { budgets, limits }), outside), asks)
    assert.deepEqual(reported, budgets)
  }
})

function admitted(budgets: readonly Budget[], terms: Partial<AdmissionTerms> = {}) {
  const outside = memoryMoney()
  const all: AdmissionTerms = {
    key: aKey('p', { budgets }),
    tokens: 0,
    images: 0,
    requestId: 'r',
    modelId: 'm',
    mostNanoUsd: () => 100n,
    ...terms,
  }
  return admitWithin(all, outside, (taken) => new Admission(all, outside, taken))
}

test('the largest cost of a request is reserved in each hard budget, and none is asked without one', async () => {
  for (const [budgets, reservation] of [
    [[], undefined],
    [[SOFT], undefined],
    [[PROJECT], { nanoUsd: 100n, from: ['project:p'] }],
    [[PROJECT, OWN], { nanoUsd: 100n, from: ['project:p', 'key:p/k'] }],
  ] as const) {
    using admission = await admitted(budgets)
    assert.deepEqual(admission.reservation, reservation)
  }
})

test('each call has leased its cost from the hard budgets of its owners, also where it begins at once', async () => {
  for (const [budgets, project, key] of [
    [[], 0n, 0n],
    [[SOFT], 0n, 0n],
    [[PROJECT], 40n, 0n],
    [[OWN], 0n, 40n],
    [[PROJECT, OWN], 40n, 40n],
  ] as const) {
    using admission = await admitted(budgets)
    const begun = await admission.beginAtOnce('c1', 'm/one', COST)
    const next = await admission.beginCall('c2', 'm/one', COST, undefined, 'an image')
    for (const { unknown } of [begun, next])
      assert.deepEqual(
        [unknown.projectLeaseNanoUsd, unknown.keyLeaseNanoUsd, unknown.amountNanoUsd],
        [project, key, 40n],
      )
    assert.deepEqual([begun.unknown.remarks, next.unknown.remarks], [undefined, { what: 'an image' }])
    for (const one of [begun, next]) admission.failed(one, undefined)
    await admission.settle()
  }
})

test('the first call counts as the request, and no call of a request that an earlier process began', async () => {
  for (const [attemptsBefore, expected] of [
    [
      undefined,
      [
        [0, true],
        [1, false],
      ],
    ],
    [
      2,
      [
        [2, false],
        [3, false],
      ],
    ],
  ] as const) {
    using admission = await admitted([], attemptsBefore === undefined ? {} : { attemptsBefore })
    const calls = [
      await admission.beginAtOnce('c1', 'm/one', COST),
      await admission.beginCall('c2', 'm/one', COST),
    ]
    assert.deepEqual(
      calls.map(({ attempt, unknown }) => [attempt, unknown.countsRequest]),
      expected,
    )
    const paid = calls.map((call) =>
      admission.paid(call, { usage: 'upstream', tokens: 1, images: 0, cost: COST }),
    )
    assert.deepEqual(
      paid.map(({ countsRequest }) => countsRequest),
      expected.map(([, counts]) => counts),
    )
    await admission.settle()
  }
})
