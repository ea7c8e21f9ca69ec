import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'

const one = 'key-for-one-model-only-0001'
const gateway = await startGateway({
  models: {
    'plain-w16': {
      on: ['plain', 'float-only'],
      aliases: ['search-embed'],
      embedding: {
        matryoshka: true,
        maxInputTokens: 512,
        inputType: { prefixes: { query: 'query: ', document: 'passage: ' } },
      },
      capabilities: { dimensions: { min: 1, max: 16 }, tokenArrays: true },
    },
    'BAAI/bge-w8': { on: 'plain+key-slash', embedding: { tokenizer: 'none' } },
    'list-w16': {
      on: 'plain+key-list',
      capabilities: {
        dimensions: [4, 8],
        contents: {
          wire: 'openrouter',
          inputs: ['text', 'image'],
          fuses: true,
          maxParts: 3,
          formats: ['png'],
        },
      },
    },
  },
  images: {
    'exact-image': {
      on: ['plain+key-one', 'plain+key-two'],
      aliases: ['pictures'],
      image: { maxPromptCharacters: 1000, answersWith: 'url' },
      capabilities: {
        maxImages: 4,
        sizes: ['1024x1024', { size: '1344x768', aspectRatio: '16:9' }],
        qualities: ['low', 'high'],
        backgrounds: ['transparent'],
        formats: ['jpeg', 'png'],
        stream: true,
        maxPartialImages: 3,
        edits: { maxInputs: 64, inputFormats: ['png'], mask: 'white', fidelities: ['low'] },
      },
    },
    'free-image': {
      on: 'plain+key-free',
      capabilities: { sizes: { default: '1024x1024', multipleOf: 16, maxEdge: 3840, maxRatio: 3 } },
    },
    'any-image': { on: 'plain+key-any' },
  },
  projects: { search: { keys: [{ name: 'one', secret: one, models: ['plain-w16'] }] } },
})

interface Model {
  readonly id: string
  readonly object: string
  readonly created: number
  readonly owned_by: string
  readonly capabilities: Readonly<Record<string, unknown>>
}

async function list(path = '/v1/models', key = gateway.key): Promise<Model[]> {
  const answer = await gateway.get(path, { key })
  assert.equal(answer.status, 200)
  assert.equal(answer.body.object, 'list')
  return answer.body.data as unknown as Model[]
}

test('every model and alias is listed with what it can do', async () => {
  const models = await list()
  assert.deepEqual(
    models.map(({ id }) => id),
    [
      'plain-w16',
      'BAAI/bge-w8',
      'list-w16',
      'exact-image',
      'free-image',
      'any-image',
      'search-embed',
      'pictures',
    ],
  )
  const [plain, slash, fixed, , , , alias] = models as [Model, Model, Model, Model, Model, Model, Model]
  const { space, ...capabilities } = plain.capabilities
  assert.match(String(space), /^plain-w16@16:[0-9a-f]{8}$/)
  assert.deepEqual(capabilities, {
    kind: 'embedding',
    dimensions: 16,
    dimensions_native: { min: 1, max: 16 },
    dimensions_emulated: true,
    max_input_tokens: 512,
    max_inputs: 2048,
    input_types: ['query', 'document'],
    token_arrays: 'native',
  })
  assert.deepEqual(alias.capabilities, { ...plain.capabilities, alias_of: 'plain-w16' })
  assert.equal(slash.capabilities['token_arrays'], 'unsupported')
  assert.equal(slash.capabilities['dimensions_native'], 'fixed')
  assert.deepEqual(fixed.capabilities['dimensions_native'], [4, 8])
  assert.deepEqual(fixed.capabilities['contents'], {
    inputs: ['text', 'image'],
    formats: ['png'],
    max_parts: 3,
  })
  for (const { object, created, owned_by } of models) {
    assert.equal(object, 'model')
    assert.ok(Math.abs(created - Date.now() / 1000) < 300)
    assert.ok(owned_by.length > 0)
  }
})

test('an image model says what may be asked for, and what is made of something else', async () => {
  const models = new Map((await list()).map((model) => [model.id, model.capabilities]))
  const exact = {
    kind: 'image',
    sizes: ['1024x1024', '1344x768'],
    qualities: ['low', 'high'],
    complexities: [],
    backgrounds: ['transparent'],
    moderations: [],
    formats: ['png', 'jpeg', 'webp'],
    formats_native: ['jpeg', 'png'],
    max_images: 10,
    max_images_per_call: 4,
    max_prompt_characters: 1000,
    stream: 'native',
    max_partial_images: 3,
    response_formats: ['b64_json', 'url'],
    response_format_default: 'url',
    edits: {
      max_images: 16, // the node takes no more
      max_file_bytes: 52_428_800,
      formats: ['png'],
      mask: true,
      markup: false,
      input_fidelities: ['low'],
    },
  }
  assert.deepEqual(models.get('exact-image'), exact)
  assert.deepEqual(models.get('pictures'), { ...exact, alias_of: 'exact-image' })
  assert.deepEqual(models.get('free-image')?.['sizes'], {
    default: '1024x1024',
    multiple_of: 16,
    min_pixels: 1,
    max_pixels: 3840 * 3840,
    max_edge: 3840,
    max_ratio: 3,
  })
  assert.equal(models.get('any-image')?.['sizes'], 'any')
  assert.equal(models.get('any-image')?.['stream'], 'emulated')
  assert.equal('edits' in (models.get('any-image') ?? {}), false)
})

test('a key sees only what it may use, under each name', async () => {
  assert.deepEqual(
    (await list('/v1/models', one)).map(({ id }) => id),
    ['plain-w16', 'search-embed'],
  )
})

test('one model by its id, its alias, with a slash raw or escaped', async () => {
  for (const [inPath, id] of [
    ['plain-w16', 'plain-w16'],
    ['search-embed', 'search-embed'],
    ['BAAI/bge-w8', 'BAAI/bge-w8'],
    ['BAAI%2Fbge-w8', 'BAAI/bge-w8'],
  ] as const) {
    const answer = await gateway.get(`/v1/models/${inPath}`)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(
      answer.body,
      (await list()).find((model) => model.id === id),
    )
  }
})

test('the list is the same under every prefix, and each answer has a request id of ours', async () => {
  const canonical = await list()
  for (const path of ['/openai/v1/models', '/models', '/v1/models?limit=1'])
    assert.deepEqual(await list(path), canonical)
  assert.match((await gateway.get('/models')).headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
})
