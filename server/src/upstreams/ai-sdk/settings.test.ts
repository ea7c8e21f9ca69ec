import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Upstream } from '#core/catalog/catalog.ts'
import { valuesOf } from '#core/embedding/vector.ts'
import type { Row } from '#test/support/ai-sdk-calls.ts'
import { callOf, failureOf, rowOf, texts, withUpstream } from '#test/support/ai-sdk-calls.ts'
import type { FakeProvider } from '../../../../lab/fake-provider/server.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'
import { vectorOf } from '../../../../lab/fake-provider/vectors.ts'
import { aiSdkEmbedding } from './embedding.ts'

// What a package could read by itself must be set before the thread starts.
process.env['COHERE_API_KEY'] = 'from-the-environment'
process.env['AWS_BEARER_TOKEN_BEDROCK'] = 'from-the-environment'
process.env['AWS_REGION'] = 'eu-west-1'
process.env['AWS_ENDPOINT_URL'] = 'http://127.0.0.1:1'
process.env['GOOGLE_VERTEX_API_KEY'] = 'from-the-environment'

const cohere = rowOf('Cohere')

let fake: FakeProvider
before(async () => {
  fake = await startFakeProvider()
})
after(() => fake.close())
const at = (scenario: string): string => `${fake.url}/${scenario}`
const upstream = aiSdkEmbedding({ connectTimeoutMs: 1000, answerBytes: 256 * 1024 * 1024 })

describe('credentials come from the configuration alone', () => {
  const absences: [title: string, row: Row, overrides: Partial<Upstream>, message: RegExp][] = [
    ['no key', cohere, { apiKey: undefined }, /^upstreams\.test\.apiKey is not set$/],
    [
      'an unknown provider',
      cohere,
      { provider: 'acme' },
      /upstreams\.test\.provider is "acme"; .*cohere, google/,
    ],
    [
      'a misspelt setting',
      rowOf('Bedrock Titan'),
      { settings: { regoin: 'eu-west-1' } },
      /settings\.regoin is not a setting/,
    ],
    [
      'a model family that does not exist',
      rowOf('Bedrock Titan'),
      { settings: { modelFamily: 'claude' } },
      /settings\.modelFamily is not titan, cohere or nova/,
    ],
    [
      'Bedrock without a region',
      rowOf('Bedrock Titan'),
      { apiKey: undefined },
      /settings\.region is not set/,
    ],
    [
      'Bedrock without an address or a region',
      rowOf('Bedrock Titan'),
      { baseUrl: undefined },
      /settings\.region is not set/,
    ],
    [
      'Bedrock without a secret',
      rowOf('Bedrock Titan'),
      { apiKey: undefined, settings: { region: 'eu-west-1', accessKeyId: 'AKIAFAKE' } },
      /settings\.secretAccessKey is not set/,
    ],
    [
      'Vertex without a project',
      rowOf('Vertex'),
      { apiKey: undefined, settings: { location: 'eu' } },
      /settings\.project is not set/,
    ],
    [
      'Vertex with credentials that can not be read',
      rowOf('Vertex'),
      {
        apiKey: undefined,
        settings: { project: 'p', location: 'eu', googleAuthOptions: { keyFilename: '/nowhere/key.json' } },
      },
      /key\.json/,
    ],
  ]
  for (const [title, row, overrides, message] of absences) {
    it(`${title} is rejectedUs and named`, async () => {
      const before = fake.counters().calls
      const failure = await failureOf(upstream, withUpstream(callOf(row, at('plain')), overrides))
      assert.equal(failure.kind, 'rejectedUs', failure.message)
      assert.match(failure.message, message)
      assert.equal(fake.counters().calls, before)
    })
  }

  it('Bedrock signs with the configured credentials though a bearer token stands in the environment', async () => {
    const settings = { region: 'eu-west-1', accessKeyId: 'AKIAFAKE', secretAccessKey: 'secret' }
    const call = withUpstream(callOf(rowOf('Bedrock Titan'), at('plain')), { apiKey: undefined, settings })
    const { vectors } = await upstream.embed(call)
    assert.deepEqual(vectors.map(valuesOf), [vectorOf('only one', call.width)])
    // The last characters of a signature, not of a token.
    assert.match(fake.entries().at(-1)?.authorization ?? '', /^[0-9a-f]{4}$/)
  })

  it('Vertex gets the token that Google’s auth library fetched', async (test) => {
    const tokens = createServer((request, response) => {
      request.resume()
      const token = { access_token: 'token-from-google-2468', token_type: 'Bearer', expires_in: 3600 }
      const type = 'urn:ietf:params:oauth:token-type:access_token'
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ ...token, issued_token_type: type }))
    }).listen(0, '127.0.0.1')
    await once(tokens, 'listening')
    const directory = mkdtempSync(join(tmpdir(), 'ai-sdk-'))
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
    const call = withUpstream(callOf(rowOf('Vertex'), at('plain')), { apiKey: undefined, settings })
    const { vectors } = await upstream.embed(call)
    assert.equal(vectors.length, texts.length)
    assert.equal(fake.entries().at(-1)?.authorization, '2468')
  })

  it('a new key is used at once', async () => {
    for (const apiKey of ['key-number-0001', 'key-number-0002']) {
      await upstream.embed(withUpstream(callOf(cohere, at('plain')), { apiKey }))
      assert.equal(fake.entries().at(-1)?.authorization, apiKey.slice(-4))
    }
  })

  it('a key that the upstream repeats does not get out', async () => {
    const { message } = await failureOf(
      upstream,
      withUpstream(callOf(rowOf('Google'), at('leaks-key')), { apiKey: 'fw.short' }),
    )
    assert.match(message, /Incorrect API key provided/)
    assert.doesNotMatch(message, /fw\.short/)
  })

  it('configured headers are sent', async () => {
    // The oracle knows one header beside the credential.
    const call = withUpstream(callOf(cohere, at('plain')), {
      headers: { authorization: 'Bearer from-headers-4321' },
    })
    await upstream.embed(call)
    assert.equal(fake.entries().at(-1)?.authorization, '4321')
  })
})
