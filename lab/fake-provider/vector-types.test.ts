/** Types of vectors beside float32: what providers make natively, and in which form they answer it. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { image } from './sample-media.ts'
import { startFakeProvider } from './server.ts'
import { typedNumbers } from './vector-types.ts'
import { fromBase64, truncated, vectorOf } from './vectors.ts'
import { COHERE_SPREAD } from './wires/cohere.ts'
import { post, spoken, type Json, type Posted } from './wires/contents-client.ts'
import { MISTRAL_SPREAD } from './wires/mistral.ts'
import { VOYAGE_SPREAD } from './wires/voyage.ts'

const provider = await startFakeProvider()
after(() => provider.close())

const texts = ['a red chair', 'two kittens']
const width = 64
const quantised = ['int8', 'uint8', 'binary', 'ubinary'] as const

function expected(type: (typeof quantised)[number], spread: number): number[][] {
  return texts.map((text) => typedNumbers(vectorOf(text, width), type, spread * Math.sqrt(width)))
}

const embeddings = ({ json }: Posted) => json['data']?.map(({ embedding }) => embedding) as unknown

/** Fields that ask for one type, by wire. */
const wires: {
  title: string
  spread: number
  ask: (type: string, more?: object) => Promise<Posted>
  vectors: (type: string, answer: Posted) => unknown
}[] = [
  {
    title: 'Cohere',
    spread: COHERE_SPREAD,
    ask: (type, more) =>
      post(`${provider.url}/plain`, 'cohere/v2/embed', {
        model: 'embed-v4.0-w64',
        input_type: 'search_query',
        texts,
        embedding_types: [type],
        ...more,
      }),
    vectors: (type, { json }) => json['embeddings']?.[type as keyof Json],
  },
  {
    title: 'Voyage',
    spread: VOYAGE_SPREAD,
    ask: (type, more) =>
      post(`${provider.url}/plain`, 'voyage/v1/embeddings', {
        model: 'voyage-4-w64',
        input: texts,
        output_dtype: type,
        ...more,
      }),
    vectors: (_, answer) => embeddings(answer),
  },
  {
    title: 'Voyage multimodal',
    spread: VOYAGE_SPREAD,
    ask: (type, more) =>
      post(`${provider.url}/plain`, spoken.voyage.path, {
        ...spoken.voyage.body(texts.map((text) => [text])),
        output_dtype: type,
        ...more,
      }),
    vectors: (_, answer) => embeddings(answer),
  },
  {
    title: 'Mistral',
    spread: MISTRAL_SPREAD,
    ask: (type, more) =>
      post(`${provider.url}/plain`, 'mistral/v1/embeddings', {
        model: 'codestral-embed-w64',
        input: texts,
        output_dtype: type,
        ...more,
      }),
    vectors: (_, answer) => embeddings(answer),
  },
]

describe('int8 by a scale of their own, binary by the sign', () => {
  for (const { title, spread, ask, vectors } of wires) {
    for (const type of quantised) {
      it(`${title}: ${type}`, async () => {
        const answer = await ask(type)
        assert.equal(answer.status, 200, answer.text)
        assert.deepEqual(vectors(type, answer), expected(type, spread))
      })
    }

    it(`${title}: an unknown type and bits that fill no byte are refused`, async () => {
      assert.equal((await ask('float64')).status, 400)
      assert.equal((await ask('binary', { output_dimension: 12 })).status, 400)
    })
  }

  it('no two providers have the same int8', () => {
    const spreads = [COHERE_SPREAD, VOYAGE_SPREAD, MISTRAL_SPREAD]
    assert.equal(new Set(spreads.map((spread) => expected('int8', spread).join())).size, 3)
  })

  it('bits are packed from the most significant on, zero is no one, int8 is clipped', () => {
    const vector = Float32Array.of(0.5, -0.5, 0, 0.1, -1, -1, -1, 1)
    assert.deepEqual(typedNumbers(vector, 'ubinary', 1), [0b10010001])
    assert.deepEqual(typedNumbers(vector, 'binary', 1), [0b10010001 - 128])
    assert.deepEqual(typedNumbers(Float32Array.of(0.5, -0.5, 2, -2), 'int8', 100), [50, -50, 127, -128])
    assert.deepEqual(typedNumbers(Float32Array.of(0.5, -2), 'uint8', 100), [178, 0])
  })

  it('a shorter vector is cut and scaled before it is quantised', async () => {
    const [, voyage] = wires
    const answer = await voyage?.ask('int8', { output_dimension: 16 })
    const cut = texts.map((text) => truncated(vectorOf(text, width), 16))
    const scale = VOYAGE_SPREAD * Math.sqrt(16)
    assert.deepEqual(
      answer && embeddings(answer),
      cut.map((vector) => typedNumbers(vector, 'int8', scale)),
    )
  })
})

describe('forms of the answer', () => {
  it('Cohere answers several types of one call, floats as numbers and as base64', async () => {
    const [cohere] = wires
    const types = ['float', 'base64', 'int8', 'ubinary']
    const answer = await cohere?.ask('', { embedding_types: types })
    const byType = answer?.json['embeddings'] as unknown as Record<string, unknown[]>
    assert.deepEqual(Object.keys(byType), types)
    const vectors = texts.map((text) => vectorOf(text, width))
    assert.deepEqual(
      byType['float']?.map((vector) => Float32Array.from(vector as number[])),
      vectors,
    )
    assert.deepEqual(
      byType['base64']?.map((vector) => fromBase64(vector as string)),
      vectors,
    )
    assert.deepEqual(byType['int8'], expected('int8', COHERE_SPREAD))
    assert.deepEqual(byType['ubinary'], expected('ubinary', COHERE_SPREAD))
  })

  it('Voyage answers base64 as the bytes of the type', async () => {
    const [, voyage] = wires
    const answer = await voyage?.ask('int8', { encoding_format: 'base64' })
    const decoded = (embeddings(answer ?? assert.fail()) as string[]).map((text) => [
      ...new Int8Array(Buffer.from(text, 'base64')),
    ])
    assert.deepEqual(decoded, expected('int8', VOYAGE_SPREAD))
  })

  it('Jina answers bits and base64, of texts and of images, and has no int8', async () => {
    const png = await image('png')
    const ask = (type: string) =>
      post(`${provider.url}/plain`, spoken.jina.path, {
        ...spoken.jina.body([['a red chair'], [png]]),
        embedding_type: type,
      })
    const [first] = embeddings(await ask('ubinary')) as number[][]
    assert.deepEqual(first, expected('ubinary', 1)[0])
    const [floats] = embeddings(await ask('base64')) as string[]
    assert.deepEqual(fromBase64(floats ?? ''), vectorOf('a red chair', width))
    assert.equal((await ask('int8')).status, 400)
  })

  it('models of Mistral that have no types refuse them', async () => {
    const body = { model: 'mistral-embed-w64', input: 'x', output_dtype: 'int8' }
    assert.equal((await post(`${provider.url}/plain`, 'mistral/v1/embeddings', body)).status, 400)
  })
})
