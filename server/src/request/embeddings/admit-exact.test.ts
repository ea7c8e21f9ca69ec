/** Hard budgets that have too little for the bytes of a request, and enough for its tokens. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { windowOf, type Budget } from '#core/money/budget.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Key } from '#ports/keys.ts'
import type { TokenCounter } from '#ports/tokens.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { embedInMemory, MemoryUpstream, memoryTokens } from '#test/support/embedding.ts'
import { memoryMoney } from '#test/support/money.ts'
import { aModel, aRequest, type ModelOverrides } from '#test/support/models.ts'
import { tokensOf } from '../../../../lab/fake-provider/vectors.ts'

/** A nano-dollar a token. */
const price = { kind: 'perToken', nanoUsdPerMillionTokens: 1_000_000n } as const
const TEXT = 'word '.repeat(200)
const TOKENS = tokensOf(TEXT)
const REQUEST_ID = '019a8f00-0000-7000-8000-000000000000'

interface Case {
  readonly limitNanoUsd: bigint
  readonly text?: string
  readonly model?: ModelOverrides['facts']
  readonly counts?: () => ReturnType<TokenCounter['count']>
}

/** One request under a hard budget: how it ended, and how many texts were counted for it. */
async function ask({ limitNanoUsd, text = TEXT, model = { tokenCounts: 'exact' }, counts }: Case) {
  const budget: Budget = { id: 'project:p', limitNanoUsd, per: 'total', hard: true }
  const key: Key = {
    id: 'p/k',
    name: 'k',
    project: 'p',
    models: undefined,
    expiresAtMs: undefined,
    limits: [],
    budgets: [budget],
  }
  const money = memoryMoney()
  let counted = 0
  const tokens: TokenCounter = {
    ...memoryTokens,
    count(texts, ...rest) {
      counted += texts.length
      return counts ? counts() : memoryTokens.count(texts, ...rest)
    },
  }
  const upstream = new MemoryUpstream()
  const asked = aRequest({ input: { kind: 'texts', texts: [text] } })
  const options = { key, money, tokens, requestId: REQUEST_ID }
  const priced = aModel({ deployments: [aDeployment({ price })], facts: model })
  const outcome = await embedInMemory(asked, priced, upstream, options).then(
    () => 'served',
    (error: unknown) => (error instanceof Fault ? error.code : String(error)),
  )
  await money.leases.returnAll()
  const state = money.memory.budgetState(budget.id, windowOf('total', 0))
  assert.ok((state?.spentNanoUsd ?? 0n) + (state?.leasedNanoUsd ?? 0n) <= limitNanoUsd)
  return { outcome, counted, calls: upstream.calls.length, spent: state?.spentNanoUsd }
}

test('what its tokens can be paid for is admitted, though its bytes are more than what is left', async () => {
  const enough = BigInt(TOKENS)
  assert.ok(enough < BigInt(TEXT.length))
  assert.deepEqual(await ask({ limitNanoUsd: enough }), {
    outcome: 'served',
    counted: 1,
    calls: 1,
    spent: BigInt(TOKENS),
  })
  const { outcome, calls } = await ask({ limitNanoUsd: BigInt(TOKENS) - 1n })
  assert.deepEqual([outcome, calls], ['budget_exhausted', 0])
})

test('nothing is counted where the budget has enough for the bytes', async () => {
  const { outcome, counted } = await ask({ limitNanoUsd: 10_000n })
  assert.deepEqual([outcome, counted], ['served', 0])
})

test('nothing is counted where the text can’t fit in any case, or the upstream counts otherwise', async () => {
  const refused = ['budget_exhausted', 0]
  // The longest token has 128 bytes.
  const empty = await ask({ limitNanoUsd: BigInt(Math.ceil(TEXT.length / 128)) - 1n })
  assert.deepEqual([empty.outcome, empty.counted], refused)
  for (const model of [{ tokenCounts: 'estimated' }, { tokenizer: 'none', tokenCounts: 'exact' }] as const) {
    const { outcome, counted } = await ask({ limitNanoUsd: 500n, model })
    assert.deepEqual([outcome, counted], refused)
  }
})

test('a tokenizer that can’t count leaves the refusal by bytes', async () => {
  const counts = () => Promise.reject(new Error('busy'))
  const { outcome, calls } = await ask({ limitNanoUsd: 500n, counts })
  assert.deepEqual([outcome, calls], ['budget_exhausted', 0])
})
