/** `output_dtype` and its synonyms: what upstreams make, what Torana makes, and the names of the spaces of both. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway, type Asked } from '#test/support/gateway.ts'
import { typedNumbers } from '../../../../lab/fake-provider/vector-types.ts'
import { vectorOf } from '../../../../lab/fake-provider/vectors.ts'
import { MISTRAL_SPREAD } from '../../../../lab/fake-provider/wires/mistral.ts'
import { VOYAGE_SPREAD } from '../../../../lab/fake-provider/wires/voyage.ts'

const whole = { outputTypes: ['float', 'int8', 'uint8', 'binary', 'ubinary'] }
const aiSdk = (provider: string) => ({ base: `${provider}/v1`, dialect: 'ai-sdk', provider })

const gateway = await startGateway({
  models: {
    'derived-w16': { on: 'plain', embedding: { binary: 'trained', matryoshka: true } },
    'cached-w16': { on: 'plain+key-cached', embedding: { binary: 'accepted' }, cache: { ttl: '1h' } },
    'doubtful-w16': { on: 'plain+key-doubtful' },
    'native-w16': { on: 'obeys-fields', capabilities: { ...whole, encodings: ['float', 'base64'] } },
    'native-cached-w16': { on: 'obeys-fields+key-cached', capabilities: whole, cache: { ttl: '1h' } },
    'jina-w16': {
      on: 'obeys-fields+key-jina',
      capabilities: { outputTypes: ['float', 'binary', 'ubinary'], outputTypeField: 'embedding_type' },
    },
    'voyage-w16': { on: 'plain+key-voyage', upstream: aiSdk('voyage'), capabilities: whole },
    'codestral-embed-w16': { on: 'plain+key-mistral', upstream: aiSdk('mistral'), capabilities: whole },
    'lying-w16': { on: 'plain+key-lying', capabilities: whole },
    'short-w16': { on: 'obeys-fields+wrong-width', capabilities: whole },
  },
})

const texts = ['first', 'the second text', 'a third']
const packed = (values: Float32Array): number[] =>
  Array.from({ length: values.length / 8 }, (_, byte) =>
    Number.parseInt(
      [...values.subarray(byte * 8, byte * 8 + 8)].map((value) => (value > 0 ? '1' : '0')).join(''),
      2,
    ),
  )
const expected: Readonly<Record<string, (values: Float32Array) => number[]>> = {
  float: (values) => [...values],
  float16: (values) => [...new Float16Array(values)],
  ubinary: packed,
  binary: (values) => packed(values).map((byte) => byte - 128),
}
const bytesOf: Readonly<Record<string, (numbers: readonly number[]) => Uint8Array>> = {
  float: (numbers) => new Uint8Array(new Float32Array(numbers).buffer),
  float16: (numbers) => new Uint8Array(new Float16Array(numbers).buffer),
  ubinary: (numbers) => Uint8Array.from(numbers),
  binary: (numbers) => new Uint8Array(Int8Array.from(numbers).buffer),
}

interface TypedItem {
  readonly embedding: number[] | string
  readonly embeddings?: Readonly<Record<string, number[] | string>>
}

function itemsIn({ status, text, body }: Asked): readonly TypedItem[] {
  assert.equal(status, 200, text)
  return body.data
}

function spaceIn({ headers }: Asked): string {
  return headers.get('x-torana-space') ?? ''
}

for (const type of ['float16', 'binary', 'ubinary'])
  for (const model of ['derived-w16', 'cached-w16'])
    test(`${model} as ${type}: made from float32, as numbers and as base64, and a header says so`, async () => {
      const values = texts.map((text) => expected[type]?.(vectorOf(text, 16)) ?? [])
      // The second time, vectors may come from the cache.
      for (const _ of [1, 2]) {
        const answer = await gateway.ask({ model, input: texts, output_dtype: type })
        const numbers = itemsIn(answer).map(({ embedding }) => [...(embedding as number[])])
        assert.deepEqual(
          type === 'float16' ? numbers.map((one) => [...new Float16Array(one)]) : numbers,
          values,
        )
        assert.match(answer.headers.get('x-torana-emulated') ?? '', /\boutput_dtype\b/)
        assert.match(
          spaceIn(answer),
          new RegExp(`^${model}@16:[0-9a-f]{8}/${type}${type === 'float16' ? '' : ':gt0'}$`),
        )
      }
      const answer = await gateway.ask({ model, input: texts, output_dtype: type, encoding_format: 'base64' })
      assert.deepEqual(
        itemsIn(answer).map(({ embedding }) => embedding),
        values.map((numbers) => Buffer.from(bytesOf[type]?.(numbers) ?? []).toString('base64')),
      )
    })

test('several types come from one call, each with its space', async () => {
  const calls = () => gateway.provider.counters().calls
  const before = calls()
  for (const encoding_format of ['float', 'base64']) {
    const asked = {
      model: 'derived-w16',
      input: texts,
      embedding_types: ['float', 'ubinary'],
      encoding_format,
    }
    const answer = await gateway.ask(asked)
    for (const [index, item] of itemsIn(answer).entries()) {
      const values = vectorOf(texts[index] ?? '', 16)
      assert.deepEqual(item.embedding, item.embeddings?.['float'])
      assert.deepEqual(Object.keys(item.embeddings ?? {}), ['float', 'ubinary'])
      for (const [type, form] of Object.entries(item.embeddings ?? {})) {
        const numbers = expected[type]?.(values) ?? []
        const read = Array.isArray(form) && type === 'float' ? [...new Float32Array(form)] : form
        assert.deepEqual(
          read,
          encoding_format === 'float'
            ? numbers
            : Buffer.from(bytesOf[type]?.(numbers) ?? []).toString('base64'),
        )
      }
    }
    const [float = '', ubinary = ''] = spaceIn(answer).split(', ')
    assert.equal(ubinary, `${float}/ubinary:gt0`)
    for (const pinned of [float, ubinary, `${float}, ${ubinary}`])
      assert.equal((await gateway.ask(asked, { headers: { 'x-torana-space': pinned } })).status, 200)
    assertFault(
      await gateway.ask(asked, { headers: { 'x-torana-space': `${float}/binary:gt0` } }),
      'space_mismatch',
    )
  }
  assert.equal(calls() - before, 8)
})

test('a large answer of several types is written in steps, with every vector', async () => {
  const input = Array.from({ length: 2000 }, (_, index) => `text ${index}`)
  const answer = await gateway.ask({
    model: 'derived-w16',
    input,
    embedding_types: ['float', 'float16', 'binary'],
  })
  const items = itemsIn(answer)
  assert.equal(items.length, 2000)
  for (const index of [0, 999, 1999])
    assert.deepEqual(
      items[index]?.embeddings?.['binary'],
      expected['binary']?.(vectorOf(input[index] ?? '', 16)),
    )
})

test('a vector is cut and scaled before its type is made', async () => {
  const answer = await gateway.ask({
    model: 'derived-w16',
    input: 'a',
    dimensions: 8,
    output_dtype: 'float16',
  })
  const head = vectorOf('a', 16).subarray(0, 8)
  const length = Math.hypot(...head)
  const wanted = new Float16Array(Float32Array.from(head, (value) => value / length))
  assert.deepEqual([...new Float16Array(itemsIn(answer)[0]?.embedding as number[])], [...wanted])
  assert.match(spaceIn(answer), /@8:[0-9a-f]{8}\/float16$/)
})

/** What each upstream multiplies a value with before it rounds it to int8. */
const OBEYING_SCALE = 127
const scaleOf = (spread: number): number => spread * Math.sqrt(16)

