/** Invalid requests: each fault names its field, and no upstream is called. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FaultCode } from '#core/fault/fault.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway, type Asked } from '#test/support/gateway.ts'
import { askImages, assertImageFault, IMAGES_PATH, purchasesAt, SMALL } from '#test/support/image-answers.ts'

const EMBED_ONLY_KEY = 'key-for-embeddings-alone-0001'
const gateway = await startGateway({
  models: { 'plain-w16': { on: 'plain' } },
  images: {
    'plain-image': {
      on: 'plain',
      image: { maxPromptCharacters: 1000 },
      capabilities: {
        maxImages: 2,
        sizes: ['1024x1024', SMALL],
        qualities: ['low', 'high'],
        backgrounds: ['transparent'],
        stream: true,
        maxPartialImages: 1,
      },
    },
    'jpeg-image': {
      on: 'plain+key-jpeg',
      upstream: { base: 'bfl/v1', dialect: 'ai-sdk', provider: 'black-forest-labs' },
      upstreamModel: 'flux-pro-1.1',
      capabilities: { formats: ['jpeg'], backgrounds: ['transparent'] },
    },
    'refused-image': { on: 'status-400' },
    'moderated-image': { on: 'moderation' },
  },
  retired: { 'old-image': { on: '2025-01-01', successor: 'plain-image' } },
  projects: { text: { keys: [{ name: 'k', secret: EMBED_ONLY_KEY, models: ['plain-w16'] }] } },
  limits: { imagesBodyBytes: 8192 },
})
const { provider } = gateway

const wrong: [
  name: string,
  fields: Record<string, unknown>,
  code: FaultCode,
  param: string | null,
  words: RegExp,
][] = [
  ['no prompt', { prompt: undefined }, 'missing_parameter', 'prompt', /Describe the image/],
  ['an empty prompt', { prompt: '' }, 'invalid_parameter', 'prompt', /non-empty/],
  ['a prompt that is a list', { prompt: ['a'] }, 'invalid_parameter', 'prompt', /must be a non-empty string/],
  [
    'a prompt longer than the model reads',
    { prompt: 'a'.repeat(1001) },
    'invalid_parameter',
    'prompt',
    /1000 characters/,
  ],
  ['no model', { model: undefined }, 'missing_parameter', 'model', /model/],
  ['n of zero', { n: 0 }, 'invalid_parameter', 'n', /n is 0/],
  ['more pictures than a request may have', { n: 11 }, 'invalid_parameter', 'n', /at most 10/],
  ['half a picture', { n: 1.5 }, 'invalid_parameter', 'n', /1\.5/],
  ['n as a text', { n: '2' }, 'invalid_parameter', 'n', /whole number/],
  ['a ratio for a size', { size: '16:9' }, 'invalid_parameter', 'size', /16:9.*1024x1024/],
  [
    'a size that is not made',
    { size: '512x512' },
    'unsupported_parameter',
    'size',
    /makes: 1024x1024, 96x64, or auto/,
  ],
  ['a size beyond all pictures', { size: '20000x20000' }, 'invalid_parameter', 'size', /longer than 16384/],
  [
    'a quality that is not made',
    { quality: 'ultra' },
    'unsupported_parameter',
    'quality',
    /It takes: low, high, auto/,
  ],
  [
    'an option that it has not',
    { moderation: 'low' },
    'unsupported_parameter',
    'moderation',
    /no moderation setting/,
  ],
  [
    'an unknown response_format',
    { response_format: 'blob' },
    'invalid_parameter',
    'response_format',
    /'url', 'b64_json'/,
  ],
  [
    'two forms at once',
    { response_format: 'url', output_format: 'b64_json' },
    'invalid_parameter',
    'response_format',
    /in one of them only/,
  ],
  [
    'two formats at once',
    { response_format: 'png', output_format: 'webp' },
    'invalid_parameter',
    'output_format',
    /Send one image format/,
  ],
  [
    'compression of a png',
    { output_compression: 50 },
    'unsupported_parameter',
    'output_compression',
    /only jpeg and webp/,
  ],
  [
    'compression beyond its range',
    { output_format: 'jpeg', output_compression: 101 },
    'invalid_parameter',
    'output_compression',
    /0 to 100/,
  ],
  [
    'a transparent jpeg',
    { background: 'transparent', output_format: 'jpeg' },
    'unsupported_parameter',
    'background',
    /no transparency/,
  ],
  [
    'previews without a stream',
    { partial_images: 1 },
    'invalid_parameter',
    'partial_images',
    /"stream": true/,
  ],
  [
    'more previews than OpenAI sends',
    { stream: true, partial_images: 4 },
    'invalid_parameter',
    'partial_images',
    /0 to 3/,
  ],
  [
    'frames of an image that is no GIF',
    { frame_count: 4 },
    'invalid_parameter',
    'frame_count',
    /only a GIF has frames/,
  ],
  [
    'more frames than OpenAI makes',
    { output_format: 'gif', frame_count: 17 },
    'invalid_parameter',
    'frame_count',
    /2 to 16/,
  ],
  [
    'a complexity that the model does not have',
    { complexity: 'high' },
    'unsupported_parameter',
    'complexity',
    /has no complexity setting/,
  ],
  ['a stream by a word', { stream: 'yes' }, 'invalid_parameter', 'stream', /true or false/],
  [
    'a number of pictures by another name',
    { num_images: 4 },
    'unsupported_parameter',
    'num_images',
    /Use n for the number/,
  ],
  [
    'the same, hidden in an object',
    { options: { batch_size: 4 } },
    'unsupported_parameter',
    'options',
    /multiply/,
  ],
  [
    'a field that may tie several calls together',
    { n: 3, seed: 1 },
    'unsupported_parameter',
    'seed',
    /several calls/,
  ],
  [
    'a field on a wire that can not carry it',
    { model: 'jpeg-image', seed: 1, size: undefined },
    'unsupported_parameter',
    'seed',
    /has no place for it/,
  ],
  [
    'a format that nobody makes',
    { model: 'jpeg-image', output_format: 'gif', size: undefined },
    'unsupported_parameter',
    'output_format',
    /Send png, jpeg or webp/,
  ],
  [
    'transparency of an upstream that only makes jpeg',
    { model: 'jpeg-image', background: 'transparent', output_format: 'png', size: undefined },
    'unsupported_parameter',
    'background',
    /only jpeg/,
  ],
  [
    'an embedding model',
    { model: 'plain-w16' },
    'invalid_parameter',
    'model',
    /makes vectors, not images.*\/v1\/embeddings/,
  ],
  [
    'a model that is not there',
    { model: 'plain-imag' },
    'model_not_found',
    'model',
    /Did you mean 'plain-image'/,
  ],
  [
    'a model that has been shut down',
    { model: 'old-image' },
    'model_retired',
    'model',
    /successor is 'plain-image'/,
  ],
]
for (const [name, fields, code, param, words] of wrong) {
  test(`${name}: ${code} of ${param}, before anybody is called`, async () => {
    const callsBefore = provider.counters().calls
    const answer = await askImages(gateway, { model: 'plain-image', ...fields })
    assertImageFault(answer, code, { param, words })
    assert.equal(provider.counters().calls, callsBefore)
  })
}

const wrongHeaders: [name: string, headers: Record<string, string>, param: string, words: RegExp][] = [
  [
    'a key longer than 255 characters',
    { 'idempotency-key': 'k'.repeat(256) },
    'idempotency-key',
    /has 256 characters/,
  ],
  ['a key with a space', { 'idempotency-key': 'two words' }, 'idempotency-key', /visible ASCII/],
  ['a policy that is none', { 'x-torana-unsupported': 'maybe' }, 'x-torana-unsupported', /refuse, drop/],
  ['a dry run that is neither', { 'x-torana-dry-run': 'perhaps' }, 'x-torana-dry-run', /true, 1, false, 0/],
]
for (const [name, headers, param, words] of wrongHeaders) {
  test(`${name} in a header is refused by its name`, async () => {
    const answer = await askImages(gateway, { model: 'plain-image' }, { headers })
    assertImageFault(answer, 'invalid_parameter', { param, words })
    assert.equal(purchasesAt(provider, 'plain').length, 0)
  })
}

test('an Idempotency-Key of 255 characters is taken', async () => {
  const headers = { 'idempotency-key': 'k'.repeat(255), 'x-torana-dry-run': '1' }
  assert.equal((await askImages(gateway, { model: 'plain-image' }, { headers })).status, 200)
})

test('an image model has no vectors, and says where its pictures are', async () => {
  assertFault(await gateway.ask({ model: 'plain-image', input: 'a' }), 'invalid_parameter', {
    param: 'model',
    words: /makes images, not vectors.*\/v1\/images\/generations/,
  })
})

test('a refusal of the upstream is passed on in its words, with its status', async () => {
  const answer = await askImages(gateway, { model: 'refused-image' })
  assertImageFault(answer, 'upstream_refused', { words: /The scenario answers 400/ })
  assert.deepEqual(
    [answer.body.error.upstream?.deployment, answer.body.error.upstream?.status],
    ['refused-image/status-400', 400],
  )
})

test('moderation is a refusal of the content, not a failure', async () => {
  const answer = await askImages(gateway, { model: 'moderated-image' })
  assertImageFault(answer, 'content_policy_violation', { words: /safety system/ })
  const { code, type, moderation_details } = answer.body.error.upstream as Readonly<Record<string, unknown>>
  assert.deepEqual(
    [code, type, moderation_details],
    [
      'moderation_blocked',
      'image_generation_user_error',
      { moderation_stage: 'input', categories: ['violence'] },
    ],
  )
})

const post = (body: string, options: Parameters<typeof gateway.ask>[1] = {}): Promise<Asked> =>
  gateway.ask(body, { path: IMAGES_PATH, ...options })

test('a body that is no JSON object is refused as such', async () => {
  assertFault(await post('{"model": '), 'invalid_json')
  assertFault(await post('["plain-image"]'), 'invalid_json')
})

test('a body beyond the limit is refused', async () => {
  const body = JSON.stringify({ model: 'plain-image', prompt: 'a', note: 'x'.repeat(8192) })
  assertFault(await post(body), 'body_too_large', { words: /8192/ })
})

test('a body that is compressed or not JSON by its own word is refused', async () => {
  for (const headers of [
    { 'content-encoding': 'gzip' },
    { 'content-type': 'multipart/form-data; boundary=x' },
  ])
    assertFault(await post('{}', { headers }), 'unsupported_media_type')
})

test('without a key, with a wrong one, and with one for other models', async () => {
  const fields = { model: 'plain-image' }
  assertImageFault(await askImages(gateway, fields, { key: undefined }), 'missing_api_key')
  assertImageFault(await askImages(gateway, fields, { key: 'no-such-key' }), 'invalid_api_key')
  assertImageFault(await askImages(gateway, fields, { key: EMBED_ONLY_KEY }), 'model_not_allowed', {
    param: 'model',
    words: /may use: plain-w16/,
  })
})

test('GET is not how pictures are made', async () => {
  assertFault(await gateway.get(IMAGES_PATH), 'method_not_allowed')
})
