import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Budget } from '#core/money/budget.ts'
import type { Batch } from '#ports/batches.ts'
import { SetTerms } from '#test/support/terms.ts'
import { batchKey } from './batch-key.ts'

const BATCH = { project: 'ads', keyId: 'ads/web', isContinued: false } as Batch
const budget: Budget = { id: 'key:ads/web', limitNanoUsd: 5n, per: 'day', hard: true }

test('a batch is bound by the budgets and models of its key, and by none of its rate limits', async () => {
  const terms = new SetTerms()
  const limit = { id: 'key:ads/web:requests', project: 'ads', unit: 'requests', perMinute: 1 } as const
  terms.key = { limits: [limit], budgets: [budget], models: new Set(['m']) }
  const key = await batchKey(BATCH, terms)
  assert.deepEqual([key.id, key.limits, key.budgets, key.models], ['ads/web', [], [budget], new Set(['m'])])
})

test('nothing more is bought under a key that is gone, unless an operator lets the batch go on', async () => {
  const terms = new SetTerms()
  terms.projectBudget = budget
  terms.now = { standing: 'revoked', isProjectDeleted: false } as typeof terms.now
  await assert.rejects(batchKey(BATCH, terms), { code: 'key_revoked' })
  assert.deepEqual((await batchKey({ ...BATCH, isContinued: true }, terms)).budgets, [budget])
})
