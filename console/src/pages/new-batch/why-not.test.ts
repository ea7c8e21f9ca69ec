import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { BatchDraft, BatchEstimate } from '../../api/queries/batch-drafts.ts'
import { newBatch } from '../../words/en/new-batch.ts'
import type { EmbeddingModel } from './choices.ts'
import { whyNot, type Readiness } from './why-not.ts'

const budgets = [{ id: 'project:search', name: 'search' }] as BatchEstimate['budgets']
const estimate = { lines: 3, exceeds: null, budgets, problems: [], can_run: true }
const ready: Readiness = {
  draft: {} as BatchDraft,
  isSending: false,
  choices: { model: {} as EmbeddingModel, textColumn: 'body' },
  estimate,
  isAllowed: true,
}
const { why } = newBatch.estimate

const CASES: readonly (readonly [what: string, change: Partial<Readiness>, why: string | undefined])[] = [
  ['nothing is missing', {}, undefined],
  ['no right', { isAllowed: false, draft: undefined }, why.forbidden],
  ['an upload runs', { isSending: true }, why.uploading],
  ['no file', { draft: undefined }, why.noFile],
  ['no text column', { choices: { ...ready.choices, textColumn: undefined } }, why.noText],
  ['no model', { choices: { ...ready.choices, model: undefined } }, why.noModel],
  ['no estimate yet', { estimate: undefined }, why.noEstimate],
  ['no row can run', { estimate: { ...estimate, lines: 0, can_run: false } }, why.noLines],
  [
    'over the budget',
    {
      estimate: { ...estimate, can_run: false, exceeds: { budget: 'project:search', by_usd: '1.250000000' } },
    },
    'Exceeds the budget for search by $1.25',
  ],
  [
    'another refusal',
    { estimate: { ...estimate, can_run: false, problems: [{ code: 'x', text: 'It is so.', param: null }] } },
    'It is so.',
  ],
]

for (const [what, change, expected] of CASES)
  test(`${what}: ${expected ?? 'it can run'}`, () => assert.equal(whyNot({ ...ready, ...change }), expected))
