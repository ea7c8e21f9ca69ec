import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MANY_RUNS, runs } from '#test/support/arbitraries.ts'
import {
  addTokens,
  chargedUsage,
  divideTokens,
  divideWithin,
  UNKNOWN_TOKENS,
  type ImageUsage,
  type Usage,
} from './usage.ts'

const total = fc.oneof(fc.nat(20), fc.nat(1_000_000), fc.nat(40_000_000))
const weights = fc.array(fc.oneof(fc.constant(0), fc.nat(9), fc.nat(1_000_000)), {
  minLength: 1,
  maxLength: 50,
})

test('the shares of a call sum exactly to what it used', () => {
  fc.assert(
    fc.property(total, weights, (total, weights) => {
      const shares = divideTokens(total, weights)
      assert.equal(shares.length, weights.length)
      assert.ok(shares.every((share) => Number.isInteger(share) && share >= 0))
      assert.equal(
        shares.reduce((sum, share) => sum + share, 0),
        total,
      )
    }),
    MANY_RUNS,
  )
})

test('the shares sum exactly to any total that a number can hold, and each is right to the token', () => {
  const huge = fc.oneof(fc.maxSafeNat(), fc.constant(Number.MAX_SAFE_INTEGER))
  const heavy = fc.array(fc.nat(9_000_000), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(huge, heavy, (total, weights) => {
      const shares = divideTokens(total, weights)
      const sum = BigInt(weights.reduce((a, b) => a + b, 0))
      assert.equal(
        shares.reduce((sum, share) => sum + BigInt(share), 0n),
        BigInt(total),
      )
      if (sum === 0n) return
      for (const [index, share] of shares.entries()) {
        const whole = (BigInt(total) * BigInt(weights[index] as number)) / sum
        assert.ok(BigInt(share) === whole || BigInt(share) === whole + 1n)
      }
    }),
    MANY_RUNS,
  )
})

test('a count is charged up to four times what is expected, and a larger one keeps the reported count', () => {
  const measured = (tokens: number): Usage => ({ kind: 'measured', tokens })
  assert.deepEqual(chargedUsage(measured(5), 2, 9), measured(5))
  assert.deepEqual(chargedUsage(measured(2), 2, 9), measured(2))
  assert.deepEqual(chargedUsage(measured(10), 2, 9), measured(10))
  assert.deepEqual(chargedUsage(measured(36), 2, 9), measured(36))
  assert.deepEqual(chargedUsage(measured(37), 2, 9), { kind: 'estimated', tokens: 36, reportedTokens: 37 })
  assert.deepEqual(chargedUsage(measured(0), 0, 9), measured(0))
  for (const tokens of [0, 1])
    assert.deepEqual(chargedUsage(measured(tokens), 2, 9), { kind: 'unknown' }, `${tokens} tokens`)
})

test('a heavier input never gets the smaller share, and no share is off by a whole token', () => {
  fc.assert(
    fc.property(total, weights, (total, weights) => {
      const shares = divideTokens(total, weights)
      const sum = weights.reduce((a, b) => a + b, 0)
      for (const [index, weight] of weights.entries()) {
        const share = shares[index] as number
        if (sum > 0) assert.ok(Math.abs(share - (total * weight) / sum) < 1 + 1e-6)
        for (const [other, otherWeight] of weights.entries()) {
          if (weight > otherWeight) assert.ok(share >= (shares[other] as number))
        }
      }
    }),
    runs(2000),
  )
})

test('shares that have a most stay within it, and still sum to what the call used', () => {
  const shares = fc.array(fc.record({ weight: fc.nat(1000), room: fc.nat(50) }), {
    minLength: 1,
    maxLength: 20,
  })
  fc.assert(
    fc.property(shares, fc.double({ min: 0, max: 1, noNaN: true }), (shares, part) => {
      const mosts = shares.map(({ weight, room }) => weight + room)
      const most = mosts.reduce((a, b) => a + b, 0)
      const total = Math.round(most * part)
      const weights = shares.map(({ weight }) => weight)
      const parts = divideWithin(total, weights, mosts)
      assert.equal(
        parts.reduce((sum, share) => sum + share, 0),
        total,
      )
      for (const [index, share] of parts.entries()) assert.ok(share <= (mosts[index] as number))
    }),
    MANY_RUNS,
  )
})

test('among equal inputs the earlier ones get the tokens left over', () => {
  assert.deepEqual(divideTokens(8, [1, 1, 1]), [3, 3, 2])
  assert.deepEqual(divideTokens(2, [0, 0, 0]), [1, 1, 0])
  assert.deepEqual(divideTokens(5, []), [])
})

test('a sum of tokens is known only where every part is', () => {
  const count = fc.option(fc.nat(1_000_000), { nil: undefined })
  const kinds = Object.keys(UNKNOWN_TOKENS) as (keyof ImageUsage['tokens'])[]
  const tokens = fc
    .tuple(...kinds.map(() => count))
    .map(
      (counts) =>
        Object.fromEntries(kinds.map((kind, index) => [kind, counts[index]])) as ImageUsage['tokens'],
    )
  fc.assert(
    fc.property(tokens, tokens, (a, b) => {
      const sum = addTokens(a, b)
      for (const kind of kinds) {
        const [left, right] = [a[kind], b[kind]]
        assert.equal(sum[kind], left === undefined || right === undefined ? undefined : left + right)
      }
      assert.deepEqual(addTokens(a, UNKNOWN_TOKENS), UNKNOWN_TOKENS)
    }),
  )
})
