import { setImmediate as yieldLoop } from 'node:timers/promises'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { FailureKind, UpstreamFailure } from '#core/fault/failure.ts'
import { UNKNOWN_TOKENS } from '#core/money/usage.ts'
import {
  MAX_PICTURES,
  type ImageAnswer,
  type ImageCall,
  type ImageUpstream,
  type Preview,
} from '#ports/image-upstream.ts'
import { anImageCall, anImageDeployment, type ImageOverrides } from '#test/support/images.ts'
import { streamed } from '#test/support/streamed.ts'
import { upstreamFailureOf } from '#test/support/upstream-failure.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'
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

interface Asked
  extends Partial<Omit<ImageCall, 'deployment'>>, Pick<ImageOverrides, 'upstream' | 'capabilities'> {}

interface Heard {
  readonly answer: ImageAnswer
  readonly previews: readonly Preview[]
}

async function generate(
  baseUrl: string,
  { upstream, capabilities = {}, ...call }: Asked = {},
): Promise<Heard> {
  const previews: Preview[] = []
  const deployment = anImageDeployment({
    upstreamModel: 'draw-1',
    upstream: { baseUrl, ...upstream },
    capabilities,
  })
  const answer = await images.generate(
    anImageCall({ size: { width: 64, height: 64 }, ...call, deployment }),
    {
      submitted: () => Promise.reject(new Error('nothing is polled on this wire')),
      partial: (preview) => previews.push(preview),
    },
  )
  return { answer, previews }
}

/** An answer of the fake provider. */
const from = (scenario: string, asked?: Asked, path = 'v1'): Promise<Heard> =>
  generate(`${provider.url}/${scenario}/${path}`, asked)

/** An answer that only odd servers give. */
async function hearing(listener: RequestListener, asked?: Asked, path = ''): Promise<Heard> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await generate(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, asked)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

function answering(body: string | Buffer, asked?: Asked, { status = 200, headers = {} }: Reply = {}) {
  return hearing((_request, response) => response.writeHead(status, headers).end(body), asked)
}
const json = (body: unknown, asked?: Asked, status = 200): Promise<Heard> =>
  answering(JSON.stringify(body), asked, { status, headers: { 'content-type': 'application/json' } })
const EVENTS = { headers: { 'content-type': 'text/event-stream; charset=utf-8' } }
const eventText = (data: object | string): string =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
const events = (list: readonly (object | string)[], asked?: Asked): Promise<Heard> =>
  answering(list.map(eventText).join(''), { partialImages: 1, ...asked }, EVENTS)
/** A stream that the server writes and does not end. */
const openStream = (write: RequestListener, asked: Asked): Promise<Heard> =>
  hearing((request, response) => write(request, response.writeHead(200, EVENTS.headers)), asked)

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const completed = (text: string): object => ({ type: 'image_generation.completed', b64_json: base64(text) })
const preview = { type: 'image_generation.partial_image', b64_json: base64('p'), partial_image_index: 0 }
const usage = { input_tokens: 3, output_tokens: 7 }
const trouble = { type: 'error', error: { code: 'server_error' } }
const texts = ({ answer }: Heard): string[] => answer.pictures.map(({ bytes }) => String(Buffer.from(bytes)))
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const lastSale = () => provider.entries().findLast(({ served }) => served)

/** Images arrive bit by bit as they were sold. */
function assertSold({ answer }: Heard): void {
  const sold = lastSale()?.pictures?.map((picture) => picture.sha256)
  assert.deepEqual(
    answer.pictures.map(({ bytes }) => sha256(bytes)),
    sold,
  )
}

async function failing(heard: Promise<Heard>, kind: FailureKind, charged: boolean): Promise<UpstreamFailure> {
  const failure = await upstreamFailureOf(heard)
  assert.deepEqual([failure.kind, failure.mayBeCharged], [kind, charged])
  assert.ok(!failure.message.includes('test-key-0001'))
  return failure
}

