import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode, encode } from 'gpt-tokenizer/encoding/cl100k_base'
import { bitsOf } from '#test/support/arbitraries.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway, vectorsIn, type Asked, type ModelSpec } from '#test/support/gateway.ts'
import { base64Of, tokensOf, truncated, vectorOf } from '../../../../lab/fake-provider/vectors.ts'

const both = { encodings: ['float', 'base64'] }
const matryoshka = { matryoshka: true }

/** Every upstream that should succeed, with the capabilities an operator would declare for it. */
const scenarios: Record<string, ModelSpec> = {
  'plain-w16': { on: 'plain', capabilities: both },
  'undeclared-w16': { on: 'key-undeclared' },
  'float-only-w16': { on: 'float-only', capabilities: { encodings: ['float'] } },
  'base64-only-w16': { on: 'base64-only', capabilities: { encodings: ['base64'] } },
  'ignores-encoding-w16': { on: 'ignores-encoding', capabilities: both },
  'refuses-float-w16': { on: 'refuses-float', capabilities: both },
  'refuses-null-w16': { on: 'refuses-null', capabilities: both },
  'refuses-encoding-w16': { on: 'refuses-encoding', capabilities: { encodings: ['float'] } },
  'refuses-user-w16': { on: 'refuses-user', capabilities: { user: false } },
  'strict-w16': { on: 'strict-fields', capabilities: both },
  'wide-floats-w16': { on: 'wide-floats' },
  'shuffled-w16': { on: 'shuffled', capabilities: both },
  'chunked-w16': { on: 'chunked-7', capabilities: both },
  'no-usage-w16': { on: 'no-usage' },
  'max-1-w16': { on: 'max-inputs-1', capabilities: { maxInputs: 1 } },
  'max-3-w16': { on: 'max-inputs-3+shuffled', capabilities: { maxInputs: 3, ...both } },
  'max-tokens-w16': { on: 'max-tokens-60', capabilities: { maxTokens: 60 } },
  'max-bytes-w16': { on: 'max-bytes-4150', capabilities: { maxBytes: 4150 } },
  'azure-v1-w16': { on: 'plain', upstream: { base: 'azure/openai', dialect: 'azure' } },
  'azure-dated-w16': {
    on: 'plain+key-dated',
    upstream: { base: 'azure/openai', dialect: 'azure', apiVersion: '2024-10-21' },
  },
  'after-500-w16': { on: ['status-500', 'plain'], capabilities: both },
  'after-reset-w16': { on: ['reset', 'plain'], capabilities: both },
  'after-garbage-w16': { on: ['garbage', 'plain'], capabilities: both },
  'after-half-w16': { on: ['half-body', 'plain'], capabilities: both },
  'after-nan-w16': { on: ['nan', 'plain'], capabilities: both },
  'after-wrong-width-w16': { on: ['wrong-width', 'plain'], capabilities: both },
  'after-429-w16': { on: ['status-429', 'plain'], capabilities: both },
  'after-401-w16': { on: ['status-401', 'plain'], capabilities: both },
  'after-404-w16': { on: ['status-404', 'plain'], capabilities: both },
}

const counted = { tokenizer: 'cl100k_base', tokenCounts: 'exact', maxInputTokens: 1000 }
const gateway = await startGateway({
  models: {
    ...scenarios,
    'counted-w16': { on: 'plain+key-counted', embedding: counted, capabilities: { maxTokens: 3000 } },
    'estimated-w16': {
      on: 'plain+key-estimated',
      embedding: { tokenizer: 'cl100k_base', tokenCounts: 'estimated' },
      capabilities: { maxTokens: 3000 },
    },
    'native-w16': {
      on: 'plain+key-native',
      embedding: matryoshka,
      capabilities: { ...both, dimensions: { min: 1, max: 16 } },
    },
    'truncated-w16': { on: 'refuses-dimensions', embedding: matryoshka, capabilities: both },
    'tokens-w16': { on: 'plain+key-tokens', capabilities: { tokenArrays: true } },
    'texts-w16': { on: 'refuses-token-arrays' },
    'prefixed-w16': {
      on: 'strict-fields+key-prefixed',
      embedding: { inputType: { prefixes: { query: 'query: ', document: 'passage: ' } } },
    },
    'field-w16': {
      on: 'plain+key-field',
      embedding: {
        inputType: {
          field: 'input_type',
          values: { query: 'search_query', document: 'search_document' },
          default: 'document',
        },
      },
    },
    'extra-w16': { on: 'extra-fields' },
    'extra-split-w16': { on: 'extra-fields+max-inputs-2', capabilities: { maxInputs: 2 } },
    'drop-w16': { on: 'plain+key-drop', unsupported: 'drop' },
    'priced-w16': { on: 'plain+key-priced', price: { usdPerMillionTokens: 0.02 }, aliases: ['search-embed'] },
    'owner/model-w16': { on: 'plain+key-slash' },
    'large-w256': { on: 'plain+key-large', capabilities: both },
  },
})

