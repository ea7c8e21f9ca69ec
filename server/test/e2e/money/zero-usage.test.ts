/** What was measured is never replaced by what we would have guessed, least of all when it is zero. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LedgerEntry } from '#core/ledger.ts'
import { entryFrom, entryText } from '#stores/spool/entry-text.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { embedInMemory, MemoryUpstream } from '#test/support/embedding.ts'
import { aModel, aRequest } from '#test/support/models.ts'

const price = { kind: 'perToken', nanoUsdPerMillionTokens: 1_000_000_000n } as const
const model = aModel({ deployments: [aDeployment({ price, capabilities: { maxInputs: 2 } })] })
/** No text has more tokens than bytes: what is above that would not be believed. */
const TEXT_BYTES = 1000
const measured = fc.oneof(fc.constant(0), fc.nat(TEXT_BYTES))
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

test('tokens that were measured are charged as they are, zero included, over one call or several', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(measured, { minLength: 3, maxLength: 3 }),
      fc.integer({ min: 1, max: 6 }),
      async (counts, inputs) => {
        let call = 0
        const upstream = new MemoryUpstream({
          usage: () => ({ kind: 'measured', tokens: counts[call++ % counts.length] as number }),
        })
        const texts = Array.from({ length: inputs }, (_, index) => `text ${index}`.padEnd(TEXT_BYTES, '.'))
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

test('zero tokens and zero dollars stay zero on disk; what is unknown or has no price stays that', () => {
  assert.deepEqual(entryFrom(entryText(entry)), entry)
  const unknown = { ...entry, tokens: undefined, amountNanoUsd: undefined }
  assert.deepEqual(entryFrom(entryText(unknown)), unknown)
})
