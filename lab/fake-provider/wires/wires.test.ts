/** What each wire refuses, and what no package of its provider asks for. That a package reads it right is a test of `server/src/upstreams/ai-sdk/`. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import OpenAI from 'openai'
import { startFakeProvider } from '../server.ts'
import { fromBase64, vectorOf } from '../vectors.ts'

const texts = ['a cat', 'two kittens on a mat', 'ein Kätzchen']
const apiKey = 'sk-wires-9876'

const provider = await startFakeProvider()
after(() => provider.close())
const plain = `${provider.url}/plain`

function post(url: string, headers: Record<string, string>, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

describe('a missing credential is refused', () => {
  for (const path of [
    'cohere/v2/embed',
    'google/v1beta/models/gemini-w96:batchEmbedContents',
    'google/v1beta/models/gemini-w96:embedContent',
    'google/v1beta/models/gemini-3-pro-image:generateContent',
    'vertex/v1/publishers/google/models/text-embedding-005-w96:predict',
    'vertex/v1/publishers/google/models/gemini-embedding-2:embedContent',
    'vertex/v1/publishers/google/models/gemini-2.5-flash-image:generateContent',
    'bedrock/model/amazon.titan-embed-text-v2%3A0/invoke',
    'bedrock/model/amazon.nova-2-multimodal-embeddings-w3072/invoke',
    'bedrock/model/us.cohere.embed-v4%3A0/invoke',
    'bedrock/model/amazon.nova-canvas-v1%3A0/invoke',
    'voyage/v1/embeddings',
    'mistral/v1/embeddings',
    'alibaba/api/v1/services/embeddings/text-embedding/text-embedding',
    'fireworks/inference/v1/embeddings',
    'fireworks/inference/v1/workflows/accounts/fireworks/models/flux-1-dev-fp8/text_to_image',
    'fireworks/inference/v1/image_generation/accounts/fireworks/models/SSD-1B',
    'azure/openai/deployments/d-w8/embeddings?api-version=2024-10-21',
    'bfl/v1/flux-pro-1.1',
    'replicate/v1/predictions',
    'replicate/v1/models/black-forest-labs/flux-schnell/predictions',
    'fal/fal-ai/flux/dev',
    'luma/dream-machine/v1/generations/image',
    'together/v1/images/generations',
    'xai/v1/images/generations',
  ])
    it(path, async () => assert.equal((await post(`${plain}/${path}`, {}, {})).status, 401))
})

describe('Cohere', () => {
  const embed = (body: object) =>
    post(
      `${plain}/cohere/v2/embed`,
      { authorization: `Bearer ${apiKey}` },
      { model: 'embed-w8', texts, ...body },
    )

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
    post(
      `${plain}/voyage/v1/embeddings`,
      { authorization: `Bearer ${apiKey}` },
      { model: 'voyage-w8', input: 'x', ...body },
    )

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
  it('answers the v1 style, with and without an api-version', async () => {
    for (const query of [{ 'api-version': 'v1' }, undefined]) {
      const client = new OpenAI({
        baseURL: `${plain}/azure/openai/v1`,
        apiKey: 'unused',
        defaultHeaders: { 'api-key': apiKey },
        ...(query === undefined ? {} : { defaultQuery: query }),
      })
      const answer = await client.embeddings.create({ model: 'deployment-w8', input: 'x' })
      assert.deepEqual(float32(answer.data[0]?.embedding ?? []), vectorOf('x', 8))
    }
  })

  it('refuses a deployment without api-version', async () => {
    const url = `${plain}/azure/openai/deployments/d-w8/embeddings`
    assert.equal((await post(url, { 'api-key': apiKey }, { input: 'x' })).status, 404)
  })
})

describe('moderation inside a 200', () => {
  async function moderated(path: string, headers: Record<string, string>, body: object): Promise<string> {
    const answer = await post(`${provider.url}/moderation/${path}`, headers, body)
    assert.equal(answer.status, 200)
    return answer.text()
  }

  it('Gemini names the reason and has no picture', async () => {
    const body = {
      contents: [{ role: 'user', parts: [{ text: 'x' }] }],
      generationConfig: { responseModalities: ['IMAGE'] },
    }
    const text = await moderated(
      'google/v1beta/models/gemini-x:generateContent',
      { 'x-goog-api-key': 'k' },
      body,
    )
    assert.match(text, /"finishReason":"IMAGE_SAFETY"/)
    assert.doesNotMatch(text, /inlineData/)
  })

  it('fal marks the picture', async () => {
    const body = { prompt: 'x', image_size: 'square' }
    assert.match(
      await moderated('fal/fal-ai/flux', { authorization: 'Key k' }, body),
      /"has_nsfw_concepts":\[true\]/,
    )
  })

  it('Stability on Bedrock gives a reason in the place of a picture', async () => {
    const path = 'bedrock/model/stability.sd3-5-large-v1:0/invoke'
    assert.match(
      await moderated(path, { authorization: 'Bearer k' }, { prompt: 'x' }),
      /"finish_reasons":\["Filter reason: prompt"\]/,
    )
  })
})

function float32(numbers: readonly number[]): Float32Array {
  return Float32Array.from(numbers)
}
