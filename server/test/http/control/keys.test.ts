import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyForm } from '#core/keys/key.ts'
import { DECLARED_SECRET, startControl } from '#test/support/control.ts'
import { digested, postgresDirectory } from '#test/support/directory.ts'
import { assertFault } from '#test/support/errors.ts'

const control = await startControl(await postgresDirectory()())
const { ask, keyStore } = control

const make = (body: object) => ask('POST', '/keys', body)
const find = (secret: unknown) => keyStore.findKey([digested(String(secret)).digest])

test('a new key is shown once and works', async () => {
  const made = await make({
    project: 'search',
    name: 'ci',
    models: ['text-embedding-3-small'],
    scopes: ['embeddings'],
    max_calls_at_once: 4,
    addresses: ['10.0.0.0/8'],
    expires_at: '2099-01-31',
    limits: { requests_per_minute: 60 },
    budget: { usd: 0.1, hard: true },
  })
  assert.equal(made.status, 201, made.text)
  const { secret, created_at: createdAt, secrets, ...rest } = made.body
  assert.equal(keyForm(String(secret)), 'torana')
  assert.deepEqual(rest, {
    id: 'search/ci',
    project: 'search',
    name: 'ci',
    managed_by: 'store',
    managed_at: null,
    models: ['text-embedding-3-small'],
    scopes: ['embeddings'],
    max_calls_at_once: 4,
    addresses: ['10.0.0.0/8'],
    limits: { requests_per_minute: 60 },
    budget: { usd: '0.100000000', per: 'month', hard: true },
    expires_at: '2099-01-31T00:00:00.000Z',
    revoked_at: null,
    leaked: false,
    first_used_at: null,
    last_used_at: null,
    notes: [],
  })
  assert.ok(Date.parse(String(createdAt)) > 0)
  assert.equal((secrets as { pepper: string }[])[0]?.pepper, 'current')
  assert.equal((await find(secret))?.budget?.limitNanoUsd, 100_000_000n)
  assert.equal(made.headers.get('cache-control'), 'no-store')
  const listed = await ask('GET', '/keys?project=search')
  assert.ok(!listed.text.includes(String(secret)))
  assert.deepEqual(
    listed.body.data.map((key) => (key as unknown as { id: string }).id),
    ['search/ci'],
  )
})

test('a key brought from elsewhere keeps its form, and is not shown', async () => {
  const secret = 'sk-brought-from-elsewhere-01'
  const made = await make({ project: 'search', name: 'brought', secret })
  assert.equal(made.status, 201, made.text)
  assert.ok(!made.text.includes(secret))
  assert.equal((await find(secret))?.id, 'search/brought')
})

