import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import type { FailureKind } from '#core/fault/failure.ts'
import type { ImageAnswer, ImageCall } from '#ports/image-upstream.ts'
import { imageCallOf, imageFailureOf } from '#test/support/ai-sdk-images.ts'
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
const exchange = async (call: ImageCall, submitted: (text: string) => Promise<void>): Promise<ImageAnswer> =>
  loadedExchange(await loaded(call), submitted)
const notRecorded = (): Promise<void> => Promise.resolve()

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
      const answer = await exchange(imageCallOf(wire.provider, wire.model, url), notRecorded)
      assert.deepEqual(answer.pictures[0]?.bytes, PICTURE)
      assert.equal(submitsIn(seen, wire).length, 1)
    })

    it('a job that nobody ends is a time-out that may have been charged', async (test) => {
      const { url } = await play(test, wire, (_, url) => ({ json: wire.pending(url) }))
      const failure = await imageFailureOf(
        exchange(imageCallOf(wire.provider, wire.model, url, { timeoutMs: 1000 }), notRecorded),
      )
      assert.equal(failure.kind, 'timedOut')
      assert.equal(failure.mayBeCharged, true)
    })

    it('a job that it no longer knows may have been charged', async (test) => {
      const { url } = await play(test, wire, () => ({ status: 404, json: { detail: 'Not found' } }))
      const failure = await imageFailureOf(exchange(imageCallOf(wire.provider, wire.model, url), notRecorded))
      assert.equal(failure.kind, 'broken')
      assert.equal(failure.mayBeCharged, true)
    })

    it('a key that stopped working meanwhile does not make the job free', async (test) => {
      const { url } = await play(test, wire, () => ({ status: 401, json: { detail: 'no' } }))
      const failure = await imageFailureOf(exchange(imageCallOf(wire.provider, wire.model, url), notRecorded))
      assert.equal(failure.kind, 'rejectedUs')
      assert.equal(failure.mayBeCharged, true)
    })

    it('a submit that is refused is not written down', async (test) => {
      const { url } = await upstreamOf(test, () => ({ status: 422, json: { detail: 'no such option' } }))
      const failure = await imageFailureOf(
        exchange(imageCallOf(wire.provider, wire.model, url), () => assert.fail()),
      )
      assert.equal(failure.kind, 'refused')
      assert.equal(failure.mayBeCharged, false)
    })
  })
}

describe('every end of a job is seen at once, and named', () => {
  const ends: [provider: string, body: unknown, kind: FailureKind, mayBeCharged: boolean][] = [
    ['black-forest-labs', { id: 'job-1', status: 'Request Moderated' }, 'contentRefused', false],
    ['black-forest-labs', { id: 'job-1', status: 'Content Moderated' }, 'contentRefused', false],
    ['black-forest-labs', { id: 'job-1', status: 'Error' }, 'failed', false],
    ['black-forest-labs', { id: 'job-1', status: 'Task not found' }, 'broken', true],
    ['black-forest-labs', { id: 'job-1', status: 'Something new' }, 'broken', true],
    ['black-forest-labs', { id: 'job-1', status: 'Ready', result: null }, 'broken', true],
    ['black-forest-labs', { id: 'job-1' }, 'broken', true],
    ['fireworks', { id: 'job-1', status: 'Content Moderated', result: null }, 'contentRefused', false],
    ['fireworks', { id: 'job-1', status: 'Failed', result: null }, 'failed', false],
    ['fireworks', { id: 'job-1', status: 'Task not found', result: null }, 'broken', true],
    ['replicate', { status: 'failed', error: 'NSFW content detected.' }, 'contentRefused', false],
    ['replicate', { status: 'failed', error: 'CUDA out of memory' }, 'failed', false],
    ['replicate', { status: 'canceled' }, 'failed', false],
    ['replicate', { status: 'aborted' }, 'failed', false],
    ['replicate', { status: 'succeeded', output: null }, 'broken', true],
    [
      'luma',
      { id: 'job-1', state: 'failed', failure_reason: 'The prompt was moderated' },
      'contentRefused',
      false,
    ],
    ['luma', { id: 'job-1', state: 'failed', failure_reason: 'out of memory' }, 'failed', false],
    ['luma', { id: 'job-1', state: 'completed' }, 'broken', true],
  ]
  for (const [provider, body, kind, mayBeCharged] of ends) {
    it(`${provider}: ${JSON.stringify(body)} is ${kind}`, async (test) => {
      const wire = wireOf(provider)
      const { url, seen } = await play(test, wire, () => ({ json: body }))
      const failure = await imageFailureOf(exchange(imageCallOf(provider, wire.model, url), notRecorded))
      assert.equal(failure.kind, kind, failure.message)
      assert.equal(failure.mayBeCharged, mayBeCharged)
      assert.equal(seen.filter((entry) => wire.isPoll(entry)).length, 1)
    })
  }
})

