import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anEntry } from '#test/support/entries.ts'
import { dividedEntry, labelTermsOf } from './label-shares.ts'

const share = fc.record({
  user: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
  tags: fc.option(fc.constantFrom({ team: 'red' }, { team: 'blue' }), { nil: undefined }),
  weight: fc.nat(10_000),
})

test('parts of an entry are the entry, to the token and the nano-dollar, with numbers of their own', () => {
  fc.assert(
    fc.property(
      fc.array(share, { minLength: 2, maxLength: 40 }),
      fc.nat(10_000_000),
      fc.bigInt({ min: 0n, max: 10n ** 14n }),
      (given, tokens, amountNanoUsd) => {
        const { labels, shares } = labelTermsOf(given as [(typeof given)[0], ...typeof given])
        if (shares === undefined) {
          assert.equal(new Set(given.map(({ user }) => user)).size, 1)
          return
        }
        assert.equal(labels, undefined)
        const entry = anEntry({
          tokens,
          amountNanoUsd,
          projectLeaseNanoUsd: 7n,
          countsRequest: true,
          hits: 3,
          remarks: { reportedTokens: 9 },
        })
        let attempt = 5
        const parts = dividedEntry(entry, shares, () => attempt++)
        const sum = (values: readonly (bigint | number | undefined)[]): bigint =>
          values.reduce<bigint>((total, value) => total + BigInt(value ?? 0), 0n)
        assert.equal(sum(parts.map((part) => part.tokens)), BigInt(tokens))
        assert.equal(sum(parts.map((part) => part.amountNanoUsd)), amountNanoUsd)
        assert.equal(sum(parts.map((part) => part.projectLeaseNanoUsd)), 7n)
        assert.equal(sum(parts.map((part) => part.hits)), 3n)
        assert.equal(parts.filter((part) => part.countsRequest).length, 1)
        assert.equal(parts.filter((part) => part.remarks !== undefined).length, 1)
        assert.equal(new Set(parts.map((part) => part.attempt)).size, parts.length)
        assert.equal(parts[0]?.attempt, entry.attempt)
      },
    ),
  )
})

test('lines of one user and one tag are one part, in whatever order their tags come', () => {
  const { labels, shares } = labelTermsOf([
    { user: 'a', tags: { x: '1', y: '2' }, weight: 1 },
    { user: 'a', tags: { y: '2', x: '1' }, weight: 2 },
  ])
  assert.deepEqual([labels, shares], [{ user: 'a', tags: { x: '1', y: '2' } }, undefined])
})
