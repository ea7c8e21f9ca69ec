/** Which offers a key with a hard budget may pay for, and what a refusal says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Budget } from '#core/money/budget.ts'
import { aKey } from '#test/support/sharing.ts'
import { refused } from './budget-refusal.ts'
import { dearest, payable } from './hard-budget.ts'

const SOFT: Budget = { id: 'project:p', limitNanoUsd: 1n, per: 'day', hard: false }
const HARD: Budget = { id: 'key:p/k', limitNanoUsd: 1n, per: 'total', hard: true }

const anOffer = (name: string, isPriced: boolean, extraFields = {}) => ({
  name,
  isPriced,
  extraFields,
  deployment: { id: `m/${name}`, capabilities: { harmlessFields: ['trace'] } },
})
const priced = anOffer('priced', true)
const unpriced = anOffer('unpriced', false)
const traced = anOffer('traced', true, { trace: 1 })
const seeded = anOffer('seeded', true, { trace: 1, seed: 2 })
type Offer = typeof priced

const PAYABLE: readonly (readonly [
  why: string,
  budgets: readonly Budget[],
  offers: readonly Offer[],
  outcome: readonly Offer[] | { readonly code: string; readonly param?: string; readonly message: RegExp },
])[] = [
  ['no budget allows all', [], [unpriced, seeded], [unpriced, seeded]],
  ['a soft budget allows all', [SOFT], [unpriced, seeded], [unpriced, seeded]],
  ['a hard budget leaves what has a price', [HARD], [unpriced, priced], [priced]],
  ['a hard budget beside a soft one counts', [SOFT, HARD], [unpriced, priced], [priced]],
  ['a field without effect on the price is allowed', [HARD], [traced], [traced]],
  [
    'without any price the owner of the hard budget is named',
    [SOFT, HARD],
    [unpriced],
    {
      code: 'model_unpriced',
      message:
        /'m' has no price .* key p\/k has a hard budget.* m\/unpriced was skipped: it has no price and the key's budget is hard\. m\/text-only was skipped: it can't do what this request asks for\.$/,
    },
  ],
  [
    'a field of unknown effect is refused by name',
    [SOFT, HARD],
    [traced, seeded],
    { code: 'unsupported_parameter', param: 'seed', message: /'seed' .* key p\/k has a hard budget/ },
  ],
]

const MODEL = { id: 'm', deployments: [{ id: 'm/unpriced' }, { id: 'm/text-only' }] }

for (const [why, budgets, offers, outcome] of PAYABLE)
  test(`a key pays for what its budgets allow: ${why}`, () => {
    const pay = () => payable(offers, ({ isPriced }) => isPriced, MODEL, { ...aKey('p'), budgets })
    if ('code' in outcome) assert.throws(pay, outcome)
    else assert.deepEqual(pay(), outcome)
  })

test('what is reserved is the dearest of the known costs', () => {
  const known = (nanoUsd: bigint) => ({ kind: 'known', nanoUsd }) as const
  assert.equal(dearest([]), 0n)
  assert.equal(dearest([known(3n), known(7n), { kind: 'unpriced' }, known(5n)]), 7n)
})

const WINDOW = { startMs: 0, endMs: Date.UTC(2026, 0, 2) }
for (const [why, per, spentNanoUsd, code, message] of [
  ['a period that is used up', 'day', 9n, 'budget_exhausted', /a day\).* begins at 2026-01-02T00:00:00/],
  ['a total that is used up', 'total', 9n, 'budget_exhausted', /in total\).* up to \$[0-9.]+\.$/],
  ['running requests hold the rest', 'day', 5n, 'budget_reserved', /is reserved for running requests/],
] as const)
  test(`a refusal for lack of money says why: ${why}`, () => {
    const leased = { budget: { ...HARD, per }, window: WINDOW } as unknown as Parameters<typeof refused>[0]
    const answer = { limitNanoUsd: 10n, spentNanoUsd } as Parameters<typeof refused>[2]
    const fault = refused(leased, 5n, answer)
    assert.equal(fault.code, code)
    assert.match(fault.message, message)
    assert.deepEqual([fault.leftNanoUsd, fault.askedNanoUsd], [10n - spentNanoUsd, 5n])
    assert.equal(fault.retryAfterMs, code === 'budget_reserved' ? 1500 : undefined)
  })
