import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { aDeployment } from '#test/support/deployments.ts'
import { aModel, aRequest } from '#test/support/models.ts'
import { negotiate, type Offer } from '../negotiate.ts'
import { orderOffers } from './order.ts'

interface Kind {
  readonly priority: number
  readonly weight: number
  readonly emulates: boolean
}

/** Real offers: an emulating one truncates where a native one takes `dimensions`. */
function offersOf(
  kinds: readonly Kind[],
  encodings: readonly ('float' | 'base64')[] = ['float', 'base64'],
): readonly Offer[] {
  const deployments = kinds.map(({ priority, weight, emulates }, index) =>
    aDeployment({
      id: String(index),
      priority,
      weight,
      capabilities: {
        encodings,
        dimensions: emulates ? { kind: 'none' } : { kind: 'range', min: 1, max: 8 },
      },
    }),
  )
  const model = aModel({ facts: { matryoshka: true }, deployments })
  return negotiate(aRequest({ dimensions: 4, encoding: 'base64' }), model, 'refuse').offers
}

/** Mulberry32: the same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
}

const kinds = fc.array(
  fc.record({ priority: fc.nat(3), weight: fc.constantFrom(0.5, 1, 3, 100), emulates: fc.boolean() }),
  {
    minLength: 1,
    maxLength: 8,
  },
)

test('priority goes first, then native before emulating; nobody is lost', () => {
  fc.assert(
    fc.property(kinds, fc.integer(), (kinds, seed) => {
      const order = orderOffers(offersOf(kinds), seeded(seed)).map(({ deployment }) => Number(deployment.id))
      assert.deepEqual(
        order.toSorted((a, b) => a - b),
        [...kinds.keys()],
      )
      const rank = (index: number): number =>
        (kinds[index] as Kind).priority * 2 + Number((kinds[index] as Kind).emulates)
      for (const [position, index] of order.entries()) {
        if (position > 0) assert.ok(rank(order[position - 1] as number) <= rank(index))
      }
    }),
    { numRuns: 10_000 },
  )
})

test('among equals the first place is drawn in proportion to the weights', () => {
  const weights = [1, 3, 6]
  const offers = offersOf(weights.map((weight) => ({ priority: 0, weight, emulates: false })))
  const random = seeded(42)
  const draws = 20_000
  const firsts = [0, 0, 0]
  for (let draw = 0; draw < draws; draw += 1) {
    const index = Number(orderOffers(offers, random)[0]?.deployment.id)
    firsts[index] = (firsts[index] ?? 0) + 1
  }
  for (const [index, weight] of weights.entries()) {
    // Four standard deviations of a share of one half are 1.4 %.
    assert.ok(Math.abs((firsts[index] as number) / draws - weight / 10) < 0.015, firsts.join())
  }
})

test('among equals the second place is drawn in proportion to the weights that are left', () => {
  const offers = offersOf([1, 3, 6].map((weight) => ({ priority: 0, weight, emulates: false })))
  const random = seeded(7)
  let first = 0
  let second = 0
  for (let draw = 0; draw < 20_000; draw += 1) {
    const [one, two] = orderOffers(offers, random)
    if (one?.deployment.id !== '2') continue
    first += 1
    if (two?.deployment.id === '1') second += 1
  }
  assert.ok(Math.abs(second / first - 3 / 4) < 0.02)
})

test('a weight of one part in a thousand still gets its turn, and a large one does not take all', () => {
  const offers = offersOf([
    { priority: 0, weight: 0.001, emulates: false },
    { priority: 0, weight: 1, emulates: false },
  ])
  const random = seeded(1)
  let rare = 0
  for (let draw = 0; draw < 50_000; draw += 1)
    if (orderOffers(offers, random)[0]?.deployment.id === '0') rare += 1
  assert.ok(rare > 15 && rare < 100, String(rare))
})

test('encoding_format does not count: re-encoding is exact, and SDKs ask for base64 unasked', () => {
  const floatOnly = offersOf([{ priority: 0, weight: 1000, emulates: false }], ['float'])
  const both = offersOf([{ priority: 0, weight: 0.001, emulates: false }])
  assert.deepEqual(floatOnly[0]?.emulated, ['encoding_format'])
  assert.equal(orderOffers([...both, ...floatOnly], seeded(3))[0], floatOnly[0])
})
