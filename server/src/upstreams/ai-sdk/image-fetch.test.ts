import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import type { FailureKind } from '#core/fault/failure.ts'
import type { ImageAnswer, ImageCall } from '#ports/image-upstream.ts'
import { imageCallOf } from '#test/support/ai-sdk-images.ts'
import { upstreamFailureOf } from '#test/support/upstream-failure.ts'
import { makeFetch } from '../connect/fetch.ts'
import { GuardedPictureFetcher } from '../connect/picture-fetch.ts'
import { loaded } from './image-edit.ts'
import { aiSdkImageExchange } from './image-exchange.ts'

const PICTURE = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 1, 2, 3])
const base64 = PICTURE.toBase64()

interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

interface Reply {
  readonly status?: number
  readonly json?: unknown
  readonly bytes?: Uint8Array
  readonly html?: string
  /** The connection ends without an answer. */
  readonly reset?: true
}

/** An upstream that answers as `replyTo` says; `nth` counts the requests to one path. */
async function upstreamOf(test: TestContext, replyTo: (seen: Seen, nth: number, url: string) => Reply) {
  const seen: Seen[] = []
  const counts = new Map<string, number>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const entry = { method, path, headers, body: Buffer.concat(chunks).toString() }
      seen.push(entry)
      const nth = (counts.get(path) ?? 0) + 1
      counts.set(path, nth)
      const { status = 200, json, bytes, html, reset } = replyTo(entry, nth, url)
      if (reset) {
        response.destroy()
        return
      }
      response.writeHead(status, { 'content-type': bytes ? 'image/png' : 'application/json' })
      response.end(bytes ?? html ?? JSON.stringify(json))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url, seen }
}

const loadedExchange = aiSdkImageExchange({
  fetch: makeFetch({ connectTimeoutMs: 1000, answerBytes: 64 * 1024 * 1024 }),
  pictures: new GuardedPictureFetcher({ connectTimeoutMs: 1000 }),
  pollIntervalMs: 5,
  pictureBytes: 1024 * 1024,
})
const exchange = async (
  call: ImageCall,
  submitted: (text: string) => Promise<void> = async () => {},
): Promise<ImageAnswer> => loadedExchange(await loaded(call), submitted)
const failing = async (call: ImageCall, kind: FailureKind, mayBeCharged: boolean) => {
  const failure = await upstreamFailureOf(exchange(call))
  assert.deepEqual([failure.kind, failure.mayBeCharged], [kind, mayBeCharged], failure.message)
  return failure
}

/** One row for each polled wire: its words for the states of a job. */
interface PolledWire {
  readonly provider: string
  readonly model: string
  submitted(url: string): unknown
  pending(url: string): unknown
  ready(url: string): unknown
  isPoll(seen: Seen): boolean
}

const fluxWire = {
  pending: () => ({ id: 'job-1', status: 'Pending', result: null }),
  ready: (url: string) => ({ id: 'job-1', status: 'Ready', result: { sample: `${url}/picture.png` } }),
}
const polledWires: readonly PolledWire[] = [
  {
    provider: 'black-forest-labs',
    model: 'flux-pro-1.1',
    submitted: (url) => ({ id: 'job-1', polling_url: `${url}/poll?id=job-1` }),
    ...fluxWire,
    isPoll: ({ path }) => path.startsWith('/poll'),
  },
  {
    provider: 'fireworks',
    model: 'accounts/fireworks/models/flux-kontext-pro',
    submitted: () => ({ request_id: 'job-1' }),
    ...fluxWire,
    isPoll: ({ path }) => path.endsWith('/get_result'),
  },
  {
    provider: 'replicate',
    model: 'black-forest-labs/flux-schnell',
    submitted: (url) => ({ id: 'job-1', status: 'starting', output: null, urls: { get: `${url}/poll` } }),
    pending: (url) => ({ status: 'processing', output: [`${url}/half.png`], urls: { get: `${url}/poll` } }),
    ready: (url) => ({ status: 'succeeded', output: [`${url}/picture.png`], urls: { get: `${url}/poll` } }),
    isPoll: ({ path }) => path === '/poll',
  },
  {
    provider: 'luma',
    model: 'photon-1',
    submitted: () => ({ id: 'job-1', state: 'queued' }),
    pending: () => ({ id: 'job-1', state: 'dreaming' }),
    ready: (url) => ({ id: 'job-1', state: 'completed', assets: { image: `${url}/picture.png` } }),
    isPoll: ({ path }) => path.endsWith('/generations/job-1'),
  },
]
const wireOf = (provider: string): PolledWire =>
  polledWires.find((wire) => wire.provider === provider) ?? assert.fail(provider)

