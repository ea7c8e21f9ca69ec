import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCredentials } from '#worker/keys/credentials.ts'
import { startControl } from '#test/support/control.ts'
import { postgresDirectory } from '#test/support/directory.ts'
import { assertFault } from '#test/support/errors.ts'

const { ask, credentials, catalog, audit } = await startControl(await postgresDirectory()())
const secret = 'sk-the-credential-of-openai'

const apiKeys = async () => {
  const { catalog: given, problems } = await withCredentials(catalog, credentials)
  assert.deepEqual(problems, [])
  assert.equal(given.models.get('small'), given.models.get('text-embedding-3-small'))
  return given.models.get('small')?.deployments.map(({ upstream }) => upstream.apiKey)
}

test('a stored credential serves the upstream it was stored for, and is never shown', async () => {
  assert.deepEqual(await apiKeys(), [undefined, 'in-the-file'])
  const stored = await ask('PUT', '/credentials/openai', { secret })
  assert.equal(stored.status, 200, stored.text)
  const listed = await ask('GET', '/credentials')
  assert.deepEqual(
    listed.body.data.map((entry) => ({ ...entry, updated_at: undefined })),
    [
      {
        upstream: 'openai',
        base_url: 'https://api.openai.com/v1',
        source: 'store',
        stored_for: 'https://api.openai.com/v1',
        updated_at: undefined,
      },
      {
        upstream: 'keyed',
        base_url: 'https://keyed.example/v1',
        source: 'configuration',
        stored_for: null,
        updated_at: undefined,
      },
    ],
  )
  for (const { text } of [stored, listed, await ask('GET', '/audit')]) assert.ok(!text.includes(secret))
  assert.deepEqual(await apiKeys(), [secret, 'in-the-file'])
  assert.equal((await audit.list({ limit: 1 }))[0]?.action, 'credential.put')
})

test('a credential that was stored for another address is not given out', async () => {
  await credentials.put(
    { upstream: 'openai', baseUrl: 'https://elsewhere.example/v1', secret },
    { kind: 'member', name: 'tester' },
  )
  assert.deepEqual(await apiKeys(), [undefined, 'in-the-file'])
  const { data } = (await ask('GET', '/credentials')).body
  const [openai] = data as unknown as { source: string; stored_for: string }[]
  assert.deepEqual([openai?.source, openai?.stored_for], ['none', 'https://elsewhere.example/v1'])
})

test('null forgets it', async () => {
  await ask('PUT', '/credentials/openai', { secret })
  assert.equal((await ask('PUT', '/credentials/openai', { secret: null })).body['source'], 'none')
  assert.deepEqual(await apiKeys(), [undefined, 'in-the-file'])
})

test('an upstream that is not there, or has its credential in the file, takes none', async () => {
  assertFault(await ask('PUT', '/credentials/nobody', { secret }), 'not_found')
  assertFault(await ask('PUT', '/credentials/keyed', { secret }), 'conflict', {
    words: /apiKey in torana\.yaml/,
  })
  assertFault(await ask('PUT', '/credentials/openai', { secret: '' }), 'invalid_parameter')
  assertFault(await ask('PUT', '/credentials/openai', {}), 'invalid_parameter')
})
