import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { amountsOf } from './shapes.ts'

test('the lines of a call sum to what was posted for it, rounded up once', () => {
  const count = fc.record({
    of: fc.constant('tokens' as const),
    count: fc.integer({ min: 0, max: 10_000_000 }),
    nanoUsd: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    per: fc.constantFrom(1 as const, 1_000_000 as const),
  })
  fc.assert(
    fc.property(fc.array(count, { minLength: 1, maxLength: 6 }), (counts) => {
      const millionths = counts.reduce(
        (sum, one) => sum + BigInt(one.count) * one.nanoUsd * (one.per === 1 ? 1_000_000n : 1n),
        0n,
      )
      const posted = (millionths + 999_999n) / 1_000_000n
      const amounts = amountsOf(counts, posted)
      assert.equal(
        amounts?.reduce<bigint>((sum, one) => sum + (one ?? 0n), 0n),
        posted,
      )
    }),
  )
})

test('counts that do not make up the amount are not told as if they did', () => {
  const counts = [{ of: 'tokens', count: 100, nanoUsd: 20_000_000n, per: 1_000_000 }] as const
  assert.deepEqual(amountsOf(counts, 2000n), [2000n])
  assert.equal(amountsOf(counts, 1999n), undefined)
  assert.equal(amountsOf([], 0n), undefined)
  assert.deepEqual(amountsOf(counts, undefined), [undefined])
})
