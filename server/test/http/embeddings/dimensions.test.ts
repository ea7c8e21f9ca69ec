/** What happens to `dimensions` where the upstream accepts them but does only a part of their meaning. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bitsOf } from '#test/support/arbitraries.ts'
import { startGateway, vectorsIn } from '#test/support/gateway.ts'
import { truncated, vectorOf } from '../../../../lab/fake-provider/vectors.ts'

const native = { encodings: ['float', 'base64'], dimensions: { min: 1, max: 16 } }
const matryoshka = { matryoshka: true }
const google = { base: 'google/v1beta', dialect: 'ai-sdk', provider: 'google' }

const gateway = await startGateway({
  models: {
    'ignoring-w16': { on: 'ignores-dimensions', embedding: matryoshka, capabilities: native },
    'ignoring-split-w16': {
      on: 'ignores-dimensions+key-split',
      embedding: matryoshka,
      capabilities: { ...native, maxInputs: 1 },
    },
    'ignoring-google-w16': {
      on: 'ignores-dimensions',
      upstream: google,
      embedding: matryoshka,
      capabilities: { dimensions: { min: 1, max: 16 } },
    },
    'ignoring-batched-w16': {
      on: 'ignores-dimensions+key-batched',
      embedding: matryoshka,
      capabilities: native,
      microBatch: { maxWaitMs: 20 },
    },
    'unscaled-w16': {
      on: 'unscaled-dimensions',
      embedding: matryoshka,
      capabilities: { ...native, unitDimensions: false },
    },
    'unscaled-google-w16': {
      on: 'unscaled-dimensions',
      upstream: google,
      embedding: matryoshka,
      capabilities: { dimensions: { min: 1, max: 16 }, unitDimensions: false },
    },
    'unscaled-cached-w16': {
      on: 'unscaled-dimensions+key-cached',
      capabilities: { ...native, unitDimensions: false },
      cache: { ttl: '1h' },
    },
    'scaled-w16': {
      on: 'plain',
      embedding: matryoshka,
      capabilities: { ...native, unitDimensions: false },
    },
  },
})

const texts = ['first', 'the second text', 'a third']

for (const model of ['ignoring-w16', 'ignoring-split-w16', 'ignoring-google-w16', 'ignoring-batched-w16'])
  for (const encoding_format of ['float', 'base64'])
    test(`${model} as ${encoding_format}: vectors that came at full width are cut, and a header says so`, async () => {
      const answer = await gateway.ask({ model, input: texts, dimensions: 4, encoding_format })
      assert.equal(answer.status, 200, answer.text)
      const expected = texts.map((text) => truncated(vectorOf(text, 16), 4))
      assert.deepEqual(vectorsIn(answer).map(bitsOf), expected.map(bitsOf))
      assert.match(answer.headers.get('x-torana-emulated') ?? '', /\bdimensions\b/)
      assert.match(answer.headers.get('x-torana-space') ?? '', /@4:/)
    })

for (const model of ['unscaled-w16', 'unscaled-google-w16', 'unscaled-cached-w16'])
  for (const encoding_format of ['float', 'base64'])
    test(`${model} as ${encoding_format}: vectors that the upstream shortened have length 1`, async () => {
      // The second time, a vector may come from the cache.
      for (let time = 0; time < 2; time += 1) {
        const answer = await gateway.ask({ model, input: texts, dimensions: 4, encoding_format })
        assert.equal(answer.status, 200, answer.text)
        const expected = texts.map((text) => truncated(vectorOf(text, 16), 4))
        assert.deepEqual(vectorsIn(answer).map(bitsOf), expected.map(bitsOf))
        assert.match(answer.headers.get('x-torana-emulated') ?? '', /\bdimensions\b/)
      }
      const whole = await gateway.ask({ model, input: texts, encoding_format })
      assert.deepEqual(
        vectorsIn(whole).map(bitsOf),
        texts.map((text) => bitsOf(vectorOf(text, 16))),
      )
      assert.doesNotMatch(whole.headers.get('x-torana-emulated') ?? '', /dimensions/)
    })

test('a shortened vector that has length 1 already is handed on bit by bit', async () => {
  const answer = await gateway.ask({ model: 'scaled-w16', input: texts, dimensions: 4 })
  const expected = texts.map((text) => truncated(vectorOf(text, 16), 4))
  assert.deepEqual(vectorsIn(answer).map(bitsOf), expected.map(bitsOf))
})

test('a request that got a cut vector from the call of another has the header too', async () => {
  const ask = () => gateway.ask({ model: 'ignoring-batched-w16', input: 'the same text', dimensions: 4 })
  const answers = await Promise.all([ask(), ask(), ask()])
  assert.ok(answers.some(({ headers }) => headers.get('x-torana-cache') === 'hits=1, misses=0'))
  for (const { headers } of answers) assert.match(headers.get('x-torana-emulated') ?? '', /\bdimensions\b/)
})
