import { setImmediate as yieldLoop } from 'node:timers/promises'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { ImageCapabilities, ImageDeployment, Upstream } from '#core/catalog/catalog.ts'
import { UpstreamFailure, type FailureKind } from '#core/fault/failure.ts'
import {
  MAX_PICTURES,
  type ImageAnswer,
  type ImageCall,
  type ImageUpstream,
  type Preview,
} from '#ports/image-upstream.ts'
import { streamed } from '#test/support/streamed.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'
import { UNKNOWN_TOKENS } from '#core/money/usage.ts'
import { UpstreamHttp } from '../connect/http.ts'
import { imageRegistry } from '../image-registry.ts'
import { GuardedPictureFetcher } from '../connect/picture-fetch.ts'

const provider = await startFakeProvider()
const http = new UpstreamHttp({ connectTimeoutMs: 5_000, answerBytes: 1_000_000, yieldOnSending: yieldLoop })
const ANSWER_BYTES = 20_000_000
const unused: ImageUpstream = { generate: () => Promise.reject(new Error('not asked')) }
const images = imageRegistry(http, {
  fetcher: new GuardedPictureFetcher({ connectTimeoutMs: 5_000 }),
  answerBytes: ANSWER_BYTES,
  others: { 'ai-sdk': unused, demo: unused },
})
after(async () => {
  await provider.close()
  await http.close()
})

interface Asked extends Partial<Omit<ImageCall, 'deployment'>> {
  readonly upstream?: Partial<Upstream>
  readonly capabilities?: Partial<ImageCapabilities>
}

function aCall({ upstream, capabilities, ...call }: Asked, baseUrl: string): ImageCall {
  const deployment: ImageDeployment = {
    id: 'draw/test',
    upstream: {
      name: 'test',
      dialect: 'openai',
      baseUrl,
      apiKey: 'test-key-0001',
      headers: {},
      settings: {},
      ...upstream,
    },
    upstreamModel: 'draw-1',
    priority: 0,
    weight: 1,
    price: { kind: 'unpriced' },
    capabilities: {
      maxImages: 10,
      sizes: { kind: 'any', default: { width: 64, height: 64 } },
      qualities: [],
      backgrounds: [],
      moderations: [],
      formats: ['png'],
      compression: true,
      forms: ['b64_json'],
      stream: true,
      maxPartialImages: 3,
      user: true,
      maxParallelCalls: 1,
      harmlessFields: [],
      edits: undefined,
      ...capabilities,
    },
  }
  return {
    callId: 'call-1',
    project: 'p',
    prompt: 'a gate',
    images: 1,
    size: { width: 64, height: 64 },
    quality: undefined,
    background: undefined,
    moderation: undefined,
    format: undefined,
    compression: undefined,
    user: undefined,
    safetyIdentifier: undefined,
    extraFields: {},
    partialImages: undefined,
    edit: undefined,
    timeoutMs: 30_000,
    submitted: undefined,
    ...call,
    deployment,
  }
}

interface Heard {
  readonly answer: ImageAnswer
  readonly previews: readonly Preview[]
}

async function generate(call: ImageCall): Promise<Heard> {
  const previews: Preview[] = []
  const answer = await images.generate(call, {
    submitted: () => Promise.reject(new Error('nothing is polled on this wire')),
    partial: (preview) => previews.push(preview),
  })
  return { answer, previews }
}

const from = (scenario: string, asked: Asked = {}): Promise<Heard> =>
  generate(aCall(asked, `${provider.url}/${scenario}/v1`))

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** What the provider reports as sold in its last sale. */
function sold(): string[] {
  return (
    provider
      .entries()
      .findLast(({ served }) => served)
      ?.pictures?.map((picture) => picture.sha256) ?? []
  )
}