/** Plays a job; `poll` says what is answered to the nth poll. */
function play(test: TestContext, wire: PolledWire, poll: (nth: number, url: string) => Reply) {
  return upstreamOf(test, (seen, nth, url) => {
    if (seen.path === '/picture.png') return { bytes: PICTURE }
    return wire.isPoll(seen) ? poll(nth, url) : { json: wire.submitted(url) }
  })
}
const submitsIn = (seen: readonly Seen[], wire: PolledWire): Seen[] =>
  seen.filter((entry) => entry.method === 'POST' && !wire.isPoll(entry))

for (const wire of polledWires) {
  describe(`${wire.provider}, whose pictures are asked for after the submit`, () => {
    const slow = (nth: number, url: string): Reply => ({
      json: nth < 3 ? wire.pending(url) : wire.ready(url),
    })

    it('the submit is written down before the job is asked for, and the picture comes', async (test) => {
      const { url, seen } = await play(test, wire, slow)
      const seenAtRecord: number[] = []
      const answer = await exchange(imageCallOf(wire.provider, wire.model, url), async (text) => {
        assert.deepEqual(JSON.parse((JSON.parse(text) as { body: string }).body), wire.submitted(url))
        await new Promise((resolve) => setTimeout(resolve, 20))
        seenAtRecord.push(seen.length)
      })
      assert.deepEqual(seenAtRecord, [1])
      assert.deepEqual(answer.pictures[0]?.bytes, PICTURE)
      assert.equal(submitsIn(seen, wire).length, 1)
      assert.match(String(seen[0]?.headers['x-torana-call-id']), /^image-call-/)
      assert.equal(seen[0]?.headers.prefer, undefined)
    })

    it('a call that was handed in before a crash is asked for and not bought again', async (test) => {
      const { url, seen } = await play(test, wire, slow)
      const { promise: text, resolve } = Promise.withResolvers<string>()
      // The first process never finishes recording it.
      void exchange(imageCallOf(wire.provider, wire.model, url, { timeoutMs: 2000 }), (text) => {
        resolve(text)
        return new Promise(() => {})
      }).catch(() => {})
      const submitted = await text
      const answer = await exchange(imageCallOf(wire.provider, wire.model, url, { submitted }), () =>
        assert.fail(),
      )
      assert.deepEqual(answer.pictures[0]?.bytes, PICTURE)
      assert.equal(submitsIn(seen, wire).length, 1)
    })

    it('answers that fail on the way do not end a job that goes on', async (test) => {
      const faults: Reply[] = [
        { status: 503, json: {} },
        { reset: true },
        { status: 429, json: {} },
        { html: '<p>Please wait' },
      ]
      const { url, seen } = await play(test, wire, (nth, url) => faults[nth - 1] ?? { json: wire.ready(url) })
      const answer = await exchange(imageCallOf(wire.provider, wire.model, url))
      assert.deepEqual(answer.pictures[0]?.bytes, PICTURE)
      assert.equal(submitsIn(seen, wire).length, 1)
    })

    const refusing = (status: number) => (): Reply => ({ status, json: { detail: 'no' } })
    const ends: readonly (readonly [title: string, FailureKind, poll: (url: string) => Reply])[] = [
      ['a job that never ends is a time-out', 'timedOut', (url) => ({ json: wire.pending(url) })],
      ['a job that it no longer knows is broken', 'broken', refusing(404)],
      ['a key that stopped working meanwhile is rejected', 'rejectedUs', refusing(401)],
    ]
    for (const [title, kind, poll] of ends)
      it(`${title}, and may have been charged`, async (test) => {
        const { url } = await play(test, wire, (_, url) => poll(url))
        const timeoutMs = kind === 'timedOut' ? 1000 : 20_000
        await failing(imageCallOf(wire.provider, wire.model, url, { timeoutMs }), kind, true)
      })

    it('a submit that is refused is not written down', async (test) => {
      const { url } = await upstreamOf(test, () => ({ status: 422, json: { detail: 'no such option' } }))
      const call = imageCallOf(wire.provider, wire.model, url)
      const failure = await upstreamFailureOf(exchange(call, () => assert.fail()))
      assert.deepEqual([failure.kind, failure.mayBeCharged], ['refused', false])
    })
  })
}

