import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { agreementOf, disagreementOf, rankCorrelation } from './family.ts'
import { FAMILY_TEXTS } from './family-texts.ts'

const WIDTH = 64
const COUNT = FAMILY_TEXTS.length

/**
 * Vectors in clusters of four, as the texts are in subjects. They come from a seed: freely drawn numbers are often zero, and equal
 * vectors have no order among them.
 */
const models = fc.nat(1_000_000).map((seed) => {
  const noise = (at: number): number => {
    const value = Math.sin(seed * 0.7390851 + at * 12.9898) * 43_758.5453
    return 2 * (value - Math.floor(value)) - 1
  }
  return clustered(Array.from({ length: 14 * WIDTH }, (_, at) => noise(at)))
})

function clustered(values: readonly number[]): readonly Float32Array[] {
  const at = (row: number, column: number): number =>
    (values[row * WIDTH + column] ?? 0) + (column === row ? 1 : 0)
  return Array.from({ length: COUNT }, (_, text) =>
    Float32Array.from(
      { length: WIDTH },
      (__, column) => at(Math.floor(text / 4), column) + 0.5 * at(10 + (text % 4), (column + text) % WIDTH),
    ),
  )
}

const order = (ones: readonly Float32Array[], others: readonly Float32Array[]): number =>
  agreementOf(ones, others)?.order ?? assert.fail('they could not be compared')

test('a model agrees fully with itself, at any length of its vectors', () => {
  fc.assert(
    fc.property(models, fc.double({ min: 0.01, max: 100, noNaN: true }), (model, scale) => {
      const scaled = model.map((vector) => vector.map((value) => value * scale))
      assert.ok(order(model, scaled) > 0.999)
      assert.equal(agreementOf(model, scaled)?.found, 1)
    }),
  )
})

test('agreement does not depend on which of the two models is asked first', () => {
  fc.assert(fc.property(models, models, (one, other) => assert.equal(order(one, other), order(other, one))))
})

test('axes in another order for both models change nothing, and for one of them everything', () => {
  fc.assert(
    fc.property(models, (model) => {
      const turned = model.map((vector) =>
        Float32Array.from(vector, (_, at) => vector[(at * 5 + 7) % WIDTH]!),
      )
      const noisy = model.map((vector, text) =>
        vector.map((value, at) => value + 0.02 * Math.sin(text * 31 + at)),
      )
      const noisyTurned = noisy.map((vector) =>
        Float32Array.from(vector, (_, at) => vector[(at * 5 + 7) % WIDTH]!),
      )
      assert.ok(Math.abs(order(model, noisy) - order(turned, noisyTurned)) < 0.01)
      const { found = 1, ...rest } = agreementOf(model, turned) ?? {}
      assert.notEqual(disagreementOf({ width: WIDTH, order: 0, ...rest, found }), undefined)
    }),
  )
})

test('a negated model is refused', () => {
  fc.assert(
    fc.property(models, (model) => {
      const negated = model.map((vector) => vector.map((value) => -value))
      const agreement = agreementOf(model, negated) ?? assert.fail('they could not be compared')
      assert.ok(agreement.order < -0.99)
      assert.match(disagreementOf(agreement) ?? '', /another order/)
    }),
  )
})

test('the wider of two models is compared by its first values', () => {
  fc.assert(
    fc.property(models, (model) => {
      const narrow = model.map((vector) => vector.slice(0, 16))
      assert.deepEqual(agreementOf(model, narrow), { ...agreementOf(narrow, narrow), width: 16 })
    }),
  )
})

test('vectors that cannot be compared have no agreement', () => {
  const model = clustered([])
  const broken: Readonly<Record<string, readonly Float32Array[]>> = {
    'one is missing': model.slice(1),
    'one is all zero': model.with(3, new Float32Array(WIDTH)),
    'one holds no number': model.with(3, model[3]!.with(5, Number.NaN)),
    'one is narrower': model.with(3, new Float32Array(8).fill(1)),
    'there are none': [],
  }
  for (const [what, vectors] of Object.entries(broken)) {
    assert.equal(agreementOf(model, vectors), undefined, what)
    assert.equal(agreementOf(vectors, model), undefined, what)
  }
})

test('the limits admit what reaches them', () => {
  const at = (found: number, agreed: number): string | undefined =>
    disagreementOf({ width: 8, found, order: agreed })
  assert.equal(at(0.85, 0.78), undefined)
  assert.equal(at(1, 0.77), 'neighbours come in another order: agreement 0.770, below 0.78')
  assert.equal(at(0.8, 0.9), 'only 80.0 % of the texts find themselves, fewer than 85 %')
})

test('a rank correlation is one for the same order, minus one for the reverse, and zero without an order', () => {
  assert.ok(Math.abs(rankCorrelation([1, 2, 3, 10], [-5, 0, 7, 8]) - 1) < 1e-12)
  assert.ok(Math.abs(rankCorrelation([1, 2, 3, 10], [8, 7, 0, -5]) + 1) < 1e-12)
  assert.equal(rankCorrelation([1, 1, 1], [1, 2, 3]), 0)
  assert.ok(Math.abs(rankCorrelation([1, 2, 2, 3], [1, 2, 2, 3]) - 1) < 1e-12)
})