const texts = ['first', 'the second text', 'ένα τρίτο', 'first', '"quoted" \\ and \n broken', '😀', 'first']
const distinct = [...new Set(texts)]

function assertVectors(answer: Asked, expected: readonly Float32Array[]): void {
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(
    answer.body.data.map(({ index }) => index),
    [...expected.keys()],
  )
  assert.deepEqual(vectorsIn(answer).map(bitsOf), expected.map(bitsOf))
}

const oracle = (inputs: readonly string[]): Float32Array[] => inputs.map((text) => vectorOf(text, 16))

for (const model of Object.keys(scenarios)) {
  for (const encoding of [undefined, 'float', 'base64'] as const) {
    test(`${model}: vectors ${encoding === undefined ? 'by default' : `as ${encoding}`} are bit-equal to the upstream’s, in order`, async () => {
      const answer = await gateway.ask({ model, input: texts, encoding_format: encoding, user: 'someone' })
      assertVectors(answer, oracle(texts))
      const { data, object, usage } = answer.body
      assert.equal(object, 'list')
      assert.equal(answer.body.model, model)
      assert.ok(data.every(({ embedding }) => (typeof embedding === 'string') === (encoding === 'base64')))
      const estimated = model === 'no-usage-w16'
      assert.equal(answer.headers.get('x-torana-usage'), estimated ? 'estimated' : 'upstream')
      assert.equal(usage.total_tokens, usage.prompt_tokens)
      // Shares of repeated texts are divided by our own count, which need not be in proportion to the upstream's.
      const exact = texts.reduce((sum, text) => sum + tokensOf(text), 0)
      assert.ok(
        Math.abs(usage.prompt_tokens - exact) <= exact / 3,
        `${usage.prompt_tokens} instead of ${exact}`,
      )
    })
  }
}

test('usage without repeated texts is the sum of what the upstream counted, also when the request was split', async () => {
  const exact = distinct.reduce((sum, text) => sum + tokensOf(text), 0)
  for (const model of ['plain-w16', 'max-1-w16', 'max-3-w16', 'max-tokens-w16']) {
    const { body } = await gateway.ask({ model, input: distinct })
    assert.equal(body.usage.prompt_tokens, exact, model)
  }
})

test('base64 goes through unchanged, and float texts as the upstream wrote them', async () => {
  const base64 = await gateway.ask({ model: 'plain-w16', input: 'a text', encoding_format: 'base64' })
  assert.equal(base64.body.data[0]?.embedding, base64Of(vectorOf('a text', 16)))
  const wide = await gateway.ask({ model: 'wide-floats-w16', input: 'a text' })
  assert.ok(wide.text.includes(`[${[...vectorOf('a text', 16)].map(String).join(',')}]`))
})

test('one text, one list, one token array and several are the four forms of input', async () => {
  for (const [input, expected] of [
    ['a text', ['a text']],
    [
      ['a text', 'another'],
      ['a text', 'another'],
    ],
    [encode('a text'), ['a text']],
    [
      [encode('a text'), encode('another'), encode('a text')],
      ['a text', 'another', 'a text'],
    ],
  ] as const) {
    for (const model of ['tokens-w16', 'texts-w16']) {
      assertVectors(await gateway.ask({ model, input, encoding_format: 'base64' }), oracle(expected))
    }
  }
})

