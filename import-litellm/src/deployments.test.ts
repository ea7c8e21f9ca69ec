import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { priceOf, ranksOf } from './deployments.ts'

const ranks = (params: readonly Record<string, unknown>[], drawsByRate = true) =>
  ranksOf(
    params.map((fields) => ({ params: fields, info: {} })),
    drawsByRate,
  ).map(({ priority, weight }) => `${priority}/${weight}`)

const CASES: readonly (readonly [string, readonly Record<string, unknown>[], readonly string[]])[] = [
  ['equals stay equal', [{}, {}], ['0/1', '0/1']],
  ['the lowest order goes first, none goes last', [{ order: 2 }, {}, { order: 1 }], ['1/1', '2/1', '0/1']],
  ['weights are shares', [{ weight: 3 }, { weight: 1 }], ['0/3', '0/1']],
  ['equal weights need no mention', [{ weight: 5 }, { weight: 5 }], ['0/1', '0/1']],
  ['who has no share waits for the others', [{ weight: 3 }, {}, { weight: 0 }], ['0/1', '1/1', '1/1']],
  ['rates are shares where nobody has a weight', [{ rpm: 600 }, { rpm: 60 }], ['0/600', '0/60']],
  [
    'weights count before rates',
    [
      { rpm: 600, weight: 1 },
      { rpm: 60, weight: 2 },
    ],
    ['0/1', '0/2'],
  ],
  ['nonsense is as good as nothing', [{ order: 'first', weight: [] }, { weight: '2' }], ['1/1', '0/1']],
]
for (const [name, params, expected] of CASES) {
  test(name, () => assert.deepEqual(ranks(params), expected))
}

test('rates are no shares under a strategy that does not draw by them', () => {
  assert.deepEqual(ranks([{ rpm: 600 }, { rpm: 60 }], false), ['0/1', '0/1'])
})

test('priorities have no gaps and weights are positive, whatever is written', () => {
  const value = fc.oneof(
    fc.integer({ min: -5, max: 5 }),
    fc.constant(undefined),
    fc.string(),
    fc.constant(null),
  )
  const params = fc.array(fc.record({ order: value, weight: value, rpm: value }), {
    minLength: 1,
    maxLength: 8,
  })
  fc.assert(
    fc.property(params, (group) => {
      const result = ranksOf(
        group.map((fields) => ({ params: fields, info: {} })),
        true,
      )
      const priorities = new Set(result.map(({ priority }) => priority))
      assert.deepEqual(priorities, new Set(Array.from({ length: priorities.size }, (_, index) => index)))
      assert.ok(result.every(({ weight }) => weight > 0))
    }),
  )
})

test('a price for one token becomes the exact price for a million', () => {
  const nanoPerMillion = fc.bigInt({ min: 1n, max: 10n ** 13n })
  fc.assert(
    fc.property(nanoPerMillion, (nano) => {
      const perToken = `0.${nano.toString().padStart(15, '0')}`
      const price = priceOf('embedding', { input_cost_per_token: perToken }, {})
      assert.ok(typeof price === 'object' && 'usdPerMillionTokens' in price)
      assert.equal(BigInt(price.usdPerMillionTokens.toFixed(9).replace('.', '')), nano)
    }),
  )
})

test('prices are read in every form, and nothing is free', () => {
  const read = (given: unknown) => priceOf('embedding', {}, { input_cost_per_token: given })
  assert.deepEqual(read(2e-8), { usdPerMillionTokens: 0.02 })
  assert.deepEqual(read('1.3e-07'), { usdPerMillionTokens: 0.13 })
  assert.deepEqual(read(0), 'free')
  assert.deepEqual(read(undefined), undefined)
  for (const bad of [-1, 'cheap', {}, 1e-20, 0.02, Number.NaN]) assert.equal(read(bad), 'unreadable')
})