test('pictures arrive bit by bit as they were sold, with usage and echoes', async () => {
  const heard = await from('revises+extra-fields', { images: 3, quality: 'low' })
  const { answer, previews } = heard
  assertSold(heard)
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

const urls = { capabilities: { forms: ['url'] } } as const
const urlsFirst = { capabilities: { forms: ['url', 'b64_json'] } } as const
const azure = (apiVersion: string): Asked => ({ upstream: { dialect: 'azure', apiVersion } })
const { port } = new URL(provider.url)
const trusting = (host: string): Asked => ({ ...urls, upstream: { pictureHosts: [host] } })

type Sale = readonly [title: string, pictures: number, scenario: string, asked?: Asked, path?: string]
const sales: readonly Sale[] = [
  ['Azure is called its own way, version v1', 1, 'plain', azure('v1'), 'azure/openai'],
  ['Azure is called its own way, version 2024-10-21', 1, 'plain', azure('2024-10-21'), 'azure/openai'],
  ['addresses of the upstream are fetched at once', 2, 'url-only', { ...urls, images: 2 }],
  ['an address that redirects is followed', 2, 'url-only+file-redirects', { ...urls, images: 2 }],
  ['base64 is asked for only where an address would come unasked', 1, 'both-forms', urlsFirst],
  [
    'a host that the operator trusts is fetched from',
    1,
    'url-only+foreign-files',
    trusting(`localhost:${port}`),
  ],
  ['more pictures than asked for are handed on', 3, 'one-more', { images: 2 }],
  ['fewer pictures than asked for are handed on', 2, 'wrong-count', { images: 3 }],
  [
    'an answer in one piece is heard, though events were asked for',
    1,
    'ignores-stream',
    { partialImages: 1 },
  ],
]
for (const [title, pictures, ...asked] of sales)
  test(`as it was sold: ${title}`, async () => {
    const heard = await from(...asked)
    assert.equal(heard.answer.pictures.length, pictures)
    assertSold(heard)
    assert.deepEqual([lastSale()?.model, lastSale()?.operation], ['draw-1', 'generate'])
  })

test('more pictures than asked for are handed on, up to a limit', async () => {
  const data = Array.from({ length: MAX_PICTURES + 5 }, () => ({ b64_json: base64('x') }))
  assert.equal((await json({ data })).answer.pictures.length, MAX_PICTURES)
})

for (const scenario of ['plain', 'sse-done', 'sse-crlf+sse-comments', 'chunked-7'])
  test(`a stream brings previews, then the picture: ${scenario}`, async () => {
    const heard = await from(scenario, { partialImages: 2 })
    const { answer, previews } = heard
    assertSold(heard)
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

test('a stream of several pictures brings all of them, and their tokens add up', async () => {
  const heard = await from('plain', { images: 3, partialImages: 0, quality: 'low' })
  assertSold(heard)
  assert.deepEqual([heard.previews.length, heard.answer.tokens.imageOutput], [0, 3])
})

for (const body of ['multipart', 'json'] as const)
  test(`what was made is edited, and arrives as it was sold: ${body}`, async () => {
    const [made] = (await from('plain')).answer.pictures
    assert.ok(made !== undefined)
    const bytes = { kind: 'bytes', format: 'png', ...streamed([made.bytes]) } as const
    const pictures = [bytes, bytes]
    const edit = { pictures, mask: undefined, markup: undefined, fidelity: undefined, body } as const
    assertSold(await from('plain', { edit, images: 2 }))
    const previewed = await from('plain', { edit, partialImages: 1 })
    assert.equal(previewed.previews.length, 1)
    assertSold(previewed)
    await failing(from('moderation', { edit }), 'contentRefused', false)
  })

type Failing<What extends readonly unknown[]> = readonly [kind: FailureKind, charged: boolean, ...What]
const stream = { partialImages: 1 }
const wide = { width: 1280, height: 720, aspectRatio: '16:9', resolution: '1k' }
const scenarios: readonly Failing<[scenario: string, asked?: Asked, path?: string]>[] = [
  ['contentRefused', false, 'moderation'],
  ['refused', false, 'status-400'],
  ['rejectedUs', false, 'status-401'],
  ['missing', false, 'status-404'],
  ['rateLimited', false, 'status-429'],
  ['failed', false, 'status-500'],
  ['unreachable', true, 'reset'],
  ['broken', true, 'half-body'],
  ['broken', true, 'garbage'],
  ['broken', true, 'html-200'],
  ['unreachable', true, 'serves-then-resets'],
  ['broken', true, 'empty-data'],
  ['broken', true, 'bad-base64'],
  ['timedOut', true, 'never', { timeoutMs: 1000 }],
  ['timedOut', true, 'serves-then-hangs', { timeoutMs: 1000 }],
  ['contentRefused', false, 'moderation', stream],
  ['refused', false, 'refuses-stream', stream],
  ['failed', true, 'sse-error', stream],
  ['broken', true, 'sse-cut', stream],
  ['contentRefused', false, 'moderation', { ...urlsFirst, size: wide }, 'xai/v1'],
]
for (const [kind, charged, scenario, asked = {}, path] of scenarios)
  test(`${scenario}${asked.partialImages ? ' in a stream' : ''} ${path ?? ''} is '${kind}'`, async () => {
    await failing(from(scenario, asked, path), kind, charged)
  })

for (const [title, scenario, asked = urls] of [
  ['of a server that fails', 'file-status-500'],
  ['whose bytes end early', 'file-half'],
  ['of a host that is not trusted', 'foreign-files'],
  ['of a trusted host, but another port', 'foreign-files', trusting('localhost:1')],
  ['of a host that is trusted at its usual port only', 'foreign-files', trusting('localhost')],
  ['of a host that is trusted by its address only', 'foreign-files', trusting(`127.0.0.1:${port}`)],
  ['of another host than the trusted one', 'foreign-files', trusting(`host:${port}`)],
] as const)
  test(`pictures ${title} are not fetched, and may have been charged`, async () => {
    await failing(from(`url-only+${scenario}`, asked), 'broken', true)
  })

test('xAI is asked for a ratio', async () => {
  const { answer } = await from('plain', { ...urlsFirst, size: wide }, 'xai/v1')
  assert.equal(answer.pictures.length, 1)
  assert.equal(provider.entries().at(-1)?.size, '16:9')
})

async function bodyOf(asked: Asked): Promise<unknown> {
  let body = ''
  const listener: RequestListener = (request, response) => {
    request.on('data', (chunk: Buffer) => (body += String(chunk)))
    request.on('end', () => response.end(JSON.stringify({ data: [{ b64_json: base64('x') }] })))
  }
  await hearing(listener, asked, '/v1/')
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

const byKind = {
  input_tokens: 7,
  output_tokens: 103,
  input_tokens_details: { text_tokens: 5, image_tokens: 2, cached_tokens_details: { text_tokens: 1 } },
  output_tokens_details: { text_tokens: 3, image_tokens: 100 },
}
const kinds = { textInput: 5, imageInput: 2, textOutput: 3, imageOutput: 100, cachedTextInput: 1 }
for (const [title, counts, expected] of [
  ['by kind where it tells kinds', byKind, kinds],
  [
    'as text in and picture out where it tells sums',
    { ...usage, cached: 2 },
    { textInput: 3, imageOutput: 7 },
  ],
  ['as picture out where it tells that alone', { generated_images: 1, output_tokens: 9 }, { imageOutput: 9 }],
  ['as unknown where it tells no counts', { input_tokens: '7', output_tokens: -1 }, {}],
  ['as unknown where it tells nothing', undefined, {}],
] as const)
  test(`counts are taken ${title}, and usage as it came`, async () => {
    const { answer } = await json({ data: [{ b64_json: base64('x') }], usage: counts })
    const known = Object.entries(answer.tokens).filter(([, count]) => count !== undefined)
    assert.deepEqual([Object.fromEntries(known), answer.usage], [expected, counts])
  })

type Kept = readonly [title: string, texts: readonly string[], ask: () => Promise<Heard>]
const two = { images: 2 }
const linked = (url: string, path: string): Kept => [
  `the picture of ${url}: a link without a host is one of the upstream’s own`,
  ['one'],
  () =>
    hearing(
      (request, response) => {
        if (request.url === path) response.end('one')
        else
          response
            .writeHead(request.method === 'POST' ? 200 : 404, { 'content-type': 'application/json' })
            .end(JSON.stringify({ data: [{ url }] }))
      },
      urls,
      '/base',
    ),
]
const three = ['one', 'two', 'three'].map((text) => ({ ...completed(text), usage }))
const packed = JSON.stringify({ data: [{ b64_json: base64('one') }] })
const kept: readonly Kept[] = [
  linked('/files/1.png', '/files/1.png'),
  linked('files/1.png', '/base/files/1.png'),
  [
    'data URIs',
    ['one', 'two'],
    () =>
      json(
        {
          data: [
            { url: `data:image/png;base64,${base64('one')}` },
            { b64_json: `data:image/png;base64,${base64('two')}` },
          ],
        },
        two,
      ),
  ],
  ['a raw picture', ['raw'], () => answering('raw', {}, { headers: { 'content-type': 'image/jpeg' } })],
  [
    'a picture beside others that are none',
    ['good'],
    () =>
      json(
        { data: [{ b64_json: '' }, { b64_json: base64('good') }, { b64_json: 0 }, { url: '' }] },
        { images: 4 },
      ),
  ],
  [
    'a picture beside a withheld one',
    ['one'],
    () => json({ data: [{ b64_json: base64('one') }, { url: '', respect_moderation: false }] }, two),
  ],
  [
    'a picture in an answer that came packed',
    ['one'],
    () => answering(gzipSync(packed), {}, { headers: { 'content-encoding': 'gzip' } }),
  ],
  ['a picture behind a byte order mark', ['one'], () => answering(`\ufeff${packed}`)],
  ['a paid picture before an error event', ['one'], () => events([completed('one'), trouble], two)],
  ['a paid picture before a broken event', ['one'], () => events([completed('one'), '{'], two)],
  [
    'a paid picture of a stream that is cut',
    ['one'],
    () =>
      openStream(
        (_request, response) => {
          response.write(`${eventText(completed('one'))}data: {"b64_json":"AAAA`)
          setTimeout(() => response.destroy(), 100)
        },
        { images: 2, partialImages: 0 },
      ),
  ],
  [
    'pictures of a stream beyond what was asked for, with a broken event after them',
    ['one', 'two', 'three'],
    () => events([...three, '{'], two),
  ],
  [
    'a last event without its blank line',
    ['one'],
    () =>
      answering(
        `event: image_generation.completed\n${eventText(completed('one')).trimEnd()}`,
        { partialImages: 0 },
        EVENTS,
      ),
  ],
  [
    'the last picture of a connection that stays open, without a wait for its end',
    ['one'],
    () =>
      openStream((_request, response) => response.write(eventText(completed('one'))), {
        partialImages: 0,
        timeoutMs: 3_600_000,
      }),
  ],
]
for (const [title, expected, ask] of kept)
  test(`kept: ${title}`, async () => {
    assert.deepEqual(texts(await ask()), expected)
  })

test('pictures of a stream beyond what was asked for are kept and counted', async () => {
  const heard = await events(three, two)
  assert.deepEqual(texts(heard), ['one', 'two', 'three'])
  assert.equal(heard.answer.tokens.imageOutput, 21)
})

const userError = (code: string, more: object = {}) => ({
  error: { type: 'image_generation_user_error', code, message: 'm', param: null, ...more },
})
const counted = { input_tokens: 3, output_tokens: 5 }
const bodies: readonly Failing<[title: string, body: unknown]>[] = [
  ['contentRefused', false, 'a withheld picture', { data: [{ url: '', is_image_safe: false }] }],
  [
    'contentRefused',
    false,
    'a picture’s own error',
    { data: [{ error: { code: 'OutputImageSensitiveContentDetected', message: 'm' } }] },
  ],
  ['failed', false, 'a picture’s own trouble', { data: [{ error: { code: 'InternalServiceError' } }] }],
  ['failed', false, 'an error in a 200', { error: { message: 'no', type: 'server_error' } }],
  ['contentRefused', false, 'a moderation error in a 200', { error: { code: 'content_filter' } }],
  ['refused', false, 'a user error in a 200', userError('x')],
  ['broken', true, 'an empty picture', { data: [{ b64_json: '' }] }],
  ['broken', true, 'an empty data URI', { data: [{ url: 'data:image/png;base64,' }] }],
  ['broken', true, 'nothing at all', {}],
  ['broken', true, 'an empty list of pictures', { data: [] }],
  ['broken', true, 'a list', []],
  ['broken', true, 'a number for a picture', { data: [{ b64_json: 0 }] }],
  ['broken', true, 'an address of our inside', { data: [{ url: 'http://169.254.169.254/x.png' }] }],
  ['broken', true, 'far too many words', { data: [], words: 'x'.repeat(1_100_000) }],
  ['broken', true, 'no picture, but a count', { data: [], usage: counted }],
  [
    'contentRefused',
    true,
    'a refusal of a picture with a count',
    { data: [{ error: { code: 'blocked' } }], usage: counted },
  ],
  ['contentRefused', true, 'a refusal with a count', { error: { code: 'content_filter' }, usage: counted }],
]
for (const [kind, charged, title, body] of bodies)
  test(`${title} is '${kind}'; what it counted is charged and not ambiguous`, async () => {
    const failure = await failing(json(body), kind, charged)
    const isCounted = JSON.stringify(body).includes(JSON.stringify(counted))
    assert.equal(failure.isAmbiguous, charged && !isCounted)
    const { textInput, imageOutput } = failure.detail.counted ?? {}
    assert.deepEqual([textInput, imageOutput], isCounted ? [3, 5] : [undefined, undefined])
  })

for (const [code, kind] of [
  ['moderation_blocked', 'contentRefused'],
  ['output_safety_system', 'contentRefused'],
  ['bad_mask', 'refused'],
] as const)
  test(`OpenAI’s word for a user’s error is never a failure of the upstream: ${code}`, async () => {
    const { detail } = await failing(json(userError(code), {}, 500), kind, false)
    assert.deepEqual([detail.code, detail.type], [code, 'image_generation_user_error'])
  })

for (const status of [400, 200])
  test(`what moderation found is passed on in its own terms, without sentences, from a ${status}`, async () => {
    const found = { moderation_stage: 'input', categories: ['violence', 'self-harm'] }
    const moderation_details = { ...found, note: 'You asked for a bloody knife', scores: { violence: 1 } }
    const body = userError('moderation_blocked', { moderation_details })
    const { detail } = await failing(json(body, {}, status), 'contentRefused', false)
    assert.deepEqual(detail.moderation, found)
  })

const failedPicture = { type: 'image_generation.partial_failed', error: { code: 'S' } }
const streams: readonly (readonly [FailureKind, title: string, list: readonly (object | string)[]])[] = [
  ['failed', 'an error, nested', [preview, trouble]],
  [
    'contentRefused',
    'an error, flat',
    [preview, { type: 'error', message: 'm', code: 'moderation_blocked' }],
  ],
  ['rateLimited', 'an error without a name', [{ error: { code: 'rate_limit_exceeded' } }]],
  ['contentRefused', 'only failed pictures', [failedPicture]],
  ['broken', 'previews alone', [preview]],
  ['broken', 'nothing', []],
  ['broken', 'an end without a picture', ['[DONE]']],
  ['broken', 'what is not JSON', ['{']],
  ['broken', 'an empty picture', [completed('')]],
]
for (const [kind, title, list] of streams)
  test(`a stream of ${title} is '${kind}', and may have been charged`, async () => {
    await failing(events(list), kind, true)
  })

test('nothing was charged where nothing was sent', async () => {
  await failing(generate('http://127.0.0.1:1/v1'), 'unreachable', false)
})

test('a redirect has made nothing, and is not followed', async () => {
  await failing(answering('', {}, { status: 302, headers: { location: '/elsewhere' } }), 'broken', false)
})

test('an answer larger than the limit is not read to its end', async () => {
  const { message } = await failing(json({ data: [{ b64_json: 'A'.repeat(ANSWER_BYTES) }] }), 'broken', true)
  assert.match(message, /more than 20000000 bytes/)
})

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

type Counts = readonly [title: string, counts: readonly unknown[], expected: readonly unknown[]]
/** Expected are text in, images out, images out of each event where all say the same, and usage as it came where one does. */
const countsOfEvents: readonly Counts[] = [
  ['one event', [usage], [3, 7, 7, usage]],
  ['each event, the same', [usage, usage, usage], [9, 21, 7, undefined]],
  ['each event, different', [usage, { ...usage, output_tokens: 8 }, usage], [9, 22, undefined, undefined]],
  ['the first event alone, for all', [usage, undefined, undefined], [3, 7, undefined, usage]],
  ['the last event alone, for all', [undefined, undefined, usage], [3, 7, undefined, usage]],
  ['the last event alone, with null before', [null, undefined, usage], [3, 7, undefined, usage]],
  ['not each event, so their sum is unknown', [usage, undefined, usage], []],
]
for (const [title, counts, expected] of countsOfEvents)
  test(`tokens of a stream are counted by ${title}`, async () => {
    const list = counts.map((usage, index) => ({ ...completed(String(index)), usage }))
    const { answer } = await events(list, { images: counts.length })
    const { tokens, eachTokens, usage } = answer
    if (expected.length === 0) assert.deepEqual([tokens, usage], [UNKNOWN_TOKENS, undefined])
    else assert.deepEqual([tokens.textInput, tokens.imageOutput, eachTokens?.imageOutput, usage], expected)
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
    usage,
    svg_usage,
  })
  assert.partialDeepStrictEqual(answer.tokens, { textInput: 3, imageOutput: 7, svgInput: 40, svgOutput: 90 })
  assert.deepEqual(answer.extraFields, { svg_usage })
})

test('a call says who calls, and that it reads pictures, and events if it asks for them', async () => {
  const seen: unknown[] = []
  const asked: readonly Asked[] = [
    {},
    { partialImages: 1 },
    { upstream: { headers: { Accept: 'application/json', 'user-agent': 'acme/1' } } },
  ]
  for (const one of asked)
    await hearing(({ headers }, response) => {
      const { 'user-agent': agent, accept, 'accept-encoding': coding, 'content-type': type } = headers
      seen.push([agent?.replace(/\/0.*/, ''), accept, coding, type])
      response.end(JSON.stringify({ data: [{ b64_json: base64('x') }] }))
    }, one)
  assert.deepEqual(seen, [
    ['torana', 'application/json, image/*;q=0.5', 'identity', 'application/json'],
    ['torana', 'text/event-stream, application/json, image/*;q=0.5', 'identity', 'application/json'],
    ['acme/1', 'application/json', 'identity', 'application/json'],
  ])
})