describe('where pictures are fetched from', () => {
  const wire = wireOf('black-forest-labs')

  it('no key goes along', async (test) => {
    const { url, seen } = await play(test, wire, (_, url) => ({ json: wire.ready(url) }))
    await exchange(imageCallOf(wire.provider, wire.model, url), notRecorded)
    const [submit, poll, picture] = seen
    assert.deepEqual(
      [submit, poll, picture].map((entry) => entry?.headers['x-key']),
      ['fake-key-9876', 'fake-key-9876', undefined],
    )
  })

  for (const address of ['http://127.0.0.1:1/x.png', 'http://169.254.169.254/latest', 'https://10.0.0.1/x']) {
    it(`${address} is not`, async (test) => {
      const result = { id: 'job-1', status: 'Ready', result: { sample: address } }
      const { url } = await play(test, wire, () => ({ json: result }))
      const failure = await imageFailureOf(exchange(imageCallOf(wire.provider, wire.model, url), notRecorded))
      assert.equal(failure.kind, 'broken')
      assert.equal(failure.mayBeCharged, true)
    })
  }

  it('a job at a strange host is neither asked for nor shown the key', async (test) => {
    const other = await upstreamOf(test, () => ({ json: {} }))
    const { url } = await upstreamOf(test, () => ({
      json: { id: 'job-1', polling_url: `${other.url}/poll` },
    }))
    const failure = await imageFailureOf(exchange(imageCallOf(wire.provider, wire.model, url), notRecorded))
    assert.equal(failure.kind, 'broken')
    assert.deepEqual(other.seen, [])
  })

  it('a picture that fails to come is tried again, and is never bought again', async (test) => {
    const { url, seen } = await upstreamOf(test, (entry, nth, url) => {
      if (entry.path === '/picture.png') return nth < 3 ? { status: 500, json: {} } : { bytes: PICTURE }
      return { json: wire.isPoll(entry) ? wire.ready(url) : wire.submitted(url) }
    })
    const answer = await exchange(imageCallOf(wire.provider, wire.model, url), notRecorded)
    assert.deepEqual(answer.pictures[0]?.bytes, PICTURE)
    assert.equal(submitsIn(seen, wire).length, 1)
  })

  it('a picture that never comes may have been charged', async (test) => {
    const { url } = await upstreamOf(test, (entry, _, url) => {
      if (entry.path === '/picture.png') return { status: 404, json: {} }
      return { json: wire.isPoll(entry) ? wire.ready(url) : wire.submitted(url) }
    })
    const failure = await imageFailureOf(exchange(imageCallOf(wire.provider, wire.model, url), notRecorded))
    assert.equal(failure.kind, 'broken')
    assert.equal(failure.mayBeCharged, true)
  })
})

