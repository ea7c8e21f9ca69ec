import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { drifted, vectorKinds, type VectorKind } from './drift.ts'
import { startFakeProvider, type FakeProvider } from './server.ts'
import { embed, expected, question, vectorsIn } from './test-client.ts'
import { scenarioOf } from './traits.ts'
import { vectorOf } from './vectors.ts'

/** The least and largest cosine to the right vector, length and width that a kind may have at 256 values. */
const bounds: Record<VectorKind, { cosine: [number, number]; length: [number, number]; width: number }> = {
  'other-model': { cosine: [-0.4, 0.4], length: [0.999, 1.001], width: 256 },
  'other-pooling': { cosine: [0.8999, 0.9001], length: [0.999, 1.001], width: 256 },
  sibling: { cosine: [0.9699, 0.9701], length: [0.999, 1.001], width: 256 },
  slightly: { cosine: [0.9949, 0.9951], length: [0.999, 1.001], width: 256 },
  scaled: { cosine: [0.99999, 1.00001], length: [1.0499, 1.0501], width: 256 },
  unnormalised: { cosine: [0.99999, 1.00001], length: [2, 10], width: 256 },
  'other-width': { cosine: [-1, 1], length: [0.999, 1.001], width: 128 },
  noise: { cosine: [0.99999, 1.00001], length: [0.999, 1.001], width: 256 },
  float16: { cosine: [0.9999, 1.0001], length: [0.999, 1.001], width: 256 },
  swapped: { cosine: [0.99999, 1.00001], length: [0.999, 1.001], width: 256 },
}

describe('every kind of drift is as far from the right vector as it says', () => {
  for (const kind of vectorKinds) {
    it(kind, () => {
      const scenario = scenarioOf(`vectors-${kind}`)
      const { cosine, length, width } = bounds[kind]
      fc.assert(
        fc.property(fc.string(), (text) => {
          const right = vectorOf(text, 256)
          const vector = drifted(scenario.vectors, right, text)
          assert.equal(vector.length, width)
          within(Math.hypot(...vector), length)
          within(dot(vector, right) / Math.hypot(...vector), cosine)
          if (kind !== 'noise') assert.deepEqual(drifted(scenario.vectors, right, text), vector)
        }),
      )
    })
  }

  it('noise is another one each time and at most 1e-4 of each value', () => {
    const scenario = scenarioOf('vectors-noise')
    const right = vectorOf('x', 256)
    const vector = drifted(scenario.vectors, right, 'x')
    assert.notDeepEqual(drifted(scenario.vectors, right, 'x'), vector)
    vector.forEach((value, position) => {
      const exact = right[position] ?? 0
      assert.ok(Math.abs(value - exact) <= 1.001e-4 * Math.abs(exact) + 1e-9)
    })
  })

  it('float16 leaves eleven significant bits', () => {
    const right = vectorOf('x', 256)
    const vector = drifted(scenarioOf('vectors-float16').vectors, right, 'x')
    assert.notDeepEqual(vector, right)
    for (const value of vector) assert.equal(Math.f16round(value), value)
  })

  it('unnormalised vectors differ in length from text to text', () => {
    const scenario = scenarioOf('vectors-unnormalised')
    const lengths = ['a', 'b', 'c'].map((text) =>
      Math.hypot(...drifted(scenario.vectors, vectorOf(text, 256), text)).toFixed(3),
    )
    assert.equal(new Set(lengths).size, 3)
  })
})

describe('drift over HTTP', () => {
  let provider: FakeProvider
  before(async () => {
    provider = await startFakeProvider()
  })
  after(() => provider.close())

  it('is said in the log, and only there', async () => {
    const answer = await embed(`${provider.url}/vectors-slightly`)
    assert.equal(answer.json().model, question.model)
    assert.equal(provider.entries().at(-1)?.vectors, 'slightly')
    await embed(`${provider.url}/plain`)
    assert.ok(!('vectors' in (provider.entries().at(-1) ?? assert.fail())))
  })

  it('is in large calls only, or in texts of a length only, where the scenario says so', async () => {
    const kinds = async (traits: string, input: string[]): Promise<boolean[]> => {
      const answer = await embed(`${provider.url}/vectors-other-model+${traits}`, { input })
      const logged = provider.entries().at(-1)?.vectors
      const drifts = vectorsIn(answer.json()).map((vector, index) => {
        const right = vectorOf(input[index] ?? '', vector.length)
        return vector.some((value, at) => Math.fround(value) !== right[at])
      })
      assert.equal(logged, drifts.includes(true) ? 'other-model' : undefined)
      return drifts
    }
    assert.deepEqual(await kinds('drifts-from-3', ['a', 'b']), [false, false])
    assert.deepEqual(await kinds('drifts-from-3', ['a', 'b', 'c']), [true, true, true])
    assert.deepEqual(await kinds('drifts-at-4', ['a', 'four', 'äh!']), [false, true, true])
  })

  it('swapped exchanges the vectors of two inputs, and leaves a single one alone', async () => {
    const many = vectorsIn((await embed(`${provider.url}/vectors-swapped`)).json())
    const [first, second, third, fourth] = expected
    assert.deepEqual(many, [fourth, second, third, first])
    const one = await embed(`${provider.url}/vectors-swapped`, { input: 'first' })
    assert.deepEqual(vectorsIn(one.json()), [first])
  })

  it('other-width stays another width when dimensions are asked for', async () => {
    const { json } = await embed(`${provider.url}/vectors-other-width`, { dimensions: 8 })
    assert.deepEqual(
      vectorsIn(json()).map(({ length }) => length),
      [4, 4, 4, 4],
    )
  })

  it('speaks on every wire that gives vectors', async () => {
    const answer = await fetch(`${provider.url}/vectors-scaled/cohere/v2/embed`, {
      method: 'POST',
      headers: { authorization: 'Bearer x' },
      body: JSON.stringify({
        model: 'embed-w16',
        texts: ['first'],
        input_type: 'search_query',
        embedding_types: ['float'],
      }),
    })
    const { embeddings } = (await answer.json()) as { embeddings: { float: number[][] } }
    within(Math.hypot(...(embeddings.float[0] ?? [])), [1.0499, 1.0501])
  })
})

function dot(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, position) => sum + value * (right[position] ?? 0), 0)
}

function within(value: number, [least, most]: [number, number]): void {
  assert.ok(value >= least && value <= most, `${value} is not between ${least} and ${most}`)
}
