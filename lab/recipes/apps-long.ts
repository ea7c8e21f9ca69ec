/**
 * The requests that applications send with the settings of docs/recipes/apps.md, written from their sources: Open WebUI 0.10.2
 * (retrieval/utils.py, routers/images.py), n8n 2.36.0 (EmbeddingsOpenAi.node.ts, OpenAiApi.credentials.ts, generate.operation.ts), and the
 * Dify plugin openai_api_compatible 0.0.63 (text_embedding.py).
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { REPOSITORY } from '../../server/test/support/docs-pages.ts'
import { demoGateway, Recipe } from './page.ts'

const gateway = await demoGateway()
const { TORANA_BASE_URL: url, TORANA_KEY: key } = gateway
const WIDTH = 512
const texts = ['A kitten needs four small meals per day.', 'Cut the roses back before spring.']
const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

interface Vectors {
  readonly data: readonly { readonly embedding: readonly number[] | string }[]
  readonly usage: { readonly prompt_tokens: number }
}
interface Images {
  readonly data: readonly { readonly b64_json: string }[]
}

async function post<Answer>(path: string, body: object, headers: Record<string, string>): Promise<Answer> {
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  assert.equal(answer.status, 200, await answer.clone().text())
  return (await answer.json()) as Answer
}

function assertVectors({ data, usage }: Vectors, count: number): void {
  assert.equal(data.length, count)
  for (const { embedding } of data) {
    const width =
      typeof embedding === 'string' ? Buffer.from(embedding, 'base64').length / 4 : embedding.length
    assert.equal(width, WIDTH)
  }
  assert.ok(usage.prompt_tokens > 0)
}

function assertImage({ data }: Images): void {
  assert.equal(data.length, 1)
  const bytes = Buffer.from(data[0]?.b64_json ?? '', 'base64')
  assert.deepEqual(bytes.subarray(0, PNG.length), PNG)
}

/** The settings of the page, at this node. */
function settings(): Readonly<Record<string, string>> {
  const file = readFileSync(join(REPOSITORY, 'docs/examples/recipes/apps/open-webui.env'), 'utf8')
  const here = file.replaceAll('http://torana:8080/v1', url).replaceAll('tr_...', key)
  return parseEnv(here) as Readonly<Record<string, string>>
}

test('the commands of the page print what it shows', () =>
  new Recipe({ scripts: 'apps', env: gateway }).follow('apps'))

test('Open WebUI embeds documents and queries', async () => {
  const set = settings()
  const headers = {
    Authorization: `Bearer ${set['RAG_OPENAI_API_KEY']}`,
    // With ENABLE_FORWARD_USER_INFO_HEADERS.
    'X-OpenWebUI-User-Name': 'Ada',
    'X-OpenWebUI-User-Id': 'a6b1',
    'X-OpenWebUI-User-Email': 'ada@example.com',
    'X-OpenWebUI-User-Role': 'user',
  }
  for (const input of [texts, ['young pets']]) {
    const body = { input, model: set['RAG_EMBEDDING_MODEL'] }
    assertVectors(await post(`${set['RAG_OPENAI_API_BASE_URL']}/embeddings`, body, headers), input.length)
  }
})

test('Open WebUI can send input types, which a model without them refuses', async () => {
  const set = settings()
  const answer = await fetch(`${set['RAG_OPENAI_API_BASE_URL']}/embeddings`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
    body: JSON.stringify({ input: texts, model: set['RAG_EMBEDDING_MODEL'], input_type: 'document' }),
  })
  assert.equal(answer.status, 400)
  assert.match(await answer.text(), /unsupported_parameter/)
})

test('Open WebUI makes and edits images', async () => {
  const set = settings()
  const made = await post<Images>(
    `${set['IMAGES_OPENAI_API_BASE_URL']}/images/generations`,
    {
      model: set['IMAGE_GENERATION_MODEL'],
      prompt: 'a lighthouse in the fog',
      n: 1,
      size: set['IMAGE_SIZE'],
      response_format: 'b64_json',
    },
    { Authorization: `Bearer ${set['IMAGES_OPENAI_API_KEY']}` },
  )
  assertImage(made)

  const form = new FormData()
  form.append('model', set['IMAGE_EDIT_MODEL'] ?? '')
  form.append('prompt', 'a lighthouse at night')
  form.append('n', '1')
  form.append('response_format', 'b64_json')
  const file = new Blob([Buffer.from(made.data[0]?.b64_json ?? '', 'base64')], { type: 'image/png' })
  form.append('image', file, '3f0c6d0e-0d3a-4a35-8a38-6b0a6c2f2f0e.png')
  const answer = await fetch(`${set['IMAGES_EDIT_OPENAI_API_BASE_URL']}/images/edits`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${set['IMAGES_EDIT_OPENAI_API_KEY']}` },
    body: form,
  })
  assert.equal(answer.status, 200, await answer.clone().text())
  assertImage((await answer.json()) as Images)
})

test('n8n tests its credential, lists models, embeds with a pinned space and makes images', async () => {
  const models = await fetch(`${url}/models`, { headers: { Authorization: `Bearer ${key}` } })
  const { data } = (await models.json()) as {
    readonly data: readonly { readonly id: string; readonly capabilities: { readonly space?: string } }[]
  }
  const space = data.find(({ id }) => id === 'demo-embed')?.capabilities.space ?? ''
  const headers = { Authorization: `Bearer ${key}`, 'x-torana-space': space }
  // LangChain.js leaves the encoding to the SDK, which asks for base64.
  const body = { model: 'demo-embed', input: texts, encoding_format: 'base64' }
  assertVectors(await post(`${url}/embeddings`, body, headers), texts.length)

  const other = await fetch(`${url}/embeddings`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', 'x-torana-space': 'demo-embed@512:00000000' },
    body: JSON.stringify(body),
  })
  assert.equal(other.status, 412)
  await other.body?.cancel()

  const image = { prompt: 'a lighthouse in the fog', model: 'demo-image', response_format: 'b64_json' }
  assertImage(await post(`${url}/images/generations`, image, headers))
})

test('Dify validates a model and embeds a batch', async () => {
  const headers = { Authorization: `Bearer ${key}` }
  for (const body of [
    { model: 'demo-embed', input: ['ping'] },
    { model: 'demo-embed', input: texts, encoding_format: 'float' },
  ])
    assertVectors(await post(`${url}/embeddings`, body, headers), body.input.length)
})
