import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '#test/support/seeded.ts'
import { vectorOf } from '../../../../lab/fake-provider/vectors.ts'
import { PROBE_TEXTS, SHORT_INDEX } from './probe-texts.ts'
import { checkProbe, checkShort, isTorn, meanOf } from './space-check.ts'
import { toUnitLength } from './vector.ts'

/** Unit vectors at about this cosine from the given one, another one each time. */
function noisyAt(vector: Float32Array, cosine: number, random: () => number): Float32Array {
  const noise = Float32Array.from(vector, () => random() + random() + random() - 1.5)
  const along = noise.reduce((sum, value, index) => sum + value * (vector[index] as number), 0)
  const across = toUnitLength(noise.map((value, index) => value - along * (vector[index] as number)))
  const sine = Math.sqrt(1 - cosine ** 2)
  return vector.map((value, index) => value * cosine + (across[index] as number) * sine)
}

const REFERENCES = PROBE_TEXTS.map((text) => vectorOf(text, 256))

/** A reference of five samples, and an answer later. */
function noisyReference(cosine: number, seed: number) {
  const random = seeded(seed)
  const sample = () => REFERENCES.map((vector) => noisyAt(vector, cosine, random))
  const { mean, spread } = meanOf([sample(), sample(), sample(), sample(), sample()])
  return { reference: { texts: mean, spread }, sample }
}

test('a model whose answers vary stays within its own mean of five samples, at any noise up to 0.99', () => {
  for (const cosine of [0.9999, 0.999, 0.995, 0.99]) {
    const { reference, sample } = noisyReference(cosine, 7)
    for (let probe = 0; probe < 500; probe += 1) {
      const { verdict } = checkProbe(reference, { texts: sample() })
      assert.notEqual(verdict, 'quarantined', String(cosine))
    }
  }
})

test('noise widens the limit to 0.95 and no further, so another model is still outside', () => {
  for (const cosine of [0.995, 0.99, 0.97]) {
    const { reference } = noisyReference(cosine, 11)
    const random = seeded(3)
    const other = reference.texts.map((vector) => noisyAt(toUnitLength(vector), 0.94, random))
    assert.equal(checkProbe(reference, { texts: other }).verdict, 'quarantined', String(cosine))
  }
  assert.deepEqual([0.049, 0.051, Number.NaN].map(isTorn), [false, true, true])
})

test('a deployment returns only at 0.7 of the distance at which it leaves', () => {
  const reference = { texts: REFERENCES }
  const at = (cosine: number) => ({ texts: REFERENCES.map((vector) => noisyAt(vector, cosine, seeded(5))) })
  const verdicts = (cosine: number) =>
    [false, true].map((isReturning) => checkProbe(reference, at(cosine), { isReturning }).verdict)
  assert.deepEqual(verdicts(0.9915), ['warned', 'quarantined'])
  assert.deepEqual(verdicts(0.9935), ['warned', 'warned'])
})

test('the short text is compared with its own vector alone, its length and width included', () => {
  const reference = { texts: REFERENCES }
  const whole = REFERENCES[SHORT_INDEX] as Float32Array
  const verdictOf = (vector: Float32Array) => checkShort(reference, vector).verdict
  assert.equal(verdictOf(whole), 'good')
  assert.equal(verdictOf(whole.map((value) => value * 1.05)), 'quarantined')
  assert.equal(verdictOf(whole.slice(0, 64)), 'quarantined')
  assert.equal(verdictOf(REFERENCES[0] as Float32Array), 'quarantined')
})

test('the mean of equal samples is that sample, bit for bit', () => {
  const { mean, spread } = meanOf([REFERENCES])
  assert.deepEqual([mean, spread < 1e-12], [REFERENCES, true])
})