for (const [model, field, types, scale] of [
  ['native-w16', 'output_dtype', ['int8', 'uint8', 'binary', 'ubinary'], OBEYING_SCALE],
  ['native-cached-w16', 'embedding_type', ['int8', 'uint8', 'binary', 'ubinary'], OBEYING_SCALE],
  ['jina-w16', 'output_dtype', ['binary', 'ubinary'], OBEYING_SCALE],
  ['voyage-w16', 'output_dtype', ['int8', 'ubinary'], scaleOf(VOYAGE_SPREAD)],
  ['codestral-embed-w16', 'output_dtype', ['uint8', 'binary'], scaleOf(MISTRAL_SPREAD)],
] as const)
  for (const type of types)
    test(`${model} makes ${type} itself: it is passed on, in a space of its own, and never cached as float`, async () => {
      for (const _ of [1, 2]) {
        const answer = await gateway.ask({ model, input: texts, [field]: type })
        assert.deepEqual(
          itemsIn(answer).map(({ embedding }) => embedding),
          texts.map((text) => typedNumbers(vectorOf(text, 16), type, scale).map((value) => value + 0)),
        )
        assert.equal(answer.headers.get('x-torana-emulated'), null)
        assert.match(spaceIn(answer), new RegExp(`/${type}:native$`))
        assert.equal(answer.headers.get('x-torana-cache'), null)
      }
      const float = itemsIn(await gateway.ask({ model, input: texts }))
      assert.deepEqual(
        float.map(({ embedding }) => [...new Float32Array(embedding as number[])]),
        texts.map((text) => [...vectorOf(text, 16)]),
      )
    })

