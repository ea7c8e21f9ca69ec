import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createSocketServer, type AddressInfo, type Server } from 'node:net'
import { after, test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import type { Upstream } from '#core/catalog/catalog.ts'
import type { FailureKind, UpstreamFailure } from '#core/fault/failure.ts'
import { faultOfFailure } from '#core/fault/of-failure.ts'
import type { EmbeddingAnswer, EmbeddingCall } from '#ports/upstream.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { upstreamFailureOf } from '#test/support/upstream-failure.ts'
import { UpstreamHttp } from '../connect/http.ts'
import { embeddingPath, openaiTarget } from './embedding.ts'
import { exchangeEmbedding } from './exchange.ts'

const http = new UpstreamHttp({ connectTimeoutMs: 5000, answerBytes: 1_000_000, yieldOnSending: yieldLoop })
const upstream = exchangeEmbedding({ target: openaiTarget, path: embeddingPath }, http, yieldLoop)
after(() => http.close())

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

async function embed(
  baseUrl: string,
  own: Partial<EmbeddingCall> = {},
  headers: Upstream['headers'] = {},
): Promise<EmbeddingAnswer> {
  const deployment = aDeployment({})
  return upstream.embed({
    callId: 'c',
    project: 'p',
    deployment: { ...deployment, upstream: { ...deployment.upstream, baseUrl, headers } },
    inputs: { kind: 'texts', texts: ['a'] },
    dimensions: undefined,
    width: 4,
    inputType: undefined,
    inputTypeField: undefined,
    user: undefined,
    extraFields: {},
    wantedForm: 'text',
    timeoutMs: 60_000,
    ...own,
  })
}

/** A server that answers every call alike. */
async function answering(listener: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => listener(request, response))
  })
  after(() => server.closeAllConnections())
  return listening(server)
}

const failureOf = (baseUrl: string, own?: Partial<EmbeddingCall>) => upstreamFailureOf(embed(baseUrl, own))

const VECTOR = '[0.5,0.5,0.5,0.5]'
const bodyOf = (vector: string): string =>
  `{"object":"list","data":[{"object":"embedding","index":0,"embedding":${vector}}],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1},"more":1}`

test('a call says who calls and what it can read, unless the operator says it otherwise', async () => {
  const seen: IncomingHttpHeaders[] = []
  const url = await answering(({ headers }, response) => {
    seen.push(headers)
    response.end(bodyOf(VECTOR))
  })
  await embed(url)
  await embed(url, {}, { 'User-Agent': 'acme/1', Accept: '*/*', 'accept-encoding': 'gzip' })
  const sentHeaders = seen.map(
    ({ 'user-agent': agent, accept, 'accept-encoding': coding, 'content-type': type }) => [
      agent?.replace(/\d+\.\d+\.\d+.*/, 'version'),
      accept,
      coding,
      type,
    ],
  )
  assert.deepEqual(sentHeaders, [
    ['torana/version', 'application/json', 'identity', 'application/json'],
    ['acme/1', '*/*', 'gzip', 'application/json'],
  ])
})

test('an answer may begin with a byte order mark', async () => {
  const url = await answering((_, response) => response.end(`\ufeff${bodyOf(VECTOR)}`))
  const { vectors, extraFields } = await embed(url)
  assert.deepEqual([vectors.length, { ...extraFields }], [1, { more: 1 }])
})

for (const wantedForm of ['text', 'base64', 'float32'] as const)
  test(`vectors of the full width are taken as ${wantedForm} where they may be cut, and nowhere else`, async () => {
    const numbers = await answering((_, response) => response.end(bodyOf(VECTOR)))
    const base64 = Buffer.from(Float32Array.of(0.5, 0.5, 0.5, 0.5).buffer).toString('base64')
    const packed = await answering((_, response) => response.end(bodyOf(`"${base64}"`)))
    for (const url of [numbers, packed]) {
      const asked = { width: 2, dimensions: 2, wantedForm }
      assert.equal((await embed(url, { ...asked, fullWidth: 4 })).isFullWidth, true)
      assert.equal((await failureOf(url, asked)).detail.wrongWidth, 4)
      assert.equal((await failureOf(url, { ...asked, fullWidth: 3 })).detail.wrongWidth, 4)
    }
    const mixed = await answering((_, response) =>
      response.end(
        `{"data":[{"index":0,"embedding":[1,0,0,0]},{"index":1,"embedding":[1,0]}],"model":"m","usage":{}}`,
      ),
    )
    const inputs = { kind: 'texts', texts: ['a', 'b'] } as const
    const own = { inputs, width: 2, dimensions: 2, fullWidth: 4, wantedForm }
    assert.match((await failureOf(mixed, own)).message, /2 dimensions instead of 4/)
  })

const LASTING: readonly (readonly [title: string, body: string, words: RegExp])[] = [
  ['another width', bodyOf('[1,2]'), /2 dimensions instead of 4/],
  ['bits in place of numbers', bodyOf('"AAA="'), /not base64 of float32/],
  ['no data', '{"result":[]}', /without a data array/],
  ['a list', '[]', /not a JSON object/],
  ['a vector under another name', '{"data":[{"index":0,"vector":[1]}]}', /without a vector/],
]
for (const [title, body, words] of LASTING)
  test(`nobody is told to try again after ${title}`, async () => {
    const failure = await failureOf(await answering((_, response) => response.end(body)))
    assert.match(failure.message, words)
    const fault = faultOfFailure(failure, 'm', 1)
    assert.deepEqual([fault.code, fault.mayRetry], ['upstream_broken_answer', false])
  })

