import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { windowOf } from '../money/budget.ts'
import { loosenedTerm, type BindingChange, type BindingTerm, type BindingTerms } from './loosening.ts'

const DOLLAR = 1_000_000_000n
const DAY_MS = 86_400_000
const before: BindingTerms = {
  models: ['a', 'b'],
  scopes: ['embeddings'],
  addresses: ['10.0.0.0/8'],
  maxCallsAtOnce: 4,
  expiresAtMs: 1000,
  limits: { requestsPerMinute: 10, tokensPerMinute: 10, imagesPerMinute: 10 },
  budget: { limitNanoUsd: DOLLAR, per: 'week', hard: true },
}
const budget = { limitNanoUsd: DOLLAR, per: 'week', hard: true } as const

/** Each term: what tightens it, and what loosens it. */
const TABLE: Readonly<Record<BindingTerm, { tighter: BindingChange[]; looser: BindingChange[] }>> = {
  models: { tighter: [{ models: ['b'] }], looser: [{ models: null }, { models: ['a', 'c'] }] },
  scopes: { tighter: [{ scopes: ['embeddings'] }], looser: [{ scopes: null }, { scopes: ['images'] }] },
  addresses: {
    tighter: [{ addresses: ['10.0.0.0/8'] }],
    looser: [{ addresses: null }, { addresses: ['::1'] }],
  },
  maxCallsAtOnce: {
    tighter: [{ maxCallsAtOnce: 3 }],
    looser: [{ maxCallsAtOnce: null }, { maxCallsAtOnce: 5 }],
  },
  expiresAtMs: { tighter: [{ expiresAtMs: 999 }], looser: [{ expiresAtMs: null }, { expiresAtMs: 1001 }] },
  budget: {
    tighter: [
      { budget },
      { budget: { ...budget, limitNanoUsd: 1n } },
      { budget: { ...budget, per: 'total' } },
    ],
    looser: [
      { budget: null },
      { budget: { ...budget, limitNanoUsd: DOLLAR + 1n } },
      { budget: { ...budget, hard: false } },
      { budget: { ...budget, per: 'day' } },
      { budget: { ...budget, per: 'month' } },
    ],
  },
  requestsPerMinute: rowOf('requestsPerMinute'),
  tokensPerMinute: rowOf('tokensPerMinute'),
  imagesPerMinute: rowOf('imagesPerMinute'),
}

function rowOf(unit: 'requestsPerMinute' | 'tokensPerMinute' | 'imagesPerMinute') {
  const change = (value: number | null): BindingChange => ({ limits: { [unit]: value } })
  return { tighter: [change(9), change(10)], looser: [change(null), change(11)] }
}

for (const [term, { tighter, looser }] of Object.entries(TABLE)) {
  test(`${term}: less or the same is no loosening`, () => {
    for (const change of tighter) assert.equal(loosenedTerm(before, change), undefined)
  })
  test(`${term}: more, or none, is a loosening`, () => {
    for (const change of looser) assert.equal(loosenedTerm(before, change), term)
  })
  test(`${term}: where there was none, every change is a bound more`, () => {
    for (const change of [...tighter, ...looser]) assert.equal(loosenedTerm({}, change), undefined)
  })
}

const period = fc.constantFrom('day', 'week', 'month', 'total')
const someBudget = fc.record({ limitNanoUsd: fc.bigInt(0n, 5n), per: period, hard: fc.constant(true) })

test('a spending that a changed budget admits, the budget before it admits too', () => {
  // Around the end of a month that falls inside a week.
  const spending = fc.record({
    atMs: fc.integer({ min: 28, max: 33 }).map((day) => day * DAY_MS),
    nanoUsd: fc.bigInt(1n, 2n),
  })
  const spendings = fc.array(spending, { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(someBudget, someBudget, spendings, (old, now, spent) => {
      const admits = ({ limitNanoUsd, per }: typeof old): boolean =>
        spent.every(({ atMs }) => {
          const { startMs, endMs } = windowOf(per, atMs)
          const inWindow = spent.filter((one) => one.atMs >= startMs && one.atMs < endMs)
          return inWindow.reduce((sum, one) => sum + one.nanoUsd, 0n) <= limitNanoUsd
        })
      if (loosenedTerm({ budget: old }, { budget: now }) === undefined && admits(now)) assert.ok(admits(old))
    }),
    runs(2000),
  )
})
