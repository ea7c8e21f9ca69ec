import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { Budget } from '#core/money/budget.ts'
import type { Ledger } from '#ports/ledger.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { memoryMoney } from '#test/support/money.ts'
import { aKey } from '#test/support/sharing.ts'
import { admitWithin, Admission, mustAsk, type AdmissionTerms, type MoneyOutside } from './admission.ts'
import type { BegunCall } from './call.ts'

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

function admitted(
  budgets: readonly Budget[],
  terms: Partial<AdmissionTerms> = {},
  outside: MoneyOutside = memoryMoney(),
) {
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

const paid = (nanoUsd: bigint) => (admission: Admission, call: BegunCall) =>
  void admission.paid(call, { usage: 'upstream', tokens: 1, images: 0, cost: { kind: 'known', nanoUsd } })
const NOT_CHARGED = new UpstreamFailure('rateLimited', 'too many requests', {
  deployment: 'm/one',
  status: 429,
})
const SHARES = [
  { user: 'a', weight: 1 },
  { user: 'b', weight: 1 },
]
for (const [what, leftNanoUsd, end, terms] of [
  ['may have been charged keeps its money', 960n, (admission, call) => admission.failed(call, undefined)],
  ['was not charged frees its money', 1000n, (admission, call) => admission.failed(call, NOT_CHARGED)],
  ['costs as much as it leased keeps it', 960n, paid(40n)],
  ['costs less frees the rest', 975n, paid(25n)],
  ['costs less frees the rest once, whatever number of shares it has', 975n, paid(25n), { shares: SHARES }],
] as const satisfies readonly (readonly [
  string,
  bigint,
  (admission: Admission, call: BegunCall) => void,
  Partial<AdmissionTerms>?,
])[])
  test(`to the nano-dollar, a call that ${what}`, async () => {
    const outside = memoryMoney()
    // The same moment for both, or the day of the budget could end between them.
    const requestId = uuidv7Identifiers(systemClock).next()
    using admission = await admitted([PROJECT], { ...terms, requestId }, outside)
    end(admission, await admission.beginCall('c1', 'm/one', COST))
    await admission.settle()
    const asking = (nanoUsd: bigint) =>
      admitted([PROJECT], { requestId, mostNanoUsd: () => nanoUsd }, outside)
    await assert.rejects(asking(leftNanoUsd + 1n), { code: /^budget_/ })
    using rest = await asking(leftNanoUsd)
    assert.equal(rest.reservation?.nanoUsd, leftNanoUsd)
  })

test('a request that a budget refuses leaves the rate limits as they were', async () => {
  const outside = memoryMoney()
  const limit = { id: 'key:p/k:tokens', project: 'p', unit: 'tokens', perMinute: 100 } as const
  const key = aKey('p', { budgets: [PROJECT], limits: [limit] })
  const requestId = uuidv7Identifiers(systemClock).next()
  const asking = admitted([], { key, tokens: 60, requestId, mostNanoUsd: () => 1001n }, outside)
  await assert.rejects(asking, { code: 'budget_exhausted' })
  assert.equal((await outside.limiter.take([{ limit, amount: 100 }])).allowed, true)
})

test('a call that could not be noted on disk holds no money', async () => {
  const outside = memoryMoney()
  const requestId = uuidv7Identifiers(systemClock).next()
  {
    const full = { ...outside, ledger: failingAtBegin(outside.ledger) }
    using admission = await admitted([PROJECT], { requestId }, full)
    await assert.rejects(async () => admission.beginAtOnce('c1', 'm/one', COST), /no space/)
  }
  using rest = await admitted([PROJECT], { requestId, mostNanoUsd: () => 1000n }, outside)
  assert.equal(rest.reservation?.nanoUsd, 1000n)
})

/** A ledger whose disk is full. */
function failingAtBegin(ledger: Ledger): Ledger {
  return {
    begin: () => Promise.reject(new Error('no space left on device')),
    forget: (requestId, attempt) => ledger.forget(requestId, attempt),
    write: (entries, writtenLate) => ledger.write(entries, writtenLate),
  }
}