const refusals: [title: string, body: object, param: string | null, words: RegExp][] = [
  ['a short secret', { secret: 'short' }, 'secret', /24 characters/],
  ['a secret of one character', { secret: 'a'.repeat(40) }, 'secret', /8 different characters/],
  ['a model with a NUL', { models: ['a\0'] }, 'models.0', /NUL/],
  ['a cut secret', { secret: 'tr_cut' }, 'secret', /checksum/],
  [
    'a secret that another key has',
    { secret: 'sk-brought-from-elsewhere-01' },
    null,
    /another key|Another key/,
  ],
  ['a secret of the configuration', { secret: DECLARED_SECRET }, 'secret', /another key/],
  [
    'a model that is not there',
    { models: ['text-embedding-3-smal'] },
    'models',
    /mean text-embedding-3-small/,
  ],
  ['an expiry that has passed', { expires_at: '2020-01-01' }, 'expires_at', /has passed/],
  ['an expiry that is no time', { expires_at: 'tomorrow' }, 'expires_at', /2027-01-31/],
  ['an expiry that is no day', { expires_at: '2099-13-01' }, 'expires_at', /calendar/],
  ['a name with a slash', { name: 'a/b' }, 'name', /letters, digits/],
  ['a project with a slash', { project: 'a/b' }, 'project', /letters, digits/],
  ['the built-in project', { project: 'system' }, null, /built-in/],
  ['no name', { name: undefined }, 'name', /./],
  ['no models at all', { models: [] }, 'models', /./],
  ['a scope that does not exist', { scopes: ['chat'] }, 'scopes.0', /embeddings/],
  ['no scope at all', { scopes: [] }, 'scopes', /./],
  ['no call at once', { max_calls_at_once: 0 }, 'max_calls_at_once', /./],
  ['a name for an address', { addresses: ['localhost'] }, 'addresses.0', /192\.0\.2\.7/],
  ['a network of everybody', { addresses: ['0.0.0.0/0'] }, 'addresses.0', /10\.0\.0\.0\/8/],
  ['a limit of zero', { limits: { requests_per_minute: 0 } }, 'limits.requests_per_minute', /./],
  ['a limit with a fraction', { limits: { tokens_per_minute: 1.5 } }, 'limits.tokens_per_minute', /./],
  ['a limit that does not exist', { limits: { requestsPerMinute: 5 } }, 'limits', /requestsPerMinute/],
  ['a budget without an amount', { budget: { hard: true } }, 'budget.usd', /./],
  ['a budget with ten decimals', { budget: { usd: 0.0000000001 } }, 'budget.usd', /nine decimals/],
  ['a field that does not exist', { colour: 'red' }, null, /colour/],
  ['a key of the configuration', { project: 'declared', name: 'ci' }, null, /torana\.yaml/],
]
for (const [title, body, param, words] of refusals) {
  test(`${title} is refused, and nothing is made`, async () => {
    const before = await keyStore.directoryVersion()
    const answer = await make({ project: 'refused', name: 'k', ...body })
    assertFault(answer, param === null && !('colour' in body) ? 'conflict' : 'invalid_parameter', {
      param,
      words,
    })
    assert.equal(await keyStore.directoryVersion(), before)
  })
}

test('an id is taken once, also after the key was revoked', async () => {
  const body = { project: 'search', name: 'once' }
  assert.equal((await make(body)).status, 201)
  assertFault(await make(body), 'conflict', { words: /Key search\/once already exists/ })
  assert.equal((await ask('DELETE', '/keys/search/once')).status, 200)
  assertFault(await make(body), 'conflict', { words: /Key search\/once already exists/ })
})

test('what is left out stays, null takes away', async () => {
  await make({ project: 'search', name: 'set', models: ['small'], budget: { usd: 5 } })
  const changed = await ask('PATCH', '/keys/search/set', {
    limits: { tokens_per_minute: 5000 },
    expires_at: '2099-01-01T12:00:00+02:00',
  })
  assert.equal(changed.status, 200, changed.text)
  assert.deepEqual(
    [changed.body['models'], changed.body['limits'], changed.body['expires_at']],
    [['small'], { tokens_per_minute: 5000 }, '2099-01-01T10:00:00.000Z'],
  )
  const emptied = await ask('PATCH', '/keys/search/set', {
    limits: { tokens_per_minute: null },
    models: null,
    budget: null,
    expires_at: null,
  })
  assert.deepEqual(
    ['models', 'limits', 'budget', 'expires_at'].map((field) => emptied.body[field]),
    [null, {}, null, null],
  )
  assertFault(await ask('PATCH', '/keys/search/set', { models: ['nothing'] }), 'invalid_parameter')
})

test('a rotated key has two secrets until the overlap ends', async () => {
  const { secret: before } = (await make({ project: 'search', name: 'rotated' })).body
  const rotated = await ask('POST', '/keys/search/rotated/rotate', { overlap_seconds: 3600 })
  assert.equal(rotated.status, 200, rotated.text)
  const { secret } = rotated.body
  assert.notEqual(secret, before)
  assert.equal((await find(secret))?.id, 'search/rotated')
  assert.equal((await find(before))?.id, 'search/rotated')
  const secrets = rotated.body['secrets'] as { valid_until: string | null; tail: string }[]
  assert.equal(secrets[0]?.valid_until, null)
  assert.ok(Math.abs(Date.parse(secrets[1]?.valid_until ?? '') - Date.now() - 3_600_000) < 60_000)
  assert.equal((await ask('POST', '/keys/search/rotated/rotate', { overlap_seconds: 0 })).status, 200)
  assert.equal(await find(secret), undefined)
  assertFault(await ask('POST', '/keys/search/rotated/rotate', { overlap_seconds: -1 }), 'invalid_parameter')
})

