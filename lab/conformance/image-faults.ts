/** What must not go unseen or be paid twice: faults of upstreams and of callers, failover, the libraries' own retries. */
import { contentRefused, failed, rateLimited, refused, rejected } from './expected-errors.ts'
import { imageClients, type ImageClient } from './image-clients.ts'
import {
  aiSdkModel,
  azureModel,
  imageModel,
  native,
  openaiModel,
  openaiPlayed,
  urlOnly,
  type WireName,
} from './image-kinds.ts'
import {
  promptOf,
  servedCase,
  servedRow,
  type ImageCase,
  type ImageExpectation,
  type ImageRow,
  type Kind,
} from './image-rows.ts'
import type { ExpectedError, ModelEntry } from './rows.ts'

type Asked = Partial<Omit<ImageCase, 'name' | 'expected'>>

function fails(name: string, model: ModelEntry, expected: ExpectedError, asked: Asked = {}): ImageRow {
  return {
    name,
    models: { [name]: model },
    cases: (client) => [errorCase(client, name, { kind: 'error', ...expected }, { model: name, ...asked })],
  }
}

function errorCase(
  client: ImageClient,
  name: string,
  expected: ImageExpectation,
  asked: Asked & { readonly model: string },
): ImageCase {
  return { prompt: promptOf(client, name), purchases: 0, ...asked, name, expected }
}

/** Bought, and the answer lost: one purchase, reported as such, despite the library's own retries. */
function unknown(name: string, model: ModelEntry): ImageRow {
  return {
    name,
    models: { [name]: model },
    cases: (client) => [
      errorCase(
        client,
        name,
        {
          kind: 'error',
          status: 424,
          code: 'outcome_unknown',
          says: 'a retry could pay twice',
          shouldRetry: 'false',
        },
        { model: name, retries: true, purchases: 1 },
      ),
    ],
  }
}

const moderated: ExpectedError = { ...contentRefused, says: 'refused the content' }

function aiSdkModerated(name: WireName, purchases = 0): ImageRow {
  return fails(`${name}+moderation`, aiSdkModel(name, 'moderation'), moderated, { purchases })
}

/** It fails once for each client; the client's own default retries bring it through. */
const recovers: ImageRow = {
  name: 'recovers',
  models: Object.fromEntries(
    imageClients.map(({ name }) => [`recovers-${name}`, openaiModel(`fails-first-1+key-image-${name}`)]),
  ),
  cases: (client) => {
    const asked = servedCase(native, client, 'recovers')
    if (asked === undefined || !client.retries) return []
    return [{ ...asked, model: `recovers-${client.name}`, retries: true }]
  },
}

const failover: Kind = {
  ...native,
  name: 'failover',
  model: imageModel(openaiPlayed('status-500'), openaiPlayed('plain')),
}

const streamBreaks: ImageRow = {
  name: 'sse-error',
  models: { 'sse-error': openaiModel('sse-error') },
  cases: (client) =>
    client.streams
      ? [
          errorCase(
            client,
            'sse-error',
            { kind: 'stream-error', says: 'may have made the images' },
            { model: 'sse-error', stream: true, partialImages: 2, purchases: 1 },
          ),
        ]
      : [],
}

/** A stream by other conventions than OpenAI's, and an upstream that has none though it is said to. */
const otherStreams: readonly Kind[] = [
  { ...native, name: 'sse-crlf+sse-comments+sse-done', model: openaiModel('sse-crlf+sse-comments+sse-done') },
  { ...native, name: 'ignores-stream', model: openaiModel('ignores-stream') },
]

export const reliability: readonly ImageRow[] = [
  servedRow(failover, 'failover'),
  recovers,
  ...otherStreams.map((kind) =>
    servedRow(kind, kind.name, {
      stream: true,
      ...(kind.name === 'ignores-stream' ? {} : { partialImages: 2 }),
    }),
  ),
  streamBreaks,
  unknown('serves-then-resets', openaiModel('serves-then-resets')),
  unknown('half-body', openaiModel('half-body')),
  unknown(
    'lost-file',
    imageModel({ ...(urlOnly.model.played[0] ?? openaiPlayed('')), traits: 'url-only+file-status-404' }),
  ),
  unknown('google+serves-then-resets', aiSdkModel('google', 'serves-then-resets')),
  unknown('black-forest-labs+serves-then-resets', aiSdkModel('black-forest-labs', 'serves-then-resets')),
]

export const upstreamFaults: readonly ImageRow[] = [
  fails('moderation', openaiModel('moderation'), moderated),
  fails('moderation-output', openaiModel('moderation-output'), moderated),
  fails('azure+moderation', azureModel('moderation', 'v1'), moderated),
  aiSdkModerated('google'),
  aiSdkModerated('vertex'),
  aiSdkModerated('bedrock'),
  aiSdkModerated('together'),
  aiSdkModerated('black-forest-labs'),
  aiSdkModerated('replicate'),
  aiSdkModerated('luma'),
  aiSdkModerated('fireworks'),
  // Makes the picture, charges for it, and says beside it that it must not be seen.
  aiSdkModerated('fal', 1),
  aiSdkModerated('xai'),
  fails('status-400', openaiModel('status-400'), refused('The scenario answers 400.')),
  fails('status-401', openaiModel('status-401'), rejected),
  fails('status-429', openaiModel('status-429'), rateLimited('7')),
  fails('status-500', openaiModel('status-500'), failed('The scenario answers 500.')),
  fails('quota', openaiModel('quota'), rejected),
  // It repeats the key it was sent. Whatever an error says, the judge looks for that key in it.
  fails('leaks-key', openaiModel('leaks-key'), refused('Incorrect API key provided')),
  fails('google+status-429', aiSdkModel('google', 'status-429'), rateLimited('7')),
  fails('luma+status-401', aiSdkModel('luma', 'status-401'), rejected),
]

function caller(
  name: string,
  asked: Asked,
  expected: ExpectedError,
  canAsk: (client: ImageClient) => boolean = () => true,
): ImageRow {
  return {
    name,
    models: {},
    cases: (client) =>
      canAsk(client)
        ? [errorCase(client, name, { kind: 'error', ...expected }, { model: native.name, ...asked })]
        : [],
  }
}

/** The same key twice: for the same request the same pictures, for another one a refusal. */
const idempotency: ImageRow = {
  name: 'idempotency-key',
  models: {},
  cases: (client) => {
    const first = servedCase(native, client, 'idempotency-key')
    if (first === undefined || !client.sendsHeaders) return []
    const idempotencyKey = `conformance-${client.name}`
    return [
      { ...first, idempotencyKey },
      { ...first, name: 'idempotency-key again', idempotencyKey },
      errorCase(
        client,
        'idempotency-key reused',
        { kind: 'error', status: 422, code: 'idempotency_key_reused', says: 'used for a different request' },
        { model: native.name, idempotencyKey },
      ),
    ]
  },
}

export const callerFaults: readonly ImageRow[] = [
  idempotency,
  caller(
    'wrong-key',
    { wrongKey: true },
    { status: 401, code: 'invalid_api_key', says: 'No valid key matches' },
  ),
  caller(
    'unknown-model',
    { model: 'nativ' },
    { status: 404, code: 'model_not_found', says: "Did you mean 'native'?" },
  ),
  caller(
    'too-many-pictures',
    { n: 11 },
    { status: 400, code: 'invalid_parameter', says: 'at most 10 images' },
    ({ asksForOne }) => !asksForOne,
  ),
  caller(
    'size-not-made',
    { model: 'google', size: '1000x1000' },
    { status: 400, code: 'unsupported_parameter', says: '1024x1024' },
  ),
]
