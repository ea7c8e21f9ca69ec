import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import type { EmbeddingModelV3, EmbeddingModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider'
import OpenAI, { AzureOpenAI } from 'openai'
import { apiKey, packages } from '../packages.ts'
import { startFakeProvider } from '../server.ts'
import { fromBase64, tokensOf, truncated, vectorOf } from '../vectors.ts'
import { widthOf } from '../wire.ts'

const texts = ['a cat', 'two kittens on a mat', 'ein Kätzchen']

type Row = {
  title: string
  wire: string
  model: (base: string) => EmbeddingModelV3 | EmbeddingModelV4
  /** Options that ask for `dimensions` values and for `inputType`, in this provider's own words. */
  options: SharedV4ProviderOptions
  dimensions: number
  inputType: string | null
  /** One text for wires that take no more. */
  values?: string[]
  reportsTokens?: false
}

const rows: Row[] = [
  {
    title: 'Cohere',
    wire: 'cohere',
    model: (base) => packages.cohere(base).embeddingModel('embed-v4.0-w512'),
    options: { cohere: { inputType: 'search_document', outputDimension: 256 } },
    dimensions: 256,
    inputType: 'search_document',
  },
  {
    title: 'Google (batch)',
    wire: 'google',
    model: (base) => packages.google(base).embeddingModel('gemini-w96'),
    options: { google: { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 32 } },
    dimensions: 32,
    inputType: 'RETRIEVAL_QUERY',
    reportsTokens: false,
  },
  {
    title: 'Google (single)',
    wire: 'google',
    model: (base) => packages.google(base).embeddingModel('gemini-w96'),
    options: { google: { taskType: 'RETRIEVAL_DOCUMENT', outputDimensionality: 32 } },
    dimensions: 32,
    inputType: 'RETRIEVAL_DOCUMENT',
    values: ['only one'],
    reportsTokens: false,
  },
  {
    title: 'Vertex predict',
    wire: 'vertex',
    model: (base) => packages.vertex(base).embeddingModel('text-embedding-005-w96'),
    options: { vertex: { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 32 } },
    dimensions: 32,
    inputType: 'RETRIEVAL_QUERY',
  },
  {
    title: 'Vertex embedContent',
    wire: 'vertex',
    // The package takes this path for exactly this name, so the width is the default one.
    model: (base) => packages.vertex(base).embeddingModel('gemini-embedding-2'),
    options: { vertex: { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 768 } },
    dimensions: 768,
    inputType: 'RETRIEVAL_QUERY',
    values: ['only one'],
  },
  {
    title: 'Bedrock Titan',
    wire: 'bedrock',
    model: (base) => packages.bedrock(base).embeddingModel('amazon.titan-embed-text-v2:0'),
    options: { bedrock: { dimensions: 256 } },
    dimensions: 256,
    inputType: null,
    values: ['only one'],
  },
  {
    title: 'Bedrock Nova',
    wire: 'bedrock',
    model: (base) => packages.bedrock(base).embeddingModel('amazon.nova-2-multimodal-embeddings-w3072'),
    options: { bedrock: { embeddingPurpose: 'TEXT_RETRIEVAL', embeddingDimension: 384 } },
    dimensions: 384,
    inputType: 'TEXT_RETRIEVAL',
    values: ['only one'],
  },
  {
    title: 'Bedrock Cohere v3',
    wire: 'bedrock',
    model: (base) => packages.bedrock(base).embeddingModel('cohere.embed-multilingual-v3-w1024'),
    options: { bedrock: { inputType: 'search_document', outputDimension: 512 } },
    dimensions: 512,
    inputType: 'search_document',
  },
  {
    title: 'Bedrock Cohere v4',
    wire: 'bedrock',
    model: (base) => packages.bedrock(base).embeddingModel('us.cohere.embed-v4:0'),
    options: { bedrock: { inputType: 'search_document', outputDimension: 512 } },
    dimensions: 512,
    inputType: 'search_document',
  },
  {
    title: 'Voyage',
    wire: 'voyage',
    model: (base) => packages.voyage(base).embeddingModel('voyage-4-w96'),
    options: { voyage: { inputType: 'document', outputDimension: 32 } },
    dimensions: 32,
    inputType: 'document',
  },
  {
    title: 'Mistral',
    wire: 'mistral',
    model: (base) => packages.mistral(base).embeddingModel('codestral-embed-w96'),
    options: { mistral: { outputDimension: 32 } },
    dimensions: 32,
    inputType: null,
  },
  {
    title: 'Alibaba',
    wire: 'alibaba',
    model: (base) => packages.alibaba(base).embeddingModel('text-v4-w96'),
    options: { alibaba: { textType: 'document', dimension: 32 } },
    dimensions: 32,
    inputType: 'document',
  },
  {
    title: 'Fireworks',
    wire: 'fireworks',
    model: (base) => packages.fireworks(base).embeddingModel('nomic-w96'),
    options: { fireworks: { dimensions: 32 } },
    dimensions: 32,
    inputType: null,
  },
]

const provider = await startFakeProvider()
after(() => provider.close())

describe('every wire answers the AI SDK package of its provider', () => {
  for (const { title, model: modelAt, options, dimensions, inputType, reportsTokens, ...row } of rows) {
    const values = row.values ?? texts
    const tokens = values.reduce((sum, text) => sum + tokensOf(text), 0)

    it(`${title}: vectors and tokens are a function of the texts alone`, async () => {
      const model = modelAt(`${provider.url}/plain`)
      const full = values.map((text) => vectorOf(text, widthOf(model.modelId)))
      const cut = full.map((vector) => truncated(vector, dimensions))

      const answer = await model.doEmbed({ values, providerOptions: options })
      assert.deepEqual(answer.embeddings.map(float32), cut)
      assert.equal(answer.usage?.tokens, reportsTokens === false ? undefined : tokens)

      const entry = provider.entries().at(-1)
      assert.equal(entry?.wire, row.wire)
      assert.equal(entry.model, model.modelId)
      assert.deepEqual([entry.inputType, entry.dimensions], [inputType, dimensions])
      assert.deepEqual([entry.inputs, entry.tokens], [values.length, tokens])
      assert.deepEqual([entry.served, entry.status], [true, 200])
    })

    it(`${title}: without options the vectors are whole`, async () => {
      const model = modelAt(`${provider.url}/ignores-dimensions`)
      const answer = await model.doEmbed({ values })
      assert.deepEqual(
        answer.embeddings.map(float32),
        values.map((text) => vectorOf(text, widthOf(model.modelId))),
      )
    })

    it(`${title}: an error reaches the package in the provider's own shape`, async () => {
      const failing = modelAt(`${provider.url}/status-429`).doEmbed({ values })
      await assert.rejects(Promise.resolve(failing), (error: Error & Record<string, unknown>) => {
        assert.equal(error.name, 'AI_APICallError')
        // The package took the message out of the body: it knows the shape.
        assert.match(error.message, /The scenario answers 429/)
        assert.equal(error['statusCode'], 429)
        assert.equal((error['responseHeaders'] as Record<string, string>)['retry-after'], '7')
        return true
      })
    })

    it(`${title}: a missing credential is refused`, async () => {
      const { path } = provider.entries().at(-1) ?? assert.fail()
      const answer = await fetch(provider.url + path.replace('status-429', 'plain'), {
        method: 'POST',
        body: '{}',
      })
      assert.equal(answer.status, 401)
    })
  }
})

describe('Bedrock takes signed requests', () => {
  it('SigV4 instead of a bearer key', async () => {
    const signed = createAmazonBedrock({
      region: 'us-east-1',
      accessKeyId: 'AKIAFAKE',
      secretAccessKey: 'secret',
      baseURL: `${provider.url}/plain/bedrock`,
    })
    const answer = await signed.embeddingModel('amazon.titan-embed-w8').doEmbed({ values: ['x'] })
    assert.deepEqual(answer.embeddings.map(float32), [vectorOf('x', 8)])
  })
})

describe('Cohere', () => {
  const embed = (body: object) =>
    fetch(`${provider.url}/plain/cohere/v2/embed`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ model: 'embed-w8', texts, ...body }),
    })

  it('needs an input_type', async () => {
    const answer = await embed({})
    assert.equal(answer.status, 400)
    assert.match(((await answer.json()) as { message: string }).message, /input_type/)
  })

  it('answers every embedding type that was asked for', async () => {
    const answer = await embed({ input_type: 'search_query', embedding_types: ['base64', 'float'] })
    const { embeddings } = (await answer.json()) as { embeddings: { base64: string[]; float: number[][] } }
    const expected = texts.map((text) => vectorOf(text, 8))
    assert.deepEqual(embeddings.base64.map(fromBase64), expected)
    assert.deepEqual(embeddings.float.map(float32), expected)
  })
})