for (const model of ['lying-w16', 'short-w16'])
  test(`${model}: numbers that are no bytes of the type, or too few of them, are no answer`, async () => {
    assertFault(await gateway.ask({ model, input: 'a', output_dtype: 'int8' }), 'upstream_broken_answer', {
      isLasting: true,
    })
  })

test('binary of a model that is not known to keep its meaning is refused, with the way to accept it', async () => {
  const answer = await gateway.ask({ model: 'doubtful-w16', input: 'a', output_dtype: 'binary' })
  assertFault(answer, 'type_unsupported', { words: /binary: accepted/ })
})

test('int8 of a model whose upstream makes none is refused, with the types that it has, or dropped where the caller allows it', async () => {
  const asked = { model: 'derived-w16', input: texts, output_dtype: 'int8' }
  assertFault(await gateway.ask(asked), 'type_unsupported', {
    words: /It has float, float16, binary, ubinary\./,
  })
  const answer = await gateway.ask(asked, { headers: { 'x-torana-unsupported': 'drop' } })
  assert.equal(answer.headers.get('x-torana-dropped'), 'output_dtype')
  assert.match(spaceIn(answer), /^derived-w16@16:[0-9a-f]{8}$/)
})

const JS = { 'x-stainless-lang': 'js' }
for (const [title, headers, isReadable] of [
  ['openai-node 6', { ...JS, 'x-stainless-package-version': '6.49.0' }, false],
  ['openai-node 7.53', { ...JS, 'x-stainless-package-version': '7.53.0' }, true],
  ['openai-python', { 'x-stainless-lang': 'python', 'x-stainless-package-version': '2.9.0' }, true],
  ['openai-python 0.28', { 'x-openai-client-user-agent': '{}' }, true],
] as const)
  test(`${title} never gets typed base64, which it would read as float32`, async () => {
    const asked = { model: 'derived-w16', input: 'a', output_dtype: 'ubinary', encoding_format: 'base64' }
    const answer = await gateway.ask(asked, { headers })
    if (isReadable) assert.deepEqual(itemsIn(answer)[0]?.embedding, packed(vectorOf('a', 16)))
    else assertFault(answer, 'invalid_parameter', { words: /encoding_format: 'float'/ })
    const plain = await gateway.ask({ ...asked, output_dtype: 'float' }, { headers })
    assert.equal(typeof itemsIn(plain)[0]?.embedding, 'string')
    const numbers = await gateway.ask({ ...asked, encoding_format: 'float' }, { headers })
    assert.deepEqual(itemsIn(numbers)[0]?.embedding, packed(vectorOf('a', 16)))
  })
