/** A measured count is not replaced by an estimate, unless no call with a price can have used so little. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LedgerEntry } from '#core/money/ledger.ts'
import type { Undercount } from '#ports/observer.ts'
import { entryFrom, entryText } from '#core/money/entry-text.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { embedInMemory, MemoryUpstream } from '#test/support/embedding.ts'
import { aModel, aRequest } from '#test/support/models.ts'
import { tokensOf } from '../../../../lab/fake-provider/vectors.ts'

const INPUTS_A_CALL = 2
const price = { kind: 'perToken', nanoUsdPerMillionTokens: 1_000_000_000n } as const
const model = aModel({ deployments: [aDeployment({ price, capabilities: { maxInputs: INPUTS_A_CALL } })] })
/** No text has more tokens than bytes: a larger count would not be believed. */
const TEXT_BYTES = 1000
const measured = fc.integer({ min: INPUTS_A_CALL, max: TEXT_BYTES })
const entry: LedgerEntry = {
  requestId: '019a8f00-0000-7000-8000-000000000000',
  attempt: 0,
  kind: 'post',
  callId: '019a8f00-0000-7000-8000-000000000001',
  project: 'p',
  keyId: 'p/k',
  model: 'm',
  deployment: 'd',
  usage: 'upstream',
  tokens: 0,
  images: 0,
  amountNanoUsd: 0n,
  projectLeaseNanoUsd: 0n,
  keyLeaseNanoUsd: 0n,
}

test('tokens that were measured are charged as they are, over one call or several', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(measured, { minLength: 3, maxLength: 3 }),
      fc.integer({ min: 1, max: 6 }),
      async (counts, inputs) => {
        let call = 0
        const upstream = new MemoryUpstream({
          usage: () => ({ kind: 'measured', tokens: counts[call++ % counts.length] as number }),
        })
        const texts = textsOf(inputs)
        const { usage } = await embedInMemory(aRequest({ input: { kind: 'texts', texts } }), model, upstream)
        const total = counts.slice(0, Math.ceil(inputs / 2)).reduce((sum, count) => sum + count, 0)
        assert.deepEqual(usage, {
          promptTokens: total,
          source: 'upstream',
          cost: { kind: 'known', nanoUsd: BigInt(total) * 1000n },
        })
      },
    ),
  )
})

test('zero tokens of a call with a price are no count: the row says estimated, and the node tells', async () => {
  const undercounts: Undercount[] = []
  const upstream = new MemoryUpstream({ usage: () => ({ kind: 'measured', tokens: 0 }) })
  const texts = textsOf(3)
  const asked = aRequest({ input: { kind: 'texts', texts } })
  const { usage } = await embedInMemory(asked, model, upstream, { undercounts })
  const tokens = texts.reduce((sum, text) => sum + tokensOf(text), 0)
  assert.deepEqual(usage, {
    promptTokens: tokens,
    source: 'estimated',
    cost: { kind: 'known', nanoUsd: BigInt(tokens) * 1000n },
  })
  assert.deepEqual(
    undercounts.map(({ reportedTokens }) => reportedTokens),
    [0, 0],
  )
})

test('zero tokens of a call that is free stay zero, and nothing is reported', async () => {
  const undercounts: Undercount[] = []
  const free = aModel({ deployments: [aDeployment({ price: { kind: 'free' } })] })
  const upstream = new MemoryUpstream({ usage: () => ({ kind: 'measured', tokens: 0 }) })
  const { usage } = await embedInMemory(aRequest(), free, upstream, { undercounts })
  assert.deepEqual(usage, { promptTokens: 0, source: 'upstream', cost: { kind: 'known', nanoUsd: 0n } })
  assert.deepEqual(undercounts, [])
})

function textsOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `text ${index}`.padEnd(TEXT_BYTES, '.'))
}

test('zero tokens and zero dollars stay zero on disk; what is unknown or has no price stays that', () => {
  assert.deepEqual(entryFrom(entryText(entry)), entry)
  const unknown = { ...entry, tokens: undefined, amountNanoUsd: undefined }
  assert.deepEqual(entryFrom(entryText(unknown)), unknown)
})
