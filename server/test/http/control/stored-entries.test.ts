/** What upstreams of the store may hold, who reads it, and where a key goes: nodes on one PostgreSQL. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Client } from 'pg'
import { ADMIN_TOKEN, asAdmin } from '#test/support/control.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'
import { testPostgres } from '#test/support/servers.ts'

const postgres = await testPostgres()
const env = {
  DATABASE_URL: postgres.url,
  TORANA_ADMIN_TOKEN: ADMIN_TOKEN,
  TORANA_SECRET: 'a secret that both nodes share 05',
}
const one = await startGateway({ models: { 'declared-w8': { on: 'plain' } }, env })

const CANARY = 'a-canary-of-these-tests'
const vertex = { project: 'p', location: 'europe-west4' }
const openai = { dialect: 'openai', baseUrl: 'https://api.example.com/v1' }
const REFUSED: readonly (readonly [field: string, entry: Readonly<Record<string, unknown>>])[] = [
  [
    'settings.googleAuthOptions',
    {
      provider: 'google-vertex',
      settings: {
        ...vertex,
        googleAuthOptions: { credentials: { type: 'external_account', token_url: CANARY } },
      },
    },
  ],
  ['settings.keyFile', { provider: 'google-vertex', settings: { ...vertex, keyFile: CANARY } }],
  ['settings.keyFilename', { provider: 'google-vertex', settings: { ...vertex, keyFilename: CANARY } }],
  [
    'settings.clientOptions',
    { provider: 'google-vertex', settings: { ...vertex, clientOptions: { key: CANARY } } },
  ],
  ['settings.project', { provider: 'google-vertex', settings: { ...vertex, project: { key: CANARY } } }],
  ['settings.embeddingBaseURL', { provider: 'alibaba', settings: { embeddingBaseURL: CANARY } }],
  ['settings.baseURL', { provider: 'cohere', settings: { baseURL: CANARY } }],
  ['baseUrl', { provider: 'google-vertex', settings: vertex, baseUrl: `https://${CANARY}.test` }],
  ['headers.x-auth', { ...openai, headers: { 'x-auth': CANARY } }],
  ['headers.x-goog-iam-auth', { ...openai, headers: { 'x-goog-iam-auth': CANARY } }],
  ['headers.ocp-apim-sub', { ...openai, headers: { 'ocp-apim-sub': CANARY } }],
]

for (const [field, entry] of REFUSED)
  test(`an entry of the store with ${field} is refused with a way out, and its value is read nowhere`, async () => {
    const change = { object: 'upstream', name: 'leaky', entry, base: null }
    const { asked } = await asAdmin(one, 'POST', '/configuration/changes', { changes: [change] })
    assertFault(asked, 'invalid_parameter', {
      words: new RegExp(
        `upstreams\\.leaky\\.${field.replaceAll('.', '\\.')}: (?!.*${CANARY}).*(torana\\.yaml|expected)`,
        's',
      ),
    })
    for (const path of ['/upstreams', '/configuration/changes', '/audit', '/configuration/export'])
      assert.ok(!(await asAdmin(one, 'GET', path)).text.includes(CANARY), path)
  })

test('plain headers and the settings that say where an upstream is are taken', async () => {
  const entries = {
    vertex: { provider: 'google-vertex', settings: vertex },
    bedrock: { provider: 'amazon-bedrock', settings: { region: 'eu-central-1', modelFamily: 'cohere' } },
    titled: { ...openai, headers: { 'X-Title': 'shop', 'openai-organization': 'org-1' } },
  }
  const changes = Object.entries(entries).map(([name, entry]) => ({
    object: 'upstream',
    name,
    entry,
    base: null,
  }))
  const { status, text } = await asAdmin(one, 'POST', '/configuration/changes', { changes })
  assert.equal(status, 201, text)
})

test('an entry that is in the store all the same is not opened, and a change of it has to make it right', async () => {
  const database = new Client({ connectionString: postgres.url })
  await database.connect()
  const entry = { ...openai, headers: { 'x-auth': CANARY } }
  await database.query(
    `INSERT INTO configuration_objects (object, name, entry, revision, changed_by) VALUES ('upstream', 'old', $1, 1, 'alice')`,
    [JSON.stringify(entry)],
  )
  await database.end()
  const change = { object: 'upstream', name: 'old', base: '1' }
  const still = { ...entry, headers: { ...entry.headers, 'x-title': 'shop' } }
  const { asked } = await asAdmin(one, 'POST', '/configuration/changes', {
    changes: [{ ...change, entry: still }],
  })
  assertFault(asked, 'invalid_parameter', {
    words: /upstreams\.old\.headers\.x-auth: the store keeps no secret/,
  })
  const { body } = await asAdmin<{ data: { name: string }[] }>(one, 'GET', '/upstreams')
  assert.ok(!body.data.some(({ name }) => name === 'old'))
  const { status, text } = await asAdmin(one, 'POST', '/configuration/changes', {
    changes: [{ ...change, entry: openai }],
  })
  assert.equal(status, 201, text)
})

test('the check of a declared upstream asks its own address, whatever the store has under that name', async () => {
  const seen: string[] = []
  const other = createServer((request, response) => {
    seen.push(`${request.url ?? ''} ${request.headers.authorization ?? ''}`)
    response.end('{"data": []}')
  }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const made = await asAdmin(one, 'POST', '/upstreams', {
    name: 'slow-20',
    base_url: `http://127.0.0.1:${port}/v1`,
  })
  assert.equal(made.status, 201, made.text)
  const two = await startGateway({ models: { 'declared-w8': { on: 'slow-20' } }, env })
  const { body, text } = await asAdmin<{ ok: boolean }>(two, 'POST', '/upstreams/check', {
    upstream: 'slow-20',
  })
  other.close()
  assert.deepEqual(seen, [], 'a key of torana.yaml went to the address of the store')
  assert.equal(body.ok, true, text)
})

test('a stored upstream that no model uses yet takes its secret, and is listed with it', async () => {
  await asAdmin(one, 'POST', '/upstreams', { name: 'fresh', base_url: 'https://api.example.com/v1' })
  const secret = 'sk-of-an-upstream-without-a-model'
  const { status, text } = await asAdmin(one, 'PUT', '/credentials/fresh', { secret })
  assert.equal(status, 200, text)
  const { body } = await asAdmin<{ data: { upstream: string; source: string }[] }>(one, 'GET', '/credentials')
  assert.equal(body.data.find(({ upstream }) => upstream === 'fresh')?.source, 'store')
  const nowhere = await asAdmin(one, 'PUT', '/credentials/nowhere', { secret })
  assertFault(nowhere.asked, 'not_found', { words: /There is no upstream nowhere/ })
})