describe('a refusal inside a good answer is told as one', () => {
  const gemini = (candidate: object, more: object = {}) => ({ candidates: [candidate], ...more })
  const rows: [
    title: string,
    provider: string,
    model: string,
    body: unknown,
    kind: FailureKind,
    charged: boolean,
  ][] = [
    [
      'Gemini: the prompt',
      'google',
      'gemini-2.5-flash-image',
      { promptFeedback: { blockReason: 'SAFETY' } },
      'contentRefused',
      false,
    ],
    [
      'Gemini: the picture',
      'google',
      'gemini-2.5-flash-image',
      gemini({ finishReason: 'IMAGE_SAFETY' }, { usageMetadata: { candidatesTokenCount: 1 } }),
      'contentRefused',
      true,
    ],
    [
      'Vertex: the picture',
      'google-vertex',
      'gemini-2.5-flash-image',
      gemini({ finishReason: 'IMAGE_PROHIBITED_CONTENT' }),
      'contentRefused',
      false,
    ],
    [
      'Gemini: words only',
      'google',
      'gemini-2.5-flash-image',
      gemini({ content: { parts: [{ text: 'no' }] }, finishReason: 'STOP' }),
      'broken',
      true,
    ],
    [
      'Gemini: a second purchase',
      'google',
      'gemini-2.5-flash-image',
      gemini({
        content: { parts: [{ inlineData: { mimeType: 'image/png', data: base64 } }] },
        finishReason: 'CONTINUATION',
        continuationToken: 'more',
      }),
      'broken',
      true,
    ],
    [
      'Bedrock: the prompt',
      'amazon-bedrock',
      'amazon.nova-canvas-v1:0',
      { status: 'Request Moderated', details: { 'Moderation Reasons': ['x'] } },
      'contentRefused',
      false,
    ],
    [
      'Bedrock: the pictures',
      'amazon-bedrock',
      'amazon.nova-canvas-v1:0',
      { images: [], error: 'blocked by our content filters' },
      'contentRefused',
      true,
    ],
    ['Bedrock: nothing', 'amazon-bedrock', 'amazon.nova-canvas-v1:0', { images: [] }, 'broken', true],
    [
      'xAI',
      'xai',
      'grok-imagine-image',
      { data: [{ url: '', respect_moderation: false }] },
      'contentRefused',
      true,
    ],
    [
      'fal',
      'fal',
      'fal-ai/flux/dev',
      { images: [{ url: 'http://127.0.0.1:1/black.png' }], has_nsfw_concepts: [true] },
      'contentRefused',
      true,
    ],
    ['Together: nothing', 'togetherai', 'flux', { data: [] }, 'broken', true],
    ['Together: not base64', 'togetherai', 'flux', { data: [{ b64_json: '?' }] }, 'broken', true],
    ['Together: empty', 'togetherai', 'flux', { data: [{ b64_json: '' }] }, 'broken', true],
  ]
  for (const [title, provider, model, body, kind, charged] of rows) {
    it(title, async (test) => {
      const { url, seen } = await upstreamOf(test, () => ({ json: body }))
      const failure = await imageFailureOf(exchange(imageCallOf(provider, model, url), notRecorded))
      assert.equal(failure.kind, kind, failure.message)
      assert.equal(failure.mayBeCharged, charged)
      assert.equal(seen.length, 1)
    })
  }

  for (const [title, candidate, kind] of [
    ['words alone', { content: { parts: [{ text: 'no' }] }, finishReason: 'STOP' }, 'broken'],
    ['a withheld picture', { finishReason: 'IMAGE_SAFETY' }, 'contentRefused'],
  ] as const) {
    it(`Gemini: ${title} cost what was counted, as words`, async (test) => {
      const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 12, thoughtsTokenCount: 3 }
      const { url } = await upstreamOf(test, () => ({ json: gemini(candidate, { usageMetadata }) }))
      const failure = await imageFailureOf(
        exchange(imageCallOf('google', 'gemini-2.5-flash-image', url), notRecorded),
      )
      assert.equal(failure.kind, kind)
      assert.ok(!failure.isAmbiguous)
      const { textInput, textOutput, imageOutput } = failure.detail.counted ?? {}
      assert.deepEqual([textInput, textOutput, imageOutput], [7, 15, 0])
    })
  }

  it('a redirect has bought nothing', async (test) => {
    const { url } = await upstreamOf(test, () => ({ status: 302, json: {} }))
    const failure = await imageFailureOf(exchange(imageCallOf('togetherai', 'flux', url), notRecorded))
    assert.equal(failure.mayBeCharged, false)
  })

  for (const [provider, model, body] of [
    ['togetherai', 'flux', { data: [{ b64_json: base64 }, { b64_json: base64 }] }],
    [
      'google',
      'gemini-2.5-flash-image',
      {
        candidates: [
          {
            content: {
              parts: [
                { inlineData: { mimeType: 'image/png', data: base64 } },
                { text: 'And another:' },
                { inlineData: { mimeType: 'image/png', data: base64 } },
              ],
            },
          },
        ],
      },
    ],
  ] as const) {
    it(`${provider}: more pictures than asked for are all handed on`, async (test) => {
      const { url } = await upstreamOf(test, () => ({ json: body }))
      const { pictures } = await exchange(imageCallOf(provider, model, url), notRecorded)
      assert.deepEqual(
        pictures.map(({ bytes }) => bytes),
        [PICTURE, PICTURE],
      )
    })
  }

  it('Together: a picture that is none takes no other with it', async (test) => {
    const data = [{ b64_json: '?' }, { b64_json: base64 }, { b64_json: '' }]
    const { url } = await upstreamOf(test, () => ({ json: { data } }))
    const { pictures } = await exchange(imageCallOf('togetherai', 'flux', url, { images: 3 }), notRecorded)
    assert.deepEqual(
      pictures.map(({ bytes }) => bytes),
      [PICTURE],
    )
  })

  it('xAI: pictures beside one that was held back are kept', async (test) => {
    const data = [{ b64_json: base64, revised_prompt: 'a bicycle, red' }, { respect_moderation: false }]
    const { url } = await upstreamOf(test, () => ({ json: { data } }))
    const { pictures } = await exchange(
      imageCallOf('xai', 'grok-imagine-image', url, { images: 2 }),
      notRecorded,
    )
    assert.deepEqual(pictures, [{ bytes: PICTURE, revisedPrompt: 'a bicycle, red' }])
  })
})

it('Gemini’s tokens are told apart by what they cost', async (test) => {
  const usageMetadata = {
    promptTokenCount: 7,
    candidatesTokenCount: 1300,
    thoughtsTokenCount: 40,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
  }
  const parts = [{ inlineData: { mimeType: 'image/png', data: base64 } }]
  const { url } = await upstreamOf(test, () => ({
    json: { candidates: [{ content: { parts } }], usageMetadata },
  }))
  const { tokens } = await exchange(imageCallOf('google', 'gemini-2.5-flash-image', url), notRecorded)
  assert.deepEqual(tokens, {
    textInput: 7,
    imageInput: 0,
    textOutput: 50,
    imageOutput: 1290,
    cachedTextInput: 0,
    cachedImageInput: 0,
  })
})