async function failureOf(heard: Promise<unknown>): Promise<UpstreamFailure> {
  const error: unknown = await heard.then(
    () => assert.fail('it answered'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof UpstreamFailure, String(error))
  return error
}

test('pictures arrive bit by bit as they were sold, with usage and echoes', async () => {
  const { answer, previews } = await from('revises+extra-fields', { images: 3, quality: 'low' })
  assert.deepEqual(
    answer.pictures.map(({ bytes }) => sha256(bytes)),
    sold(),
  )
  assert.equal(answer.pictures.length, 3)
  assert.equal(answer.pictures[0]?.revisedPrompt, 'In great detail: a gate')
  const { textInput, imageInput, imageOutput, textOutput } = answer.tokens
  assert.ok(textInput !== undefined && textInput > 0)
  assert.deepEqual([imageInput, textOutput, imageOutput], [0, undefined, 3])
  assert.deepEqual(answer.echoes, {
    size: '64x64',
    quality: 'low',
    background: 'opaque',
    output_format: 'png',
  })
  assert.deepEqual(answer.extraFields, { id: 'img-fake', meta: { served_by: { name: 'fake-provider' } } })
  assert.deepEqual(previews, [])
  assert.equal(provider.entries().at(-1)?.callId, 'call-1')
})

for (const apiVersion of ['v1', '2024-10-21']) {
  test(`Azure is called its own way, version ${apiVersion}`, async () => {
    const upstream = { dialect: 'azure', apiVersion } as const
    const { answer } = await generate(aCall({ upstream }, `${provider.url}/plain/azure/openai`))
    assert.deepEqual(
      answer.pictures.map(({ bytes }) => sha256(bytes)),
      sold(),
    )
    assert.equal(provider.entries().at(-1)?.model, 'draw-1')
  })
}

for (const scenario of ['url-only', 'url-only+file-redirects']) {
  test(`pictures that come as addresses of the upstream are fetched at once: ${scenario}`, async () => {
    const { answer } = await from(scenario, { images: 2, capabilities: { forms: ['url'] } })
    assert.deepEqual(
      answer.pictures.map(({ bytes }) => sha256(bytes)),
      sold(),
    )
  })
}

test('base64 is asked for only where an address would come unasked', async () => {
  const { answer } = await from('both-forms', { capabilities: { forms: ['url', 'b64_json'] } })
  assert.equal(answer.pictures.length, 1)
  assert.equal(provider.entries().at(-1)?.operation, 'generate')
})

for (const scenario of ['url-only+foreign-files', 'url-only+file-status-500', 'url-only+file-half']) {
  test(`pictures that can’t be fetched may have been charged: ${scenario}`, async () => {
    const failure = await failureOf(from(scenario, { capabilities: { forms: ['url'] } }))
    assert.equal(failure.kind, 'broken')
    assert.ok(failure.mayBeCharged)
  })
}

test('a host that the operator trusts is fetched from, and no other', async () => {
  const { port } = new URL(provider.url)
  const asked = (pictureHosts: readonly string[]) => ({
    capabilities: { forms: ['url'] as const },
    upstream: { pictureHosts },
  })
  const { answer } = await from('url-only+foreign-files', asked([`localhost:${port}`]))
  assert.deepEqual(
    answer.pictures.map(({ bytes }) => sha256(bytes)),
    sold(),
  )
  for (const other of ['localhost', 'localhost:1', `127.0.0.1:${port}`, `host:${port}`])
    assert.equal((await failureOf(from('url-only+foreign-files', asked([other])))).kind, 'broken')
})

test('a link without a host is one of the upstream’s own', async () => {
  for (const [url, path] of [
    ['/files/1.png', '/files/1.png'],
    ['files/1.png', '/base/files/1.png'],
  ]) {
    const heard = await withServer(
      (request, response) => {
        if (request.url === path) response.end('one')
        else {
          response.writeHead(request.method === 'POST' ? 200 : 404, { 'content-type': 'application/json' })
          response.end(JSON.stringify({ data: [{ url }] }))
        }
      },
      (baseUrl) => generate(aCall({ capabilities: { forms: ['url'] } }, `${new URL(baseUrl).origin}/base`)),
    )
    assert.deepEqual(texts(heard), ['one'])
  }
})

test('more pictures than asked for are handed on, up to a limit', async () => {
  const { answer } = await from('one-more', { images: 2 })
  assert.equal(answer.pictures.length, 3)
  assert.deepEqual(
    answer.pictures.map(({ bytes }) => sha256(bytes)),
    sold(),
  )
  const data = Array.from({ length: MAX_PICTURES + 5 }, () => ({ b64_json: base64('x') }))
  assert.equal((await json({ data })).answer.pictures.length, MAX_PICTURES)
})

test('fewer pictures than asked for are handed on', async () => {
  const { answer } = await from('wrong-count', { images: 3 })
  assert.equal(answer.pictures.length, 2)
})

for (const scenario of ['plain', 'sse-done', 'sse-crlf+sse-comments', 'chunked-7']) {
  test(`a stream brings previews, then the picture: ${scenario}`, async () => {
    const { answer, previews } = await from(scenario, { partialImages: 2 })
    assert.deepEqual(
      answer.pictures.map(({ bytes }) => sha256(bytes)),
      sold(),
    )
    assert.deepEqual(
      previews.map(({ index, echoes }) => [index, echoes['size']]),
      [
        [0, '64x64'],
        [1, '64x64'],
      ],
    )
    for (const { bytes } of previews) assert.equal(Buffer.from(bytes).toString('latin1', 1, 4), 'PNG')
    assert.equal(answer.tokens.imageOutput, 204)
    assert.equal(answer.echoes['quality'], 'medium')
    assert.deepEqual(answer.extraFields, {})
  })
}

test('a stream of several pictures brings all of them, and their tokens add up', async () => {
  const { answer, previews } = await from('plain', { images: 3, partialImages: 0, quality: 'low' })
  assert.deepEqual(
    answer.pictures.map(({ bytes }) => sha256(bytes)),
    sold(),
  )
  assert.equal(previews.length, 0)
  assert.equal(answer.tokens.imageOutput, 3)
})

test('an upstream that answers in one piece, though events were asked for, is heard', async () => {
  const { answer } = await from('ignores-stream', { partialImages: 1 })
  assert.equal(answer.pictures.length, 1)
})

const failures: readonly (readonly [string, FailureKind, boolean, Asked?])[] = [
  ['moderation', 'contentRefused', false],
  ['status-400', 'refused', false],
  ['status-401', 'rejectedUs', false],
  ['status-404', 'missing', false],
  ['status-429', 'rateLimited', false],
  ['status-500', 'failed', false],
  ['reset', 'unreachable', true],
  ['half-body', 'broken', true],
  ['garbage', 'broken', true],
  ['html-200', 'broken', true],
  ['serves-then-resets', 'unreachable', true],
  ['empty-data', 'broken', true],
  ['bad-base64', 'broken', true],
  ['never', 'timedOut', true, { timeoutMs: 1000 }],
  ['serves-then-hangs', 'timedOut', true, { timeoutMs: 1000 }],
  ['moderation', 'contentRefused', false, { partialImages: 1 }],
  ['refuses-stream', 'refused', false, { partialImages: 1 }],
  ['sse-error', 'failed', true, { partialImages: 1 }],
  ['sse-cut', 'broken', true, { partialImages: 1 }],
]
for (const [scenario, kind, mayBeCharged, asked] of failures) {
  test(`${scenario}${asked?.partialImages ? ' in a stream' : ''} is '${kind}'`, async () => {
    const failure = await failureOf(from(scenario, asked))
    assert.equal(failure.kind, kind)
    assert.equal(failure.mayBeCharged, mayBeCharged)
    assert.ok(!failure.message.includes('test-key-0001'))
  })
}

test('a picture that xAI withholds inside a 200 is a refusal of its content', async () => {
  const size = { width: 1280, height: 720, aspectRatio: '16:9', resolution: '1k' }
  const asked = { size, capabilities: { forms: ['url', 'b64_json'] } } as const
  const failure = await failureOf(generate(aCall(asked, `${provider.url}/moderation/xai/v1`)))
  assert.equal(failure.kind, 'contentRefused')
  assert.ok(!failure.mayBeCharged)
  const { answer } = await generate(aCall(asked, `${provider.url}/plain/xai/v1`))
  assert.equal(answer.pictures.length, 1)
  assert.equal(provider.entries().at(-1)?.size, '16:9')
})

for (const body of ['multipart', 'json'] as const) {
  test(`what was made is edited, and arrives as it was sold: ${body}`, async () => {
    const [made] = (await from('plain')).answer.pictures
    assert.ok(made !== undefined)
    const bytes = { kind: 'bytes', format: 'png', ...streamed([made.bytes]) } as const
    const pictures = [bytes, bytes]
    const edit = { pictures, mask: undefined, markup: undefined, fidelity: undefined, body } as const
    const whole = await from('plain', { edit, images: 2 })
    assert.deepEqual(
      whole.answer.pictures.map((picture) => sha256(picture.bytes)),
      sold(),
    )
    const events = await from('plain', { edit, partialImages: 1 })
    assert.equal(events.previews.length, 1)
    assert.deepEqual(
      events.answer.pictures.map((picture) => sha256(picture.bytes)),
      sold(),
    )
    const refusal = await failureOf(from('moderation', { edit }))
    assert.equal(refusal.kind, 'contentRefused')
  })
}

test('nothing was charged where nothing was sent', async () => {
  const failure = await failureOf(generate(aCall({}, 'http://127.0.0.1:1/v1')))
  assert.equal(failure.kind, 'unreachable')
  assert.ok(!failure.mayBeCharged)
})

/** Answers that only odd servers give. */
async function withServer<Value>(
  listener: RequestListener,
  use: (baseUrl: string) => Promise<Value>,
): Promise<Value> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

function answering(body: string | Buffer, type: string, asked: Asked = {}): Promise<Heard> {
  return withServer(
    (_request, response) => response.writeHead(200, { 'content-type': type }).end(body),
    (baseUrl) => generate(aCall(asked, baseUrl)),
  )
}
const json = (body: unknown, asked?: Asked): Promise<Heard> =>
  answering(JSON.stringify(body), 'application/json', asked)
const events = (list: readonly (object | string)[], asked: Asked = {}): Promise<Heard> =>
  answering(
    list.map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`).join(''),
    'text/event-stream; charset=utf-8',
    { partialImages: 1, ...asked },
  )
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const texts = ({ answer }: Heard): string[] => answer.pictures.map(({ bytes }) => String(Buffer.from(bytes)))

async function bodyOf(asked: Asked): Promise<unknown> {
  let body = ''
  await withServer(
    (request, response) => {
      request.on('data', (chunk: Buffer) => (body += String(chunk)))
      request.on('end', () => response.end(JSON.stringify({ data: [{ b64_json: base64('x') }] })))
    },
    (baseUrl) => generate(aCall(asked, `${baseUrl}/v1/`)),
  )
  return JSON.parse(body)
}

test('what is sent is what the call says, and nothing else', async () => {
  const plain = { model: 'draw-1', prompt: 'a gate' }
  assert.deepEqual(await bodyOf({ size: undefined }), plain)
  assert.deepEqual(
    await bodyOf({
      images: 2,
      quality: 'high',
      background: 'transparent',
      moderation: 'low',
      format: 'webp',
      compression: 0,
      user: 'u',
      safetyIdentifier: 's',
      partialImages: 0,
      extraFields: { complexity: 'low', model: 'another', prompt: 'another' },
    }),
    {
      ...plain,
      complexity: 'low',
      n: 2,
      size: '64x64',
      quality: 'high',
      background: 'transparent',
      moderation: 'low',
      output_format: 'webp',
      output_compression: 0,
      user: 'u',
      safety_identifier: 's',
      stream: true,
      partial_images: 0,
    },
  )
  const size = { width: 1280, height: 720, aspectRatio: '16:9', resolution: '2k' }
  assert.deepEqual(await bodyOf({ size, capabilities: { forms: ['url', 'b64_json'] } }), {
    ...plain,
    aspect_ratio: '16:9',
    resolution: '2k',
    response_format: 'b64_json',
  })
})

test('data URIs and raw pictures are pictures', async () => {
  const data = [
    { url: `data:image/png;base64,${base64('one')}` },
    { b64_json: `data:image/png;base64,${base64('two')}` },
  ]
  assert.deepEqual(texts(await json({ data }, { images: 2 })), ['one', 'two'])
  assert.deepEqual(texts(await answering('raw', 'image/jpeg')), ['raw'])
})

test('counts are taken by kind where it tells kinds, and as text in and picture out where it tells sums', async () => {
  const tokensOf = async (usage: unknown): Promise<unknown> => {
    const { answer } = await json({ data: [{ b64_json: base64('x') }], usage })
    return Object.fromEntries(Object.entries(answer.tokens).filter(([, count]) => count !== undefined))
  }
  const input_tokens_details = { text_tokens: 5, image_tokens: 2, cached_tokens_details: { text_tokens: 1 } }
  const output_tokens_details = { text_tokens: 3, image_tokens: 100 }
  assert.deepEqual(
    await tokensOf({ input_tokens: 7, output_tokens: 103, input_tokens_details, output_tokens_details }),
    { textInput: 5, imageInput: 2, textOutput: 3, imageOutput: 100, cachedTextInput: 1 },
  )
  assert.deepEqual(await tokensOf({ input_tokens: 7, output_tokens: 9 }), { textInput: 7, imageOutput: 9 })
  assert.deepEqual(await tokensOf({ generated_images: 1, output_tokens: 9 }), { imageOutput: 9 })
  assert.deepEqual(await tokensOf({ input_tokens: '7', output_tokens: -1 }), {})
  assert.deepEqual(await tokensOf(undefined), {})
})

for (const [title, body, kind, mayBeCharged] of [
  ['a withheld picture', { data: [{ url: '', is_image_safe: false }] }, 'contentRefused', false],
  [
    'a picture’s own error',
    { data: [{ error: { code: 'OutputImageSensitiveContentDetected', message: 'm' } }] },
    'contentRefused',
    false,
  ],
  [
    'a refusal that was counted',
    { data: [{ error: { code: 'blocked' } }], usage: { output_tokens: 5 } },
    'contentRefused',
    true,
  ],
  ['a picture’s own trouble', { data: [{ error: { code: 'InternalServiceError' } }] }, 'failed', false],
  ['an error in a 200', { error: { message: 'no', type: 'server_error' } }, 'failed', false],
  ['a moderation error in a 200', { error: { code: 'content_filter' } }, 'contentRefused', false],
  ['a user error in a 200', { error: { type: 'image_generation_user_error', code: 'x' } }, 'refused', false],
  ['an empty picture', { data: [{ b64_json: '' }] }, 'broken', true],
  ['an empty data URI', { data: [{ url: 'data:image/png;base64,' }] }, 'broken', true],
  ['nothing at all', {}, 'broken', true],
  ['a list', [], 'broken', true],
  ['a number for a picture', { data: [{ b64_json: 0 }] }, 'broken', true],
  ['an address of our inside', { data: [{ url: 'http://169.254.169.254/x.png' }] }, 'broken', true],
  ['far too many words', { data: [], words: 'x'.repeat(1_100_000) }, 'broken', true],
] as const) {
  test(`${title} is '${kind}'`, async () => {
    const failure = await failureOf(json(body))
    assert.equal(failure.kind, kind)
    assert.equal(failure.mayBeCharged, mayBeCharged)
  })
}

test('a picture that is none takes no other with it', async () => {
  const data = [{ b64_json: '' }, { b64_json: base64('good') }, { b64_json: 0 }, { url: '' }]
  assert.deepEqual(texts(await json({ data }, { images: 4 })), ['good'])
})

test('an answer without a picture that says what it used is charged for that, and is not ambiguous', async () => {
  const usage = { input_tokens: 3, output_tokens: 5 }
  for (const [body, kind] of [
    [{ data: [], usage }, 'broken'],
    [{ data: [{ error: { code: 'blocked' } }], usage }, 'contentRefused'],
    [{ error: { code: 'content_filter' }, usage }, 'contentRefused'],
  ] as const) {
    const { detail, ...failure } = await failureOf(json(body))
    assert.equal(failure.kind, kind)
    assert.deepEqual([detail.counted?.textInput, detail.counted?.imageOutput], [3, 5])
  }
  const silent = await failureOf(json({ data: [] }))
  assert.ok(silent.isAmbiguous)
  assert.equal(silent.detail.counted, undefined)
})

test('a redirect has made nothing, and is not followed', async () => {
  const failure = await withServer(
    (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    (baseUrl) => failureOf(generate(aCall({}, baseUrl))),
  )
  assert.equal(failure.kind, 'broken')
  assert.ok(!failure.mayBeCharged)
})

test('a picture beside a withheld one is handed on', async () => {
  const data = [{ b64_json: base64('one') }, { url: '', respect_moderation: false }]
  assert.deepEqual(texts(await json({ data }, { images: 2 })), ['one'])
})

test('OpenAI’s word for a user’s error is never a failure of the upstream', async () => {
  for (const [code, kind] of [
    ['moderation_blocked', 'contentRefused'],
    ['output_safety_system', 'contentRefused'],
    ['bad_mask', 'refused'],
  ] as const) {
    const error = { type: 'image_generation_user_error', code, message: 'm', param: null }
    const failure = await withServer(
      (_request, response) => response.writeHead(500).end(JSON.stringify({ error })),
      (baseUrl) => failureOf(generate(aCall({}, baseUrl))),
    )
    assert.equal(failure.kind, kind)
    assert.deepEqual([failure.detail.code, failure.detail.type], [code, 'image_generation_user_error'])
  }
})

test('what moderation found is told in its own terms, and sentences are left out', async () => {
  const moderation_details = {
    moderation_stage: 'input',
    categories: ['violence', 'self-harm'],
    note: 'You asked for a bloody knife',
    scores: { violence: 1 },
  }
  const error = { type: 'image_generation_user_error', code: 'moderation_blocked', moderation_details }
  for (const status of [400, 200]) {
    const failure = await withServer(
      (_request, response) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error })),
      (baseUrl) => failureOf(generate(aCall({}, baseUrl))),
    )
    assert.equal(failure.kind, 'contentRefused')
    assert.deepEqual(failure.detail.moderation, {
      moderation_stage: 'input',
      categories: ['violence', 'self-harm'],
    })
  }
})

const completed = (text: string): object => ({ type: 'image_generation.completed', b64_json: base64(text) })
const preview = { type: 'image_generation.partial_image', b64_json: base64('p'), partial_image_index: 0 }

test('Volcengine’s events are understood: a picture when one succeeds, the count at the end', async () => {
  const heard = await events(
    [
      { type: 'image_generation.partial_succeeded', image_index: 0, b64_json: base64('one') },
      { type: 'image_generation.partial_failed', image_index: 1, error: { code: 'Sensitive' } },
      { type: 'image_generation.partial_succeeded', image_index: 2, b64_json: base64('two'), size: '8x8' },
      { type: 'image_generation.completed', usage: { generated_images: 2, output_tokens: 7 } },
      '[DONE]',
    ],
    { images: 3 },
  )
  assert.deepEqual(texts(heard), ['one', 'two'])
  assert.equal(heard.answer.tokens.imageOutput, 7)
  assert.equal(heard.answer.echoes['size'], '8x8')
})

test('tokens that come with each picture are added up; one event that counts alone counts for all; else the sum is unknown', async () => {
  const usage = { input_tokens: 3, output_tokens: 7 }
  const counted = await events(
    [
      { ...completed('one'), usage },
      { ...completed('two'), usage },
    ],
    { images: 2 },
  )
  assert.equal(counted.answer.tokens.textInput, 6)
  assert.equal(counted.answer.tokens.imageOutput, 14)
  for (const list of [
    [{ ...completed('one'), usage }, completed('two'), completed('three')],
    [completed('one'), completed('two'), { ...completed('three'), usage }],
    [{ ...completed('one'), usage: null }, completed('two'), { ...completed('three'), usage }],
  ]) {
    const { answer } = await events(list, { images: 3 })
    assert.deepEqual(
      [answer.tokens.textInput, answer.tokens.imageOutput, answer.eachTokens],
      [3, 7, undefined],
    )
    assert.deepEqual(answer.usage, usage)
  }
  const two = [{ ...completed('one'), usage }, completed('two'), { ...completed('three'), usage }]
  const { answer } = await events(two, { images: 3 })
  assert.deepEqual([answer.tokens, answer.usage], [UNKNOWN_TOKENS, undefined])
})

test('tokens of the model that wrote an SVG are counted by themselves, and its count is passed on', async () => {
  const svg_usage = {
    model: 'author-1',
    input_tokens: 40,
    output_tokens: 90,
    reasoning_tokens: 30,
    total_tokens: 130,
  }
  const { answer } = await json({
    data: [{ b64_json: base64('<svg/>') }],
    usage: { input_tokens: 3, output_tokens: 7 },
    svg_usage,
  })
  assert.partialDeepStrictEqual(answer.tokens, { textInput: 3, imageOutput: 7, svgInput: 40, svgOutput: 90 })
  assert.deepEqual(answer.extraFields, { svg_usage })
})

test('what several events count is told by itself where all say the same, and usage as it came where one does', async () => {
  const usage = { input_tokens: 3, output_tokens: 7, cached_tokens: 2 }
  const eventsWith = (counts: readonly object[]) =>
    events(
      counts.map((usage, index) => ({ ...completed(String(index)), usage })),
      { images: counts.length },
    )
  const { answer: repeated } = await eventsWith([usage, usage, usage])
  assert.deepEqual([repeated.tokens.imageOutput, repeated.eachTokens?.imageOutput], [21, 7])
  assert.equal(repeated.usage, undefined)
  const { answer: different } = await eventsWith([usage, { ...usage, output_tokens: 8 }, usage])
  assert.deepEqual([different.tokens.imageOutput, different.eachTokens], [22, undefined])
  assert.deepEqual((await eventsWith([usage])).answer.usage, usage)
  assert.deepEqual((await json({ data: [{ b64_json: base64('x') }], usage })).answer.usage, usage)
})

for (const [title, list, kind] of [
  ['an error, nested', [preview, { type: 'error', error: { code: 'server_error' } }], 'failed'],
  [
    'an error, flat',
    [preview, { type: 'error', message: 'm', code: 'moderation_blocked' }],
    'contentRefused',
  ],
  ['an error without a name', [{ error: { code: 'rate_limit_exceeded' } }], 'rateLimited'],
  [
    'only failed pictures',
    [{ type: 'image_generation.partial_failed', error: { code: 'S' } }],
    'contentRefused',
  ],
  ['previews alone', [preview], 'broken'],
  ['nothing', [], 'broken'],
  ['an end without a picture', ['[DONE]'], 'broken'],
  ['what is not JSON', ['{'], 'broken'],
  ['an empty picture', [{ type: 'image_generation.completed', b64_json: '' }], 'broken'],
] as const) {
  test(`a stream of ${title} is '${kind}', and may have been charged`, async () => {
    const failure = await failureOf(events(list))
    assert.equal(failure.kind, kind)
    assert.ok(failure.mayBeCharged)
  })
}

test('a paid picture is not lost with the stream that brought it', async () => {
  const trouble = { type: 'error', error: { code: 'server_error' } }
  assert.deepEqual(texts(await events([completed('one'), trouble], { images: 2 })), ['one'])
  assert.deepEqual(texts(await events([completed('one'), '{'], { images: 2 })), ['one'])
  const cut = await withServer(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(completed('one'))}\n\ndata: {"b64_json":"AAAA`)
      setTimeout(() => response.destroy(), 100)
    },
    (baseUrl) => generate(aCall({ images: 2, partialImages: 0 }, baseUrl)),
  )
  assert.deepEqual(texts(cut), ['one'])
})