test('token arrays go out as they are where they are taken, and as texts where they are not, which is said', async () => {
  const ids = [encode('Ein Käfer 🐞'), [9906, 1917]]
  assert.equal(decode(ids[1] as number[]), 'Hello world')
  const native = await gateway.ask({ model: 'tokens-w16', input: ids })
  const emulated = await gateway.ask({ model: 'texts-w16', input: ids })
  for (const answer of [native, emulated]) assertVectors(answer, oracle(['Ein Käfer 🐞', 'Hello world']))
  assert.equal(native.headers.get('x-torana-emulated'), null)
  assert.equal(emulated.headers.get('x-torana-emulated'), 'input')
})

test('dimensions that the upstream takes are its own bits; those that Torana makes are within 1e-6', async () => {
  for (const dimensions of [1, 5, 15]) {
    const expected = texts.map((text) => truncated(vectorOf(text, 16), dimensions))
    for (const encoding_format of ['float', 'base64']) {
      const native = await gateway.ask({ model: 'native-w16', input: texts, dimensions, encoding_format })
      assertVectors(native, expected)
      const emulated = await gateway.ask({
        model: 'truncated-w16',
        input: texts,
        dimensions,
        encoding_format,
      })
      assert.match(emulated.headers.get('x-torana-emulated') ?? '', /dimensions/)
      for (const [index, vector] of vectorsIn(emulated).entries()) {
        assert.equal(vector.length, dimensions)
        for (const [at, value] of vector.entries()) {
          assert.ok(Math.abs(value - (expected[index]?.[at] ?? Number.NaN)) <= 1e-6)
        }
      }
    }
  }
})

test('the native width counts as not asked for', async () => {
  assertVectors(await gateway.ask({ model: 'truncated-w16', input: texts, dimensions: 16 }), oracle(texts))
})

test('query and document reach a model by prefix', async () => {
  const ask = (input_type?: string) =>
    gateway.ask({ model: 'prefixed-w16', input: ['cat', 'dog'], input_type })
  assertVectors(await ask(), oracle(['cat', 'dog']))
  assertVectors(await ask('query'), oracle(['query: cat', 'query: dog']))
  const documents = await ask('search_document')
  assertVectors(documents, oracle(['passage: cat', 'passage: dog']))
  assert.equal(documents.headers.get('x-torana-emulated'), 'input_type')
})

test('query and document reach a model in its own field and its own words', async () => {
  await gateway.ask({ model: 'field-w16', input: 'cat', input_type: 'query' })
  await gateway.ask({ model: 'field-w16', input: 'cat' })
  const own = gateway.provider.entries().filter(({ model }) => model === 'field-w16')
  assert.deepEqual(
    own.map(({ inputType }) => inputType),
    ['search_query', 'search_document'],
  )
})

test('extra fields of the upstream’s answer are kept when one call served the request', async () => {
  const whole = await gateway.ask({ model: 'extra-w16', input: texts })
  assert.equal(whole.body['id'], 'embd-fake')
  assert.deepEqual(whole.body['meta'], { served_by: { name: 'fake-provider', nodes: [1, 2] } })
  const split = await gateway.ask({ model: 'extra-split-w16', input: texts })
  assert.equal(split.body['id'], undefined)
})

test('fields that are null count as absent', async () => {
  const nothing = { dimensions: null, encoding_format: null, user: null, input_type: null, task: null }
  assertVectors(await gateway.ask({ model: 'strict-w16', input: texts, ...nothing }), oracle(texts))
})

test('what may be dropped is dropped and named, by the model’s or the request’s own wish', async () => {
  const byModel = await gateway.ask({ model: 'drop-w16', input: 'a', dimensions: 4, input_type: 'query' })
  assertVectors(byModel, oracle(['a']))
  assert.equal(byModel.headers.get('x-torana-dropped'), 'dimensions, input_type')
  const headers = { 'x-torana-unsupported': 'drop' }
  const byRequest = await gateway.ask({ model: 'plain-w16', input: 'a', dimensions: 4 }, { headers })
  assert.equal(byRequest.headers.get('x-torana-dropped'), 'dimensions')
  const back = await gateway.ask(
    { model: 'drop-w16', input: 'a', dimensions: 4 },
    { headers: { 'x-torana-unsupported': 'refuse' } },
  )
  assert.equal(back.status, 400)
})