type End = readonly [kind: FailureKind, mayBeCharged: boolean, body: object]
const jobEnds: Readonly<Record<string, readonly End[]>> = {
  'black-forest-labs': [
    ['contentRefused', false, { id: 'job-1', status: 'Request Moderated' }],
    ['contentRefused', false, { id: 'job-1', status: 'Content Moderated' }],
    ['failed', false, { id: 'job-1', status: 'Error' }],
    ['broken', true, { id: 'job-1', status: 'Task not found' }],
    ['broken', true, { id: 'job-1', status: 'Something new' }],
    ['broken', true, { id: 'job-1', status: 'Ready', result: null }],
    ['broken', true, { id: 'job-1' }],
  ],
  fireworks: [
    ['contentRefused', false, { id: 'job-1', status: 'Content Moderated', result: null }],
    ['failed', false, { id: 'job-1', status: 'Failed', result: null }],
    ['broken', true, { id: 'job-1', status: 'Task not found', result: null }],
  ],
  replicate: [
    ['contentRefused', false, { status: 'failed', error: 'NSFW content detected.' }],
    ['failed', false, { status: 'failed', error: 'CUDA out of memory' }],
    ['failed', false, { status: 'canceled' }],
    ['failed', false, { status: 'aborted' }],
    ['broken', true, { status: 'succeeded', output: null }],
  ],
  luma: [
    ['contentRefused', false, { id: 'job-1', state: 'failed', failure_reason: 'The prompt was moderated' }],
    ['failed', false, { id: 'job-1', state: 'failed', failure_reason: 'out of memory' }],
    ['broken', true, { id: 'job-1', state: 'completed' }],
  ],
}
for (const [provider, ends] of Object.entries(jobEnds))
  for (const [kind, mayBeCharged, body] of ends)
    it(`an end of a job is seen at once, and named: ${provider}: ${JSON.stringify(body)} is ${kind}`, async (test) => {
      const wire = wireOf(provider)
      const { url, seen } = await play(test, wire, () => ({ json: body }))
      await failing(imageCallOf(provider, wire.model, url), kind, mayBeCharged)
      assert.equal(seen.filter((entry) => wire.isPoll(entry)).length, 1)
    })