test('pictures of a stream beyond what was asked for are kept, as far as they have come', async () => {
  const usage = { input_tokens: 3, output_tokens: 7 }
  const list = ['one', 'two', 'three'].map((text) => ({ ...completed(text), usage }))
  const heard = await events(list, { images: 2 })
  assert.deepEqual(texts(heard), ['one', 'two', 'three'])
  assert.equal(heard.answer.tokens.imageOutput, 21)
  // A broken event after them does not remove them.
  assert.deepEqual(texts(await events([...list, '{'], { images: 2 })), ['one', 'two', 'three'])
})

test('a last event without its blank line is heard', async () => {
  const body = `event: image_generation.completed\ndata: ${JSON.stringify(completed('one'))}`
  assert.deepEqual(texts(await answering(body, 'text/event-stream', { partialImages: 0 })), ['one'])
})

test('a connection that stays open after the last picture keeps nobody waiting', async () => {
  const heard = await withServer(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(completed('one'))}\n\n`)
    },
    (baseUrl) => generate(aCall({ partialImages: 0, timeoutMs: 3_600_000 }, baseUrl)),
  )
  assert.deepEqual(texts(heard), ['one'])
})

test('an answer larger than the limit is not read to its end', async () => {
  const data = [{ b64_json: 'A'.repeat(ANSWER_BYTES) }]
  const failure = await failureOf(json({ data }))
  assert.equal(failure.kind, 'broken')
  assert.match(failure.message, /more than 20000000 bytes/)
})

test('a call says who calls, and that it reads pictures, and events if it asks for them', async () => {
  const seen: unknown[] = []
  const asked: readonly Asked[] = [
    {},
    { partialImages: 1 },
    { upstream: { headers: { Accept: 'application/json', 'user-agent': 'acme/1' } } },
  ]
  for (const one of asked)
    await withServer(
      ({ headers }, response) => {
        const { 'user-agent': agent, accept, 'accept-encoding': coding, 'content-type': type } = headers
        seen.push([agent?.replace(/\/0.*/, ''), accept, coding, type])
        response.end(JSON.stringify({ data: [{ b64_json: base64('x') }] }))
      },
      (baseUrl) => generate(aCall(one, baseUrl)),
    )
  assert.deepEqual(seen, [
    ['torana', 'application/json, image/*;q=0.5', 'identity', 'application/json'],
    ['torana', 'text/event-stream, application/json, image/*;q=0.5', 'identity', 'application/json'],
    ['acme/1', 'application/json', 'identity', 'application/json'],
  ])
})

test('a picture in an answer that came packed, or behind a byte order mark, is not lost', async () => {
  const body = JSON.stringify({ data: [{ b64_json: base64('a picture') }] })
  const packed = await withServer(
    (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body)),
    (baseUrl) => generate(aCall({}, baseUrl)),
  )
  const marked = await answering(`\ufeff${body}`, 'application/json')
  assert.deepEqual([packed, marked].flatMap(texts), ['a picture', 'a picture'])
})
