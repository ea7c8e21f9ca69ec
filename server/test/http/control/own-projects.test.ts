/** A developer has the projects that were given to it, and no others. */
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { DEVELOPER_TOKEN, startControl } from '#test/support/control.ts'
import { memoryDirectory, someSecret } from '#test/support/directory.ts'
import { assertFault } from '#test/support/errors.ts'

const { ask, keyStore, audit } = await startControl(memoryDirectory())
const asDeveloper = (method: string, path: string, body?: unknown) => ask(method, path, body, DEVELOPER_TOKEN)
const admin = { kind: 'member', name: 'admin' } as const

await keyStore.createProject(
  'search',
  {
    limits: { requestsPerMinute: 100 },
    budget: { limitNanoUsd: 50_000_000_000n, per: 'month', hard: true },
  },
  admin,
)
await keyStore.createKey({ project: 'ads', name: 'website', secret: someSecret().stored }, admin)

let made = 0
let name = ''
beforeEach(async () => {
  made += 1
  name = `key-${made}`
  await keyStore.createKey({ project: 'search', name, secret: someSecret().stored }, admin)
})

interface Listed {
  readonly data: readonly { readonly project?: string; readonly name: string }[]
}

test('lists hold rows of the own projects alone, declared ones too', async () => {
  const keys = (await asDeveloper('GET', '/keys')).body as unknown as Listed
  assert.deepEqual([...new Set(keys.data.map(({ project }) => project))], ['search'])
  const projects = (await asDeveloper('GET', '/projects')).body as unknown as Listed
  assert.deepEqual(
    projects.data.map((project) => project.name),
    ['search'],
  )
  const all = (await ask('GET', '/projects')).body as unknown as Listed
  assert.deepEqual(
    all.data.map((project) => project.name),
    ['ads', 'declared', 'search'],
  )
  assertFault(await asDeveloper('GET', '/keys?project=ads'), 'forbidden', { words: /no member/ })
})

test('keys are made, changed, rotated and revoked in the own project', async () => {
  const created = await asDeveloper('POST', '/keys', { project: 'search', name: `${name}-new` })
  assert.equal(created.status, 201)
  assert.equal((await asDeveloper('PATCH', `/keys/search/${name}`, { models: null })).status, 200)
  assert.equal((await asDeveloper('POST', `/keys/search/${name}/rotate`, {})).status, 200)
  assert.equal((await asDeveloper('DELETE', `/keys/search/${name}`)).status, 200)
  const [last] = await audit.list({ limit: 1 })
  assert.deepEqual([last?.actor, last?.address, last?.action], ['dev@example.com', '127.0.0.1', 'key.revoke'])
})

test('keys of another project are not there, whether they exist or not', async () => {
  for (const key of ['ads/website', 'ads/nothing', 'declared/ci']) {
    assertFault(await asDeveloper('PATCH', `/keys/${key}`, {}), 'not_found')
    assertFault(await asDeveloper('POST', `/keys/${key}/rotate`, {}), 'not_found')
    assertFault(await asDeveloper('DELETE', `/keys/${key}`), 'not_found')
  }
  assertFault(await asDeveloper('POST', '/keys', { project: 'ads', name: 'mine' }), 'forbidden')
  assertFault(await asDeveloper('POST', '/keys', { project: 'new', name: 'mine' }), 'forbidden')
  const [key] = await keyStore.listKeys({ projects: ['ads'], limit: 10 })
  assert.equal(key?.revokedAtMs, undefined)
})

test('a key gets no more than its project has, unless an admin says so', async () => {
  const tooMany = { limits: { requests_per_minute: 101 } }
  const tooDear = { budget: { usd: '50.000000001', per: 'day' } }
  const allowed = { limits: { requests_per_minute: 100, tokens_per_minute: 9 }, budget: { usd: 50 } }
  for (const [terms, param] of [
    [tooMany, 'limits.requests_per_minute'],
    [tooDear, 'budget.usd'],
  ] as const) {
    const created = await asDeveloper('POST', '/keys', { project: 'search', name: `${name}-new`, ...terms })
    assertFault(created, 'invalid_parameter', { param, words: /the project search/ })
    assertFault(await asDeveloper('PATCH', `/keys/search/${name}`, terms), 'invalid_parameter', { param })
    assert.equal((await ask('PATCH', `/keys/search/${name}`, terms)).status, 200)
  }
  assert.equal((await asDeveloper('PATCH', `/keys/search/${name}`, allowed)).status, 200)
})

/** Every restriction of a key, as an admin set it, and each way to lift it. */
const BOUND = {
  models: ['small'],
  scopes: ['embeddings'],
  addresses: ['10.0.0.0/8'],
  max_calls_at_once: 2,
  expires_at: '2100-01-01T00:00:00Z',
  budget: { usd: '1', per: 'day', hard: true },
  limits: { requests_per_minute: 5 },
}
const LIFTED: readonly (readonly [param: string, change: Record<string, unknown>])[] = [
  ['models', { models: null }],
  ['scopes', { scopes: null }],
  ['scopes', { scopes: ['embeddings', 'images'] }],
  ['addresses', { addresses: null }],
  ['max_calls_at_once', { max_calls_at_once: null }],
  ['max_calls_at_once', { max_calls_at_once: 3 }],
  ['expires_at', { expires_at: null }],
  ['expires_at', { expires_at: '2100-01-02T00:00:00Z' }],
  ['budget', { budget: null }],
  ['budget', { budget: { usd: '2', per: 'day', hard: true } }],
  ['budget', { budget: { usd: '1', per: 'day', hard: false } }],
  ['limits.requests_per_minute', { limits: { requests_per_minute: null } }],
  ['limits.requests_per_minute', { limits: { requests_per_minute: 6 } }],
]
for (const [param, change] of LIFTED)
  test(`a developer does not lift what an admin set on a key: ${JSON.stringify(change)}`, async () => {
    assert.equal((await ask('PATCH', `/keys/search/${name}`, BOUND)).status, 200)
    const refused = await asDeveloper('PATCH', `/keys/search/${name}`, change)
    assertFault(refused, 'forbidden', { param, words: /keys\.loosen.*admin/ })
    const { body } = await ask('GET', `/keys/search/${name}`)
    assert.deepEqual((body as Record<string, unknown>)['models'], BOUND.models)
    assert.equal((await ask('PATCH', `/keys/search/${name}`, change)).status, 200)
  })

test('a developer binds a key more tightly', async () => {
  assert.equal((await ask('PATCH', `/keys/search/${name}`, BOUND)).status, 200)
  const tighter = {
    limits: { requests_per_minute: 4, tokens_per_minute: 9 },
    budget: { usd: '0.5', per: 'month', hard: true },
    expires_at: '2099-12-31T00:00:00Z',
    max_calls_at_once: 1,
  }
  assert.equal((await asDeveloper('PATCH', `/keys/search/${name}`, tighter)).status, 200)
})

test('a key does not make a project that only admins may make', async () => {
  const planned = await asDeveloper('POST', '/keys', { project: 'planned', name: 'mine' })
  assertFault(planned, 'not_found', { words: /no project planned.*admin/ })
  assert.deepEqual(await keyStore.listProjects({ projects: ['planned'], limit: 1 }), [])
  assert.equal((await ask('POST', '/keys', { project: 'planned', name: 'ours' })).status, 201)
  assert.equal((await asDeveloper('POST', '/keys', { project: 'planned', name: 'mine' })).status, 201)
})