test('an answer that was cut off is worth another try', async () => {
  const url = await answering((_, response) => {
    response.writeHead(200, { 'content-length': '500' }).write('{"data":')
    setImmediate(() => response.destroy())
  })
  assert.equal(faultOfFailure(await failureOf(url), 'm', 1).mayRetry, true)
})

test('a redirect is not followed, has cost nothing and is not to be tried again', async () => {
  const url = await answering((_, response) => response.writeHead(307, { location: '/v2' }).end())
  const failure = await failureOf(url)
  assert.match(failure.message, /status 307, a redirect/)
  assert.deepEqual([failure.mayBeCharged, faultOfFailure(failure, 'm', 1).mayRetry], [false, false])
})

const ERRORS_IN_200: readonly (readonly [body: unknown, kind: FailureKind, words: RegExp])[] = [
  [{ error: { message: 'the worker died', type: 'server_error' } }, 'failed', /the worker died/],
  [{ error: 'the worker died' }, 'failed', /the worker died/],
  [{ object: 'error', message: 'too long', code: 'invalid_input' }, 'refused', /too long/],
  [{ error: { message: 'slow down', code: 'rate_limit_exceeded' }, data: null }, 'rateLimited', /slow/],
]
for (const [body, kind, words] of ERRORS_IN_200)
  test(`the error in an answer of 200 is read: ${JSON.stringify(body)}`, async () => {
    const failure = await failureOf(await answering((_, response) => response.end(JSON.stringify(body))))
    assert.deepEqual([failure.kind, failure.detail.status], [kind, 200])
    assert.match(failure.message, words)
  })

test('an answer with two lengths has begun: the upstream was reached, and is not called again', async () => {
  let calls = 0
  const server = createSocketServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      calls += 1
      const body = bodyOf(VECTOR)
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\ncontent-length: 3\r\n\r\n${body}`)
    })
  })
  const failure = await failureOf(await listening(server))
  assert.deepEqual([failure.kind, calls], ['broken', 1])
  assert.equal(failure.mayBeCharged, true)
})

interface Answer {
  readonly status: number
  readonly type?: string
  readonly body: string
}
async function failureOfAnswer({
  status,
  type = 'application/json',
  body,
}: Answer): Promise<UpstreamFailure> {
  return failureOf(
    await answering((_, response) => response.writeHead(status, { 'content-type': type }).end(body)),
  )
}

test('an error in a list is read, and what is about our account is no fault of the caller', async () => {
  const google = {
    error: {
      code: 400,
      message: 'API key not valid.',
      status: 'INVALID_ARGUMENT',
      details: [{ '@type': 'x' }, { reason: 'API_KEY_INVALID' }],
    },
  }
  const plain = await failureOfAnswer({
    status: 400,
    body: JSON.stringify([{ error: { message: 'no such field' } }]),
  })
  assert.deepEqual([plain.kind, plain.message], ['refused', 'no such field'])
  const bill = {
    error: { message: 'x', type: 'image_generation_user_error', code: 'billing_hard_limit_reached' },
  }
  const arrears = { error: { code: 'Arrearage', message: 'pay', type: 'Arrearage' } }
  for (const body of [[google], google, arrears, bill]) {
    const failure = await failureOfAnswer({ status: 400, body: JSON.stringify(body) })
    assert.deepEqual([failure.kind, failure.mayTryAnother], ['rejectedUs', true])
  }
})

test('a firewall in front of an upstream is told from a wrong credential, without the words of its page', async () => {
  const page = '<!DOCTYPE html><title>Access denied</title><p>Error code: 1020. Your IP: 192.0.2.7</p>'
  const pages = [
    [{ status: 403, type: 'text/html', body: page }, 'firewall_1020'],
    [{ status: 403, type: 'text/plain', body: 'error code: 1010' }, 'firewall_1010'],
    [{ status: 403, type: 'text/html; charset=utf-8', body: '<html>Attention Required</html>' }, 'firewall'],
  ] as const
  for (const [answer, code] of pages) {
    const failure = await failureOfAnswer(answer)
    assert.deepEqual([failure.kind, failure.detail.code], ['rejectedUs', code])
    const { message } = faultOfFailure(failure, 'm', 1)
    assert.match(message, /^A firewall in front of .* blocked the gateway's call with 403/)
    assert.doesNotMatch(message, /192\.0\.2\.7|credential/)
  }
  const wrongKey = await failureOfAnswer({
    status: 403,
    body: '{"error":{"message":"error code: 1010 for this key"}}',
  })
  assert.match(faultOfFailure(wrongKey, 'm', 1).message, /rejected the gateway's own credential/)
})

test('a wait that only the words of a 429 name is passed on, and of no other status', async () => {
  const body = '{"error":{"message":"Rate limit reached. Please try again in 12s."}}'
  assert.equal((await failureOfAnswer({ status: 429, body })).detail.retryAfterMs, 12_000)
  assert.equal((await failureOfAnswer({ status: 500, body })).detail.retryAfterMs, undefined)
})
