import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MANY_RUNS } from '#test/support/arbitraries.ts'
import {
  addCosts,
  costOf,
  costText,
  dearerOf,
  dollars,
  maxCostOf,
  nanoUsdOf,
  usdOf,
  type Cost,
  type Price,
} from './price.ts'

const perToken = fc
  .bigInt({ min: 1n, max: 100_000_000_000n })
  .map((nanoUsdPerMillionTokens): Price => ({ kind: 'perToken', nanoUsdPerMillionTokens }))
const tokens = fc.nat(40_000_000)

function known(cost: Cost): bigint {
  assert.ok(cost.kind === 'known')
  return cost.nanoUsd
}

for (const [usd, nano] of [
  [0.02, 20_000_000n],
  ['0.02', 20_000_000n],
  [0.1, 100_000_000n],
  [0.000000001, 1n],
  [5e-7, 500n],
  [1e-9, 1n],
  ['0.000000001', 1n],
  ['0.5000000000000', 500_000_000n],
  [12, 12_000_000_000n],
  ['123456789.987654321', 123_456_789_987_654_321n],
] as const) {
  test(`${usd} dollars are ${nano} nano-dollars, exactly`, () => assert.equal(nanoUsdOf(usd), nano))
}

for (const bad of [
  '',
  '.5',
  '5.',
  '-1',
  '1e3',
  '0.0000000001',
  '1,5',
  ' 1',
  '0x10',
  '$1',
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -0.1,
]) {
  test(`'${bad}' is no dollar amount`, () => assert.throws(() => nanoUsdOf(bad), RangeError))
}

test('decimal text is read without binary rounding, and written back the same', () => {
  const decimal = fc
    .tuple(fc.nat(1_000_000), fc.stringMatching(/^\d{9}$/))
    .map(([whole, rest]) => `${whole}.${rest}`)
  fc.assert(
    fc.property(decimal, (text) => assert.equal(costText({ kind: 'known', nanoUsd: nanoUsdOf(text) }), text)),
    MANY_RUNS,
  )
})

test('a cost is the exact product, rounded up to the next nano-dollar', () => {
  fc.assert(
    fc.property(perToken, tokens, (price, tokens) => {
      assert.ok(price.kind === 'perToken')
      const exact = price.nanoUsdPerMillionTokens * BigInt(tokens)
      const cost = known(costOf(price, tokens)) * 1_000_000n
      assert.ok(cost >= exact && cost < exact + 1_000_000n)
    }),
    MANY_RUNS,
  )
})

test('parts of a bill sum to no less than the whole, and to no more than was reserved', () => {
  fc.assert(
    fc.property(perToken, fc.array(tokens, { minLength: 1, maxLength: 8 }), (price, parts) => {
      const total = parts.reduce((a, b) => a + b, 0)
      const whole = known(costOf(price, total))
      const sum = known(parts.map((part) => costOf(price, part)).reduce(addCosts))
      assert.ok(sum >= whole && sum < whole + BigInt(parts.length))
      assert.ok(sum <= known(maxCostOf(price, { tokens: total, rows: parts.length })))
    }),
    MANY_RUNS,
  )
})

test('more tokens never cost less', () => {
  fc.assert(
    fc.property(perToken, tokens, tokens, (price, some, more) => {
      assert.ok(known(costOf(price, some)) <= known(costOf(price, some + more)))
    }),
    MANY_RUNS,
  )
})

test('a million tokens of text-embedding-3-small cost two cents', () => {
  const price: Price = { kind: 'perToken', nanoUsdPerMillionTokens: nanoUsdOf(0.02) }
  assert.equal(costText(costOf(price, 1_000_000)), '0.020000000')
  assert.equal(costText(costOf(price, 1)), '0.000000020')
  assert.equal(costText(costOf(price, 0)), '0.000000000')
})

test('free is nothing, unpriced is unknown, and one unknown part makes the sum unknown', () => {
  const free = costOf({ kind: 'free' }, 5)
  const unpriced = costOf({ kind: 'unpriced' }, 5)
  assert.equal(costText(free), '0.000000000')
  assert.equal(costText(unpriced), 'unpriced')
  assert.equal(costText(addCosts(free, unpriced)), 'unpriced')
  assert.equal(costText(addCosts(unpriced, free)), 'unpriced')
})

test('what may be dearer than is known is unpriced, also when it is reserved', () => {
  const cheap: Cost = { kind: 'known', nanoUsd: 1n }
  const dear: Cost = { kind: 'known', nanoUsd: 2n }
  assert.deepEqual(dearerOf(cheap, dear), dear)
  assert.deepEqual(dearerOf(dear, cheap), dear)
  assert.equal(costText(dearerOf(dear, { kind: 'unpriced' })), 'unpriced')
  assert.equal(costText(dearerOf({ kind: 'unpriced' }, dear)), 'unpriced')
  assert.equal(costText(maxCostOf({ kind: 'unpriced' }, { tokens: 0, rows: 1 })), 'unpriced')
  assert.equal(costText(maxCostOf({ kind: 'free' }, { tokens: 9, rows: 9 })), '0.000000000')
})

test('an amount is shown to people with cents at least, and to machines as the nearest number', () => {
  for (const [text, shown] of [
    ['0', '$0.00'],
    ['12.5', '$12.50'],
    ['1200', '$1200.00'],
    ['0.00000002', '$0.00000002'],
    ['0.105', '$0.105'],
  ] as const)
    assert.equal(dollars(nanoUsdOf(text)), shown)
  assert.equal(dollars(-nanoUsdOf('0.5')), '$-0.50')
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 53n), max: 2n ** 53n }), (nanoUsd) =>
      assert.equal(usdOf(nanoUsd), Number(nanoUsd) / 1e9),
    ),
  )
})

test('a part of a second or of a page is charged as a whole one, by its count and by its tokens', () => {
  const nanoUsdPerMillion = 3_000_000n
  for (const by of ['count', 'tokens'] as const) {
    const price: Price = { kind: 'perPart', rates: { audio: { by, nanoUsdPerMillion } } }
    const costs = [0, 0.001, 1, 1.5].map((amount) =>
      known(costOf(price, 0, { audio: { tokens: amount, count: amount } })),
    )
    assert.deepEqual(costs, [0n, 3n, 3n, 6n])
  }
})