test('a revoked key can be revoked again, and not be changed', async () => {
  await make({ project: 'search', name: 'gone' })
  const revoked = await ask('DELETE', '/keys/search/gone')
  assert.equal(revoked.status, 200)
  assert.ok(revoked.body['revoked_at'])
  assert.equal((await ask('DELETE', '/keys/search/gone')).body['revoked_at'], revoked.body['revoked_at'])
  assertFault(await ask('PATCH', '/keys/search/gone', {}), 'conflict', { words: /is revoked/ })
  assertFault(await ask('POST', '/keys/search/gone/rotate', {}), 'conflict', { words: /is revoked/ })
})

test('a key that is not there is 404', async () => {
  for (const [method, path, body] of [
    ['PATCH', '/keys/search/missing', {}],
    ['POST', '/keys/search/missing/rotate', {}],
    ['DELETE', '/keys/search/missing', undefined],
  ] as const)
    assertFault(await ask(method, path, body), 'not_found', { words: /no key search\/missing/ })
})

test('keys of the configuration are listed, and can only be changed there', async () => {
  const { data } = (await ask('GET', '/keys?project=declared')).body
  assert.deepEqual(data, [
    {
      id: 'declared/ci',
      project: 'declared',
      name: 'ci',
      managed_by: 'configuration',
      managed_at: 'torana.yaml:11',
      models: ['text-embedding-3-small'],
      scopes: null,
      max_calls_at_once: null,
      addresses: null,
      limits: {},
      budget: null,
      expires_at: null,
      revoked_at: null,
      leaked: false,
      first_used_at: null,
      last_used_at: null,
      created_at: null,
      secrets: [{ tail: '…ests', valid_until: null, created_at: null, pepper: 'current' }],
      spent: null,
      requests_30d: [],
      requests_24h: 0,
      notes: ['no_expiry', 'no_limit'],
    },
  ])
  for (const [method, path, body] of [
    ['PATCH', '/keys/declared/ci', {}],
    ['POST', '/keys/declared/ci/rotate', {}],
    ['DELETE', '/keys/declared/ci', undefined],
  ] as const)
    assertFault(await ask(method, path, body), 'conflict', { words: /torana\.yaml/ })
})

test('pages hold stored and declared keys in one order, each once', async () => {
  for (const name of ['a', 'b', 'd', 'e']) await make({ project: 'declared', name })
  const ids: string[] = []
  for (let after = ''; ; after = ids.at(-1) ?? '') {
    const page = await ask('GET', `/keys?project=declared&limit=2&after=${encodeURIComponent(after)}`)
    ids.push(...page.body.data.map((key) => (key as unknown as { id: string }).id))
    if (!page.body['has_more']) break
  }
  assert.deepEqual(ids, ['declared/a', 'declared/b', 'declared/ci', 'declared/d', 'declared/e'])
  assertFault(await ask('GET', '/keys?limit=0'), 'invalid_parameter', { param: 'limit' })
  assertFault(await ask('GET', '/keys?limit=1001'), 'invalid_parameter', { param: 'limit' })
})

test('a search by the end of a secret reveals no more of it than the tail that is shown', async () => {
  const made = await make({ project: 'searched', name: 'ci' })
  for (const [id, secret] of [
    ['searched/ci', String(made.body['secret'])],
    ['declared/ci', DECLARED_SECRET],
  ] as const) {
    const found = async (q: string) => {
      const listed = await ask('GET', `/keys?q=${encodeURIComponent(q)}`)
      return listed.body.data.map((key) => (key as unknown as { id: string }).id)
    }
    assert.deepEqual(await found(secret.slice(-4)), [id])
    assert.deepEqual(await found(`…${secret.slice(-4)}`), [id])
    assert.deepEqual(await found(secret.slice(-5)), [])
  }
})