describe('Voyage', () => {
  const embed = (body: object) =>
    fetch(`${provider.url}/plain/voyage/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ model: 'voyage-w8', input: 'x', ...body }),
    })

  it('refuses "float", takes null and base64', async () => {
    assert.equal((await embed({ encoding_format: 'float' })).status, 400)
    assert.equal((await embed({ encoding_format: null })).status, 200)
    const answer = (await (await embed({ encoding_format: 'base64' })).json()) as {
      data: { embedding: string }[]
    }
    assert.deepEqual(fromBase64(answer.data[0]?.embedding ?? ''), vectorOf('x', 8))
  })
})

describe('Azure', () => {
  it('takes the deployment from the path and the key from api-key', async () => {
    const client = new AzureOpenAI({
      endpoint: `${provider.url}/plain/azure`,
      apiVersion: '2024-10-21',
      apiKey,
      maxRetries: 0,
    })
    const answer = await client.embeddings.create({ model: 'deployment-w8', input: texts })
    assert.deepEqual(
      answer.data.map(({ embedding }) => float32(embedding)),
      texts.map((text) => vectorOf(text, 8)),
    )
    const entry = provider.entries().at(-1)
    assert.deepEqual([entry?.wire, entry?.model, entry?.authorization], ['azure', 'deployment-w8', '9876'])
  })

  it('answers the v1 style, with and without an api-version', async () => {
    for (const query of [{ 'api-version': 'v1' }, undefined]) {
      const client = new OpenAI({
        baseURL: `${provider.url}/plain/azure/openai/v1`,
        apiKey: 'unused',
        defaultHeaders: { 'api-key': apiKey },
        ...(query === undefined ? {} : { defaultQuery: query }),
      })
      const answer = await client.embeddings.create({ model: 'deployment-w8', input: 'x' })
      assert.deepEqual(float32(answer.data[0]?.embedding ?? []), vectorOf('x', 8))
    }
  })

  it('refuses a missing api-key, and a deployment without api-version', async () => {
    const body = JSON.stringify({ input: 'x' })
    const path = `${provider.url}/plain/azure/openai/deployments/d-w8/embeddings`
    const withoutKey = await fetch(`${path}?api-version=2024-10-21`, { method: 'POST', body })
    assert.equal(withoutKey.status, 401)
    const withoutVersion = await fetch(path, { method: 'POST', body, headers: { 'api-key': apiKey } })
    assert.equal(withoutVersion.status, 404)
  })
})

function float32(numbers: number[]): Float32Array {
  return Float32Array.from(numbers)
}
