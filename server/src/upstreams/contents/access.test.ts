import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { yieldLoop } from '#runtime/event-loop.ts'
import { contentCall, contentRows, type ContentRow } from '#test/support/content-calls.ts'
import { upstreamFailureOf } from '#test/support/upstream-failure.ts'
import { startFakeProvider, type FakeProvider } from '../../../../lab/fake-provider/server.ts'
import { UpstreamHttp } from '../connect/http.ts'
import { contentsUpstream } from './exchange.ts'

const http = new UpstreamHttp({ connectTimeoutMs: 1000, answerBytes: 1024 * 1024, yieldOnSending: yieldLoop })
const upstream = contentsUpstream(http, yieldLoop)
let fake: FakeProvider
before(async () => {
  fake = await startFakeProvider()
})
after(async () => {
  await http.close()
  await fake.close()
})
const at = (scenario: string): string => `${fake.url}/${scenario}`

function rowOf(title: string): ContentRow {
  return contentRows.find((row) => row.title === title) ?? assert.fail(title)
}

interface Received {
  readonly headers: IncomingMessage['headers']
  readonly path: string
  readonly body: Buffer
}

/** One request as it arrived. */
async function received(ask: (address: string) => Promise<unknown>): Promise<Received> {
  const { promise, resolve } = Promise.withResolvers<Received>()
  const server = createServer((request, response) => {
    void (async () => {
      const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>))
      resolve({ headers: request.headers, path: request.url ?? '', body })
      response.writeHead(500).end()
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    return await promise
  } finally {
    server.close()
  }
}

const hex = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Amazon's Signature Version 4, written out from its documentation. */
function signatureOf(
  { headers, path, body }: Received,
  { secret, region }: { secret: string; region: string },
): string {
  const time = String(headers['x-amz-date'])
  const day = time.slice(0, 8)
  const signed = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1] ?? assert.fail()
  const lines = signed.split(';').map((name) => `${name}:${String(headers[name])}`)
  // Each segment of the path is encoded once more than it was sent.
  const encoded = path.split('/').map(encodeURIComponent).join('/')
  const canonical = ['POST', encoded, '', ...lines, '', signed, hex(body)].join('\n')
  const scope = `${day}/${region}/bedrock/aws4_request`
  const key = [region, 'bedrock', 'aws4_request'].reduce(hmac, hmac(`AWS4${secret}`, day))
  return hmac(key, ['AWS4-HMAC-SHA256', time, scope, hex(canonical)].join('\n')).toString('hex')
}

describe('credentials', () => {
  for (const title of ['Titan', 'Nova, image', 'Cohere on Bedrock']) {
    it(`${title}: a body that is streamed is signed for Bedrock`, async () => {
      const settings = { region: 'eu-west-1', accessKeyId: 'AKIAFAKE', secretAccessKey: 'secret' }
      const credentials = { apiKey: undefined, settings: { ...settings, sessionToken: 'session' } }
      const request = await received((address) =>
        upstreamFailureOf(upstream.embed(contentCall(rowOf(title), address, {}, credentials))),
      )
      const { headers, body } = request
      assert.equal(headers['x-amz-content-sha256'], hex(body))
      assert.equal(headers['x-amz-security-token'], 'session')
      const signature = signatureOf(request, { secret: 'secret', region: 'eu-west-1' })
      assert.match(headers.authorization ?? '', new RegExp(`Credential=AKIAFAKE/.*Signature=${signature}$`))
    })
  }

  it('Vertex gets the token that Google’s auth library fetched', async (test) => {
    const tokens = createServer((request, response) => {
      request.resume()
      const token = { access_token: 'token-from-google-2468', token_type: 'Bearer', expires_in: 3600 }
      const type = 'urn:ietf:params:oauth:token-type:access_token'
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ ...token, issued_token_type: type }))
    }).listen(0, '127.0.0.1')
    await once(tokens, 'listening')
    const directory = mkdtempSync(join(tmpdir(), 'contents-'))
    test.after(() => {
      tokens.close()
      rmSync(directory, { recursive: true })
    })
    const file = join(directory, 'subject-token')
    writeFileSync(file, 'subject')
    const credentials = {
      type: 'external_account',
      audience: 'here',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `http://127.0.0.1:${(tokens.address() as AddressInfo).port}/token`,
      credential_source: { file },
    }
    const settings = { project: 'p', location: 'eu', googleAuthOptions: { credentials } }
    const call = contentCall(rowOf('Vertex'), at('plain'), {}, { apiKey: undefined, settings })
    await upstream.embed(call)
    assert.equal(fake.entries().find(({ callId }) => callId === call.callId)?.authorization, '2468')
  })

  it('a call has its id, its trace and the operator’s headers', async () => {
    const { headers } = await received((address) =>
      upstreamFailureOf(
        upstream.embed(
          contentCall(
            rowOf('Voyage'),
            address,
            { callId: 'call-1', traceHeaders: ['traceparent', '00-1'] },
            { headers: { 'x-team': 'search' } },
          ),
        ),
      ),
    )
    const { traceparent, 'x-torana-call-id': id, 'x-team': team, authorization } = headers
    assert.deepEqual(
      [id, traceparent, team, authorization],
      ['call-1', '00-1', 'search', 'Bearer fake-key-9876'],
    )
  })

  const absences: readonly [title: string, row: string, upstream: object, message: RegExp][] = [
    ['a key', 'Cohere', { apiKey: undefined }, /upstreams\.test\.apiKey is not set/],
    [
      'a project',
      'Vertex',
      { apiKey: undefined, settings: { location: 'eu' } },
      /settings\.project is not set/,
    ],
    [
      'a secret',
      'Titan',
      { apiKey: undefined, settings: { region: 'eu-west-1', accessKeyId: 'A' } },
      /settings\.secretAccessKey is not set/,
    ],
    ['an address', 'Infinity', { baseUrl: undefined }, /baseUrl is not set/],
    [
      'credentials that can be read',
      'Vertex',
      {
        apiKey: undefined,
        settings: { project: 'p', location: 'eu', googleAuthOptions: { keyFilename: '/nowhere/key.json' } },
      },
      /key\.json/,
    ],
  ]
  for (const [title, row, overrides, message] of absences) {
    it(`without ${title} nothing is sent`, async () => {
      const before = fake.counters().calls
      const call = contentCall(rowOf(row), at('plain'), {}, overrides)
      const failure = await upstreamFailureOf(upstream.embed(call))
      assert.equal(failure.kind, 'rejectedUs', failure.message)
      assert.match(failure.message, message)
      assert.equal(fake.counters().calls, before)
    })
  }

  it('a key that the upstream repeats does not get out', async () => {
    const call = contentCall(rowOf('Gemini'), at('leaks-key'), {}, { apiKey: 'fw.short' })
    const { message } = await upstreamFailureOf(upstream.embed(call))
    assert.match(message, /Incorrect API key provided/)
    assert.doesNotMatch(message, /fw\.short/)
  })
})