describe('where pictures are fetched from', () => {
  const wire = wireOf('black-forest-labs')

  it('no key goes along', async (test) => {
    const { url, seen } = await play(test, wire, (_, url) => ({ json: wire.ready(url) }))
    await exchange(imageCallOf(wire.provider, wire.model, url))
    const [submit, poll, picture] = seen
    assert.deepEqual(
      [submit, poll, picture].map((entry) => entry?.headers['x-key']),
      ['fake-key-9876', 'fake-key-9876', undefined],
    )
  })

  for (const address of ['http://127.0.0.1:1/x.png', 'http://169.254.169.254/latest', 'https://10.0.0.1/x'])
    it(`${address} is not`, async (test) => {
      const result = { id: 'job-1', status: 'Ready', result: { sample: address } }
      const { url } = await play(test, wire, () => ({ json: result }))
      await failing(imageCallOf(wire.provider, wire.model, url), 'broken', true)
    })

  it('a job at a strange host is neither asked for nor shown the key', async (test) => {
    const other = await upstreamOf(test, () => ({ json: {} }))
    const json = { id: 'job-1', polling_url: `${other.url}/poll` }
    const { url } = await upstreamOf(test, () => ({ json }))
    await failing(imageCallOf(wire.provider, wire.model, url), 'broken', true)
    assert.deepEqual(other.seen, [])
  })

  it('a picture that fails to come is tried again, and is never bought again', async (test) => {
    const { url, seen } = await upstreamOf(test, (entry, nth, url) => {
      if (entry.path === '/picture.png') return nth < 3 ? { status: 500, json: {} } : { bytes: PICTURE }
      return { json: wire.isPoll(entry) ? wire.ready(url) : wire.submitted(url) }
    })
    const answer = await exchange(imageCallOf(wire.provider, wire.model, url))
    assert.deepEqual(answer.pictures[0]?.bytes, PICTURE)
    assert.equal(submitsIn(seen, wire).length, 1)
  })

  it('a picture that never comes may have been charged', async (test) => {
    const { url } = await upstreamOf(test, (entry, _, url) => {
      if (entry.path === '/picture.png') return { status: 404, json: {} }
      return { json: wire.isPoll(entry) ? wire.ready(url) : wire.submitted(url) }
    })
    await failing(imageCallOf(wire.provider, wire.model, url), 'broken', true)
  })
})

