import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnreachable } from '#ports/store.ts'
import { ADMIN_TOKEN, LOCAL_TOKEN, startControl } from '#test/support/control.ts'
import { memoryDirectory } from '#test/support/directory.ts'
import { assertFault } from '#test/support/errors.ts'

const directory = memoryDirectory()
const { ask, url, audit, faults } = await startControl(directory)

test('a token in another header is none, and no other origin is let in', async () => {
  for (const headers of [{ 'api-key': ADMIN_TOKEN }, { 'x-api-key': ADMIN_TOKEN }, { cookie: ADMIN_TOKEN }])
    assert.equal((await fetch(`${url}/api/v1/keys`, { headers })).status, 401)
  const preflight = await fetch(`${url}/api/v1/keys`, {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.example', 'access-control-request-method': 'GET' },
  })
  assert.equal(preflight.status, 401)
  assert.equal(preflight.headers.get('access-control-allow-origin'), null)
})

test('health and metrics need no token', async () => {
  for (const path of ['/livez', '/readyz', '/metrics'])
    assert.equal((await fetch(`${url}${path}`)).status, 200)
})

test('the audit names whose token it was', async () => {
  await ask('POST', '/projects', { name: 'one' }, ADMIN_TOKEN)
  await ask('POST', '/projects', { name: 'two' }, LOCAL_TOKEN)
  const entries = await audit.list({ limit: 2 })
  assert.deepEqual(
    entries.map(({ actor, target }) => [actor, target]),
    [
      ['local-admin', 'two'],
      ['admin-token', 'one'],
    ],
  )
})

test('the audit is read page by page, newest first', async () => {
  for (const name of ['three', 'four', 'five']) await ask('POST', '/projects', { name })
  const first = await ask('GET', '/audit?limit=2')
  const entries = first.body.data as unknown as { sequence: number; target: string; intact: boolean }[]
  assert.deepEqual(
    entries.map(({ target, intact }) => [target, intact]),
    [
      ['five', true],
      ['four', true],
    ],
  )
  assert.equal(first.body['has_more'], true)
  const next = await ask('GET', `/audit?limit=1&before=${entries[1]?.sequence}`)
  assert.equal((next.body.data as unknown as { target: string }[])[0]?.target, 'three')
})

test('what can not be read is said so', async () => {
  assertFault(await ask('POST', '/keys', '{"project":'), 'invalid_json')
  assertFault(await ask('POST', '/keys', ''), 'invalid_json')
  assertFault(await ask('POST', '/keys', '[]'), 'invalid_parameter')
  assertFault(await ask('POST', '/keys', '{"__proto__": {"project": "x"}}'), 'invalid_json')
  assertFault(await ask('POST', '/keys', JSON.stringify('x'.repeat(2_000_000))), 'body_too_large')
  const form = await fetch(`${url}/api/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'project=p',
  })
  assert.equal(form.status, 415)
  assertFault(await ask('GET', '/nothing'), 'not_found', { words: /GET \/api\/v1\/nothing/ })
})

test('a store that is away is 503, and a fault of our own is 500 and tells nothing', async () => {
  const { keyStore } = directory
  const listKeys = keyStore.listKeys.bind(keyStore)
  keyStore.listKeys = () => Promise.reject(new StoreUnreachable('PostgreSQL: connection refused at 10.0.0.7'))
  const away = await ask('GET', '/keys')
  assertFault(away, 'store_unreachable')
  assert.ok(!away.text.includes('10.0.0.7'))
  keyStore.listKeys = () => Promise.reject(new Error('a private detail'))
  const broken = await ask('GET', '/keys')
  assertFault(broken, 'internal_error')
  assert.ok(!broken.text.includes('private'))
  keyStore.listKeys = listKeys
  const causes = faults.slice(-2).map(({ cause }) => (cause as Error).message)
  assert.deepEqual(causes, ['PostgreSQL: connection refused at 10.0.0.7', 'a private detail'])
})
