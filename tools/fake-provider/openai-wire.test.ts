import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { FakeProvider } from './server.ts'
import { startFakeProvider } from './server.ts'
import { embed, expected, inputs, isBase64, vectorsIn } from './test-client.ts'
import { tokensOf, truncated, vectorOf } from './vectors.ts'

let provider: FakeProvider
let url: string
before(async () => {
  provider = await startFakeProvider()
  url = `${provider.url}/plain`
})
after(() => provider.close())

describe('plain plays a perfect OpenAI', () => {
  it('answers floats by default, base64 on request, the same float32 values in both', async () => {
    for (const encoding_format of [undefined, null, 'float', 'base64']) {
      const body = (await embed(url, { encoding_format })).json()
      assert.equal(isBase64(body), encoding_format === 'base64')
      assert.deepEqual(vectorsIn(body), expected)
      const { object, model, usage } = body
      const tokens = inputs.reduce((sum, text) => sum + tokensOf(text), 0)
      assert.deepEqual([object, model], ['list', 'embed-w16'])
      assert.deepEqual(usage, { prompt_tokens: tokens, total_tokens: tokens })
      assert.deepEqual(Object.keys(body), ['object', 'data', 'model', 'usage'])
    }
  })

  it('honours dimensions by cutting and scaling', async () => {
    const body = (await embed(url, { dimensions: 5 })).json()
    assert.deepEqual(
      vectorsIn(body),
      expected.map((vector) => truncated(vector, 5)),
    )
    assert.deepEqual(vectorsIn((await embed(url, { dimensions: 16 })).json()), expected)
  })

  it('answers 1536 values when the model name tells no width', async () => {
    const body = (await embed(url, { model: 'text-embedding-3-small', input: 'x' })).json()
    assert.deepEqual(vectorsIn(body), [vectorOf('x', 1536)])
  })

  it('reads tokens as the text they stand for, and counts them', async () => {
    const helloWorld = [9906, 1917]
    for (const [input, texts, tokens] of [
      [helloWorld, ['Hello world'], 2],
      [[helloWorld, [9906]], ['Hello world', 'Hello'], 3],
    ] as const) {
      const body = (await embed(url, { input })).json()
      assert.deepEqual(
        vectorsIn(body),
        texts.map((text) => vectorOf(text, 16)),
      )
      assert.equal(body.usage?.prompt_tokens, tokens)
    }
  })

  it('gives every text its own vector, whatever else is in the batch', async () => {
    const texts = fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(texts, fc.constantFrom('float', 'base64'), async (input, encoding_format) => {
        const body = (await embed(url, { input, encoding_format })).json()
        assert.deepEqual(
          vectorsIn(body),
          input.map((text) => vectorOf(text, 16)),
        )
      }),
      { numRuns: 50 },
    )
  })

  const bad: [title: string, fields: object][] = [
    ['no model', { model: undefined }],
    ['no input', { input: undefined }],
    ['an empty string', { input: '' }],
    ['an empty list', { input: [] }],
    ['an empty string in a list', { input: ['x', ''] }],
    ['texts mixed with tokens', { input: ['x', [1]] }],
    ['an unknown token', { input: [100_256] }],
    ['an unknown encoding', { encoding_format: 'md5' }],
    ['dimensions beyond the width', { dimensions: 17 }],
    ['dimensions of 0', { dimensions: 0 }],
    ['half a dimension', { dimensions: 2.5 }],
    ['2049 inputs', { input: Array.from({ length: 2049 }, () => 'x') }],
  ]
  for (const [title, fields] of bad) {
    it(`refuses ${title}`, async () => {
      const answer = await embed(url, fields)
      assert.equal(answer.status, 400)
      assert.equal(answer.json().error?.type, 'invalid_request_error')
    })
  }

  it('takes 2048 inputs', async () => {
    const input = Array.from({ length: 2048 }, (_, position) => `${position}`)
    assert.equal((await embed(url, { input, model: 'embed-w2' })).json().data.length, 2048)
  })
})