describe('a refusal inside a good answer is reported as one', () => {
  const models = {
    google: 'gemini-2.5-flash-image',
    'google-vertex': 'gemini-2.5-flash-image',
    'amazon-bedrock': 'amazon.nova-canvas-v1:0',
    xai: 'grok-imagine-image',
    fal: 'fal-ai/flux/dev',
    togetherai: 'flux',
  }
  type Provider = keyof typeof models
  const callTo = (provider: Provider, url: string, overrides?: Partial<ImageCall>) =>
    imageCallOf(provider, models[provider], url, overrides)
  const gemini = (candidate: object, more: object = {}) => ({ candidates: [candidate], ...more })
  const picture = { inlineData: { mimeType: 'image/png', data: base64 } }
  const words = { content: { parts: [{ text: 'no' }] }, finishReason: 'STOP' }
  const withheld = { finishReason: 'IMAGE_SAFETY' }
  const second = { content: { parts: [picture] }, finishReason: 'CONTINUATION', continuationToken: 'more' }
  const moderated = { status: 'Request Moderated', details: { 'Moderation Reasons': ['x'] } }
  const black = { images: [{ url: 'http://127.0.0.1:1/black.png' }], has_nsfw_concepts: [true] }
  const refusals: readonly (readonly [Provider, title: string, ...End])[] = [
    ['google', 'the prompt', 'contentRefused', false, { promptFeedback: { blockReason: 'SAFETY' } }],
    [
      'google',
      'the picture',
      'contentRefused',
      true,
      gemini(withheld, { usageMetadata: { candidatesTokenCount: 1 } }),
    ],
    [
      'google-vertex',
      'the picture',
      'contentRefused',
      false,
      gemini({ finishReason: 'IMAGE_PROHIBITED_CONTENT' }),
    ],
    ['google', 'words only', 'broken', true, gemini(words)],
    ['google', 'a second purchase', 'broken', true, gemini(second)],
    ['amazon-bedrock', 'the prompt', 'contentRefused', false, moderated],
    [
      'amazon-bedrock',
      'the pictures',
      'contentRefused',
      true,
      { images: [], error: 'blocked by our content filters' },
    ],
    ['amazon-bedrock', 'nothing', 'broken', true, { images: [] }],
    ['xai', 'the picture', 'contentRefused', true, { data: [{ url: '', respect_moderation: false }] }],
    ['fal', 'the picture', 'contentRefused', true, black],
    ['togetherai', 'nothing', 'broken', true, { data: [] }],
    ['togetherai', 'not base64', 'broken', true, { data: [{ b64_json: '?' }] }],
    ['togetherai', 'empty', 'broken', true, { data: [{ b64_json: '' }] }],
  ]
  for (const [provider, title, kind, mayBeCharged, json] of refusals)
    it(`${provider}: ${title} is ${kind}`, async (test) => {
      const { url, seen } = await upstreamOf(test, () => ({ json }))
      await failing(callTo(provider, url), kind, mayBeCharged)
      assert.equal(seen.length, 1)
    })

  for (const [title, candidate, kind] of [
    ['words alone', words, 'broken'],
    ['a withheld picture', withheld, 'contentRefused'],
  ] as const)
    it(`Gemini: ${title} cost what was counted, as words`, async (test) => {
      const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 12, thoughtsTokenCount: 3 }
      const { url } = await upstreamOf(test, () => ({ json: gemini(candidate, { usageMetadata }) }))
      const failure = await failing(callTo('google', url), kind, true)
      assert.ok(!failure.isAmbiguous)
      const { textInput, textOutput, imageOutput } = failure.detail.counted ?? {}
      assert.deepEqual([textInput, textOutput, imageOutput], [7, 15, 0])
    })

  it('a redirect has bought nothing', async (test) => {
    const { url } = await upstreamOf(test, () => ({ status: 302, json: {} }))
    await failing(callTo('togetherai', url), 'broken', false)
  })

  const good = { b64_json: base64 }
  const made = { bytes: PICTURE, revisedPrompt: undefined }
  const kept: readonly (readonly [
    Provider,
    title: string,
    json: object,
    pictures: ImageAnswer['pictures'],
  ])[] = [
    ['togetherai', 'more than asked for', { data: [good, good] }, [made, made]],
    [
      'google',
      'more than asked for',
      gemini({ content: { parts: [picture, { text: 'And another:' }, picture] } }),
      [made, made],
    ],
    [
      'togetherai',
      'those beside what is none',
      { data: [{ b64_json: '?' }, good, { b64_json: '' }] },
      [made],
    ],
    [
      'xai',
      'those beside one that was held back',
      { data: [{ ...good, revised_prompt: 'a bicycle, red' }, { respect_moderation: false }] },
      [{ bytes: PICTURE, revisedPrompt: 'a bicycle, red' }],
    ],
  ]
  for (const [provider, title, json, expected] of kept)
    it(`${provider}: pictures are kept: ${title}`, async (test) => {
      const { url } = await upstreamOf(test, () => ({ json }))
      const images = title === 'more than asked for' ? 1 : 3
      assert.deepEqual((await exchange(callTo(provider, url, { images }))).pictures, expected)
    })
})

it('Gemini’s tokens are counted by what they cost', async (test) => {
  const usageMetadata = {
    promptTokenCount: 7,
    candidatesTokenCount: 1300,
    thoughtsTokenCount: 40,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
  }
  const parts = [{ inlineData: { mimeType: 'image/png', data: base64 } }]
  const json = { candidates: [{ content: { parts } }], usageMetadata }
  const { url } = await upstreamOf(test, () => ({ json }))
  const { tokens } = await exchange(imageCallOf('google', 'gemini-2.5-flash-image', url))
  assert.deepEqual(tokens, {
    textInput: 7,
    imageInput: 0,
    textOutput: 50,
    imageOutput: 1290,
    cachedTextInput: 0,
    cachedImageInput: 0,
  })
})
