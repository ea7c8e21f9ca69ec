import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { Agent, fetch as undiciFetch } from 'undici'
import type { FailureKind } from '#core/fault/failure.ts'
import type { Row } from '#test/support/ai-sdk-calls.ts'
import { callOf, failureOf, rowOf, withUpstream } from '#test/support/ai-sdk-calls.ts'
import type { FakeProvider } from '../../../../lab/fake-provider/server.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'
import { aiSdkEmbedding } from './embedding.ts'
import { aiSdkExchange } from './exchange.ts'

const cohere = rowOf('Cohere')

let fake: FakeProvider
before(async () => {
  fake = await startFakeProvider()
})
after(() => fake.close())
const at = (scenario: string): string => `${fake.url}/${scenario}`
const upstream = aiSdkEmbedding({ connectTimeoutMs: 1000, answerBytes: 256 * 1024 * 1024 })

describe('errors in a provider’s own words', () => {
  const google = (reason: string) => ({
    error: {
      code: 400,
      message: 'API key not valid.',
      status: 'INVALID_ARGUMENT',
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason }],
    },
  })
  const retryInfo = {
    error: { code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '34.5s' }] },
  }
  const errors: [
    title: string,
    row: Row,
    status: number,
    headers: Record<string, string>,
    body: unknown,
    kind: FailureKind,
    retryAfterMs?: number,
  ][] = [
    ['Cohere: an invalid token', cohere, 498, {}, { message: 'invalid token' }, 'rejectedUs'],
    ['Google: a wrong key is a 400', rowOf('Google'), 400, {}, google('API_KEY_INVALID'), 'rejectedUs'],
    ['Google: another 400 is the caller’s', rowOf('Google'), 400, {}, google('SOMETHING'), 'refused'],
    [
      'Google: billing is off',
      rowOf('Google'),
      400,
      {},
      { error: { code: 400, message: 'x', status: 'FAILED_PRECONDITION' } },
      'rejectedUs',
    ],
    ['Google: when to come back', rowOf('Google'), 429, {}, retryInfo, 'rateLimited', 34_500],
    [
      'Google: when to come back, in words alone',
      rowOf('Google'),
      429,
      {},
      { error: { code: 429, message: 'Quota. Please retry in 13.2s.', status: 'RESOURCE_EXHAUSTED' } },
      'rateLimited',
      13_200,
    ],
    [
      'Vertex: no permission',
      rowOf('Vertex'),
      403,
      {},
      { error: { code: 403, message: 'x', status: 'PERMISSION_DENIED' } },
      'rejectedUs',
    ],
    [
      'Bedrock: the model timed out',
      rowOf('Bedrock Titan'),
      408,
      { 'x-amzn-errortype': 'ModelTimeoutException' },
      { message: 'x' },
      'timedOut',
    ],
    [
      'Bedrock: the model failed',
      rowOf('Bedrock Titan'),
      424,
      { 'x-amzn-errortype': 'ModelErrorException' },
      { message: 'x' },
      'failed',
    ],
    [
      'Bedrock: no quota',
      rowOf('Bedrock Titan'),
      400,
      { 'x-amzn-errortype': 'ServiceQuotaExceededException:http://x' },
      { message: 'x' },
      'rejectedUs',
    ],
    [
      'Alibaba: an unpaid bill',
      rowOf('Alibaba'),
      400,
      {},
      { code: 'Arrearage', message: 'x', request_id: 'r' },
      'rejectedUs',
    ],
    [
      'Alibaba: content refused',
      rowOf('Alibaba'),
      400,
      {},
      { code: 'DataInspectionFailed', message: 'x' },
      'contentRefused',
    ],
    [
      'Voyage: milliseconds to wait',
      rowOf('Voyage'),
      429,
      { 'retry-after-ms': '250' },
      { detail: 'slow down' },
      'rateLimited',
      250,
    ],
    ['no body at all', cohere, 502, {}, '', 'failed'],
    [
      '200 with vectors of words',
      rowOf('Mistral'),
      200,
      {},
      { data: [{ embedding: ['a'], index: 0 }] },
      'broken',
    ],
  ]
  for (const [title, row, status, headers, body, kind, retryAfterMs] of errors) {
    it(`${title}: ${kind}`, async () => {
      const server = createServer((request, response) => {
        request.resume()
        response.writeHead(status, { 'content-type': 'application/json', ...headers })
        response.end(body === '' ? '' : JSON.stringify(body))
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const call = withUpstream(callOf(row, at('plain')), { baseUrl: `http://127.0.0.1:${port}` })
      const failure = await failureOf(upstream, call).finally(() => server.close())
      assert.deepEqual(
        [failure.kind, failure.detail.status, failure.detail.retryAfterMs],
        [kind, status, retryAfterMs],
      )
      if (kind === 'broken') assert.equal(failure.detail.isLasting, true)
    })
  }

  it('a redirect is not followed: the key stays with its upstream', async () => {
    const server = createServer((request, response) => {
      request.resume()
      response.writeHead(307, { location: `${fake.url}/plain/google/v1beta${request.url}` }).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const before = fake.counters().calls
    const { port } = server.address() as AddressInfo
    const call = withUpstream(callOf(rowOf('Google'), at('plain')), { baseUrl: `http://127.0.0.1:${port}` })
    const failure = await failureOf(upstream, call).finally(() => server.close())
    assert.deepEqual([failure.kind, failure.detail.status], ['broken', 307])
    assert.deepEqual([failure.mayBeCharged, failure.detail.isLasting], [false, true])
    assert.equal(fake.counters().calls, before)
  })

  it('a port that nobody listens on is unreachable', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const failure = await failureOf(
      upstream,
      withUpstream(callOf(cohere, at('plain')), { baseUrl: `http://127.0.0.1:${port}` }),
    )
    assert.equal(failure.kind, 'unreachable')
    assert.equal(failure.message, 'connection refused')
    assert.match(failure.reason, /ECONNREFUSED/)
  })

  it('an answer larger than we read is broken', async () => {
    const dispatcher = new Agent({ maxResponseSize: 1000 })
    const send = undiciFetch as unknown as (input: unknown, init: unknown) => Promise<Response>
    const exchange = aiSdkExchange((input, init) => send(input, { ...init, dispatcher }))
    await assert.rejects(exchange(callOf(cohere, at('plain'))), {
      kind: 'broken',
      message: /larger than we read/,
    })
    await dispatcher.close()
  })
})