test('equal texts are sent once and paid once, but each is counted as if sent alone', async () => {
  const before = gateway.provider.counters()
  const answer = await gateway.ask({ model: 'priced-w16', input: ['same', 'same', 'same', 'other'] })
  const after = gateway.provider.counters()
  assertVectors(answer, oracle(['same', 'same', 'same', 'other']))
  assert.equal(after.inputs - before.inputs, 2)
  assert.equal(after.tokens - before.tokens, 3)
  assert.equal(answer.headers.get('x-torana-cost'), '0.000000060')
  assert.ok(answer.body.usage.prompt_tokens > 3)
})

test('an alias answers with the same vectors in the same space, under the name that was asked for', async () => {
  const byId = await gateway.ask({ model: 'priced-w16', input: 'a' })
  const byAlias = await gateway.ask({ model: 'search-embed', input: 'a' })
  assertVectors(byAlias, oracle(['a']))
  assert.equal(byAlias.body.model, 'search-embed')
  assert.equal(byAlias.headers.get('x-torana-space'), byId.headers.get('x-torana-space'))
})

test('headers report failover: how many attempts, and which deployment served', async () => {
  const { headers } = await gateway.ask({ model: 'after-500-w16', input: 'a' })
  assert.equal(headers.get('x-torana-attempts'), '2')
  assert.equal(headers.get('x-torana-deployment'), 'after-500-w16/plain')
})

test('2,048 inputs come back in order, in an answer too large for one piece', async () => {
  const input = Array.from({ length: 2048 }, (_, index) => `text number ${index}`)
  for (const encoding_format of ['float', 'base64']) {
    const answer = await gateway.ask({ model: 'large-w256', input, encoding_format })
    assertVectors(
      answer,
      input.map((text) => vectorOf(text, 256)),
    )
  }
})

/** A hundred tokens, or more than 600 bytes. */
const hundred = (index: number): string => `${index}${' hello'.repeat(99)}`
/** Many more bytes than tokens, and longer than a text that no length check counts. */
const long = (index: number): string => `${index}${' hello'.repeat(899)}`

for (const [what, model, texts, calls] of [
  [
    'counts tokens where bytes exceed the cap',
    'counted-w16',
    Array.from({ length: 45 }, (_, i) => hundred(i)),
    2,
  ],
  [
    'sends what fits by its tokens in one call',
    'counted-w16',
    Array.from({ length: 27 }, (_, i) => hundred(i)),
    1,
  ],
  ['counts long texts once', 'counted-w16', Array.from({ length: 9 }, (_, i) => long(i)), 3],
  [
    'keeps to bytes where the upstream counts otherwise',
    'estimated-w16',
    Array.from({ length: 29 }, (_, i) => hundred(i)),
    6,
  ],
] as const) {
  test(`a request that is split ${what}`, async () => {
    const answer = await gateway.ask({ model, input: texts })
    assert.equal(answer.status, 200, answer.text.slice(0, 300))
    assert.equal(answer.headers.get('x-torana-attempts'), String(calls))
    assert.deepEqual(
      vectorsIn(answer).map(bitsOf),
      texts.map((text) => bitsOf(vectorOf(text, 16))),
    )
  })
}

test('an unknown field forbids a split, and not a call that fits by its tokens', async () => {
  const fits = Array.from({ length: 27 }, (_, index) => hundred(index))
  assert.equal((await gateway.ask({ model: 'counted-w16', input: fits, task: 'x' })).status, 200)
  const large = Array.from({ length: 31 }, (_, index) => hundred(index))
  assertFault(
    await gateway.ask({ model: 'counted-w16', input: large, task: 'x' }),
    'request_not_splittable',
    {
      param: 'task',
      words: /^31 inputs need 2 calls/,
    },
  )
})
