import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LedgerEntry } from './ledger.ts'
import { anyText, MANY_RUNS } from '#test/support/arbitraries.ts'
import { entryFrom, entryText } from './entry-text.ts'

const REQUIRED = [
  'requestId',
  'attempt',
  'kind',
  'callId',
  'project',
  'keyId',
  'model',
  'deployment',
  'usage',
  'tokens',
  'images',
  'amountNanoUsd',
  'projectLeaseNanoUsd',
  'keyLeaseNanoUsd',
] as const

const amount = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const entry: fc.Arbitrary<LedgerEntry> = fc.record(
  {
    requestId: fc.uuid({ version: 7 }),
    attempt: fc.nat(32_767),
    kind: fc.constantFrom('intent', 'post', 'void', 'unknown', 'adjust'),
    callId: fc.uuid({ version: 7 }),
    project: anyText,
    keyId: anyText,
    model: anyText,
    deployment: anyText,
    usage: fc.constantFrom('upstream', 'estimated', 'unknown'),
    tokens: fc.option(fc.maxSafeNat(), { nil: undefined }),
    images: fc.nat(10),
    amountNanoUsd: fc.option(amount, { nil: undefined }),
    projectLeaseNanoUsd: amount,
    keyLeaseNanoUsd: amount,
    countsRequest: fc.constant(true),
    hits: fc.nat(2048),
    inputs: fc.nat(2048),
    savedNanoUsd: amount,
    labels: fc.record(
      {
        user: anyText,
        tags: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), anyText, { noNullPrototype: true }),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
    remarks: fc.record(
      { what: anyText, reason: anyText, reportedTokens: fc.nat() },
      { requiredKeys: [], noNullPrototype: true },
    ),
  },
  { requiredKeys: [...REQUIRED], noNullPrototype: true },
)

test('an entry comes back from its text as it was, down to the last nano-dollar', () => {
  fc.assert(
    fc.property(entry, (entry) => {
      assert.deepEqual(entryFrom(entryText(entry)), entry)
    }),
    MANY_RUNS,
  )
})

test('an entry is one line, whatever its names hold', () => {
  fc.assert(
    fc.property(entry, (entry) => {
      assert.ok(!/[\n\r]/.test(entryText(entry)))
    }),
    MANY_RUNS,
  )
})
