/** Upstreams and models of the store as one configuration: two nodes on one PostgreSQL, before a fake provider. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Client } from 'pg'
import { builtInFacts } from '#config/build/facts.ts'
import { readConfig } from '#config/load.ts'
import { ADMIN_TOKEN, asAdmin } from '#test/support/control.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway, type Gateway } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

const postgres = await testPostgres()
const env = {
  DATABASE_URL: postgres.url,
  TORANA_ADMIN_TOKEN: ADMIN_TOKEN,
  TORANA_SECRET: 'a secret that both nodes share 03',
}
const models = { 'declared-w8': { on: 'plain' } }
const one = await startGateway({ models, env })
const two = await startGateway({ models, env })

type Entry = Readonly<Record<string, unknown>>
interface Saved {
  readonly id: string
  readonly summary: string
  readonly objects: readonly {
    readonly name: string
    readonly before: Entry | null
    readonly after: Entry | null
  }[]
}
interface Routing {
  readonly revision: string | null
  readonly entry: Entry | null
  readonly attempt_timeout_ms: number | null
  readonly deployments: readonly {
    readonly id: string
    readonly upstream: string
    readonly priority: number
    readonly weight: number
    readonly price: unknown
    readonly source: Entry
  }[]
}
interface History {
  readonly data: readonly {
    readonly id: string | null
    readonly by: string
    readonly summary: string
    readonly reverts: string | null
    readonly changed_since: boolean
    readonly revertible: boolean
  }[]
  readonly next: string | null
}

async function saved(...changes: readonly Entry[]): Promise<Saved> {
  const { status, body, text } = await asAdmin<Saved>(one, 'POST', '/configuration/changes', { changes })
  assert.equal(status, 201, text)
  return body
}

async function routing(model: string, of: Gateway = one): Promise<Routing> {
  return (await asAdmin<Routing>(of, 'GET', `/routing/${encodeURIComponent(model)}`)).body
}

async function history(): Promise<History['data']> {
  return (await asAdmin<History>(one, 'GET', '/configuration/changes?limit=100')).body.data
}

const upstream = (scenario: string) => ({
  dialect: 'openai',
  baseUrl: `${one.provider.url}/${scenario}/v1`,
})
const model = (deployments: readonly Entry[], more: Entry = {}) => ({
  kind: 'embedding',
  embedding: { dimensions: 8 },
  ...more,
  deployments,
})
const revisionOf = async (name: string) => {
  const { body } = await asAdmin<{ data: { name: string; revision: string }[] }>(one, 'GET', '/upstreams')
  return body.data.find((row) => row.name === name)?.revision ?? null
}

before(async () => {
  await saved(
    { object: 'upstream', name: 'gpu-one', entry: upstream('plain'), base: null },
    { object: 'upstream', name: 'gpu-two', entry: upstream('plain'), base: null },
    {
      object: 'model',
      name: 'bge-w8',
      entry: model([
        { upstream: 'gpu-one', weight: 50 },
        { upstream: 'gpu-two', weight: 50 },
      ]),
      base: null,
    },
  )
})

test('a set of changes is in force on every node within two seconds, and callers are served by it', async () => {
  const { revision, entry } = await routing('bge-w8')
  const next = model(
    [
      { upstream: 'gpu-one', weight: 70, limits: { concurrency: 8 } },
      { upstream: 'gpu-two', priority: 1, price: 'free' },
    ],
    { aliases: ['house-w8'], attemptTimeoutMs: 9000, cache: { ttl: '12h' } },
  )
  assert.notDeepEqual(entry, next)
  const { summary } = await saved({ object: 'model', name: 'bge-w8', entry: next, base: revision })
  assert.match(summary, /^bge-w8: /)
  await eventually(async () => {
    const there = await routing('house-w8', two)
    assert.equal(there.attempt_timeout_ms, 9000)
    assert.deepEqual(
      there.deployments.map(({ id, priority, weight, price }) => [id, priority, weight, price]),
      [
        ['bge-w8/gpu-one', 0, 70, 'unpriced'],
        ['bge-w8/gpu-two', 1, 1, 'free'],
      ],
    )
  }, 2000)
  const answer = await two.ask({ model: 'house-w8', input: 'hello' })
  assert.equal(answer.status, 200, answer.text)
})

test('a preview shows the lines of torana.yaml, what is wrong and what follows, and saves nothing', async () => {
  const { revision } = await routing('bge-w8')
  const entry = model([
    { upstream: 'gpu-one', weight: 30 },
    { upstream: 'gpu-two', weight: 70, price: 'free' },
  ])
  const change = { object: 'model', name: 'bge-w8', entry, base: revision }
  interface Preview {
    readonly added: number
    readonly lines: readonly { readonly op: string; readonly text: string; readonly source: Entry | null }[]
    readonly check: {
      readonly ok: boolean
      readonly errors: readonly { readonly message: string; readonly is_stale: boolean }[]
    }
    readonly effects: readonly { readonly kind: string; readonly text: string }[]
  }
  const ask = async (changes: readonly Entry[]) =>
    (await asAdmin<Preview>(one, 'POST', '/configuration/preview', { changes })).body
  const shown = await ask([change])
  assert.equal(shown.check.ok, true)
  const added = shown.lines.filter(({ op }) => op === '+').map(({ text }) => text.trim())
  assert.ok(added.includes('weight: 30'), added.join('\n'))
  assert.ok(!JSON.stringify(shown).includes('canary'), 'secrets of torana.yaml are not shown')
  assert.ok(
    shown.effects.some(
      ({ kind, text }) => kind === 'share' && text.startsWith('gpu-two gets about 70% of calls'),
    ),
  )
  assert.equal((await routing('bge-w8')).revision, revision)
  const faulty = await ask([{ ...change, entry: model([{ upstream: 'nowhere', weight: 0 }]), base: '1' }])
  assert.equal(faulty.check.ok, false)
  assert.deepEqual(faulty.check.errors.map(({ is_stale: isStale }) => isStale).includes(true), true)
  assert.match(faulty.check.errors.map(({ message }) => message).join('\n'), /deployments\[0\]\.weight/)
})

test('of two admins who change the same object, the second is told who was first, and nothing of the set is saved', async () => {
  const { revision, entry } = await routing('bge-w8')
  const set = (weight: number) => [
    { object: 'upstream', name: `made-${weight}`, entry: upstream('plain'), base: null },
    {
      object: 'model',
      name: 'bge-w8',
      entry: { ...entry, deployments: [{ upstream: 'gpu-one', weight }, { upstream: 'gpu-two' }] },
      base: revision,
    },
  ]
  const answers = await Promise.all(
    [2, 3, 4, 5].map((weight, index) =>
      asAdmin<Saved>(index % 2 === 0 ? one : two, 'POST', '/configuration/changes', { changes: set(weight) }),
    ),
  )
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 409, 409, 409],
  )
  for (const { status, asked } of answers)
    if (status === 409)
      assertFault(asked, 'configuration_changed', {
        words: /^admin-token changed the model bge-w8 at 20.*Read it again/,
      })
  const winner = answers.findIndex(({ status }) => status === 201) + 2
  await eventually(async () => {
    const { body } = await asAdmin<{ data: { name: string }[] }>(one, 'GET', '/upstreams')
    const made = body.data.map(({ name }) => name).filter((name) => name.startsWith('made-'))
    assert.deepEqual(made, [`made-${winner}`])
  }, 2000)
})

test('a change is taken back in one step, and only while its objects are as it left them', async () => {
  const { revision, entry } = await routing('bge-w8')
  const changed = { ...entry, cache: { ttl: '30d' } }
  const { id } = await saved({ object: 'model', name: 'bge-w8', entry: changed, base: revision })
  const undone = await asAdmin<Saved>(one, 'POST', `/configuration/changes/${id}/revert`)
  assert.equal(undone.status, 201)
  assert.deepEqual((await routing('bge-w8')).entry, entry)
  const [last, before] = await history()
  assert.deepEqual([last?.reverts, last?.revertible, before?.id, before?.changed_since], [id, true, id, true])
  const again = await asAdmin(one, 'POST', `/configuration/changes/${id}/revert`)
  assertFault(again.asked, 'configuration_changed', { words: /changed the model bge-w8/ })
  const { body } = await asAdmin<{ changes: Entry[] }>(one, 'GET', `/configuration/changes/${id}/reverse`)
  assert.deepEqual(body.changes, [
    { object: 'model', name: 'bge-w8', entry, base: (await routing('bge-w8')).revision },
  ])
  assertFault((await asAdmin(one, 'POST', '/configuration/changes/999999/revert')).asked, 'not_found')
})

test('deployments of the store are added to a declared model, of which nothing else can be changed', async () => {
  const entry = { deployments: [{ upstream: 'gpu-one', priority: 1 }] }
  const change = { object: 'model', name: 'declared-w8', base: null }
  const refused = await asAdmin(one, 'POST', '/configuration/changes', {
    changes: [{ ...change, entry: { ...entry, aliases: ['mine'] } }],
  })
  assertFault(refused.asked, 'conflict', { words: /declared at .*: change aliases there/ })
  const twice = await asAdmin(one, 'POST', '/configuration/changes', {
    changes: [{ ...change, entry: { deployments: [{ upstream: 'plain' }] } }],
  })
  assertFault(twice.asked, 'conflict', { words: /already runs on plain/ })
  await saved({ ...change, entry })
  const there = await routing('declared-w8')
  assert.deepEqual(
    there.deployments.map(({ id, priority, source }) => [id, priority, source['kind']]),
    [
      ['declared-w8/plain', 0, 'file'],
      ['declared-w8/gpu-one', 1, 'console'],
    ],
  )
  assert.equal((await one.ask({ model: 'declared-w8', input: 'hello' })).status, 200)
  await saved({ ...change, entry: null, base: there.revision })
  assert.equal((await routing('declared-w8')).deployments.length, 1)
})

test('a renamed upstream keeps its key, and the models on it follow', async () => {
  await asAdmin(one, 'PATCH', '/upstreams/gpu-two', { secret: 'sk-of-gpu-two' })
  const base = await revisionOf('gpu-two')
  const { summary } = await saved({
    object: 'upstream',
    name: 'gpu-two',
    rename_to: 'gpu-2',
    entry: upstream('plain'),
    base,
  })
  assert.match(summary, /^Renamed upstream gpu-two to gpu-2/)
  const { body } = await asAdmin<{ data: { name: string; credential: { source: string } }[] }>(
    one,
    'GET',
    '/upstreams',
  )
  assert.deepEqual(
    body.data
      .filter(({ name }) => name.startsWith('gpu-'))
      .map(({ name, credential }) => [name, credential.source]),
    [
      ['gpu-2', 'store'],
      ['gpu-one', 'none'],
    ],
  )
  assert.deepEqual(
    (await routing('bge-w8')).deployments.map(({ upstream: name }) => name),
    ['gpu-one', 'gpu-2'],
  )
})

test('an entry holds no secret, and an upstream in use is not deleted', async () => {
  for (const secret of [{ apiKey: 'sk-1' }, { headers: { authorization: 'Bearer x' } }]) {
    const change = {
      object: 'upstream',
      name: 'leaky',
      entry: { ...upstream('plain'), ...secret },
      base: null,
    }
    const { asked } = await asAdmin(one, 'POST', '/configuration/changes', { changes: [change] })
    assertFault(asked, 'invalid_parameter', { words: /keeps no secret/ })
  }
  const change = { object: 'upstream', name: 'gpu-one', entry: null, base: await revisionOf('gpu-one') }
  const { asked } = await asAdmin(one, 'POST', '/configuration/changes', { changes: [change] })
  assertFault(asked, 'conflict', { words: /Models run on upstream gpu-one: bge-w8/ })
})

test('a price set for a deployment of the store is part of its entry, and of the history', async () => {
  const path = `/prices/${encodeURIComponent('bge-w8/gpu-one')}`
  const { status, text } = await asAdmin(one, 'PUT', path, { price: { usdPerMillionTokens: 3 } })
  assert.equal(status, 200, text)
  const priceNow = async () => {
    const [first] = ((await routing('bge-w8')).entry ?? {})['deployments'] as Entry[]
    return first?.['price']
  }
  assert.deepEqual(await priceNow(), { usdPerMillionTokens: '3' })
  assert.match((await history())[0]?.summary ?? '', /^bge-w8: gpu-one price list price → 3$/)
  assert.equal((await asAdmin(one, 'DELETE', path)).status, 200)
  assert.equal(await priceNow(), undefined)
})

test('the history has pages, and what older routes change is in it', async () => {
  await asAdmin(one, 'POST', '/upstreams', { name: 'late', base_url: upstream('plain').baseUrl })
  await asAdmin(one, 'DELETE', '/upstreams/late')
  const { body: first } = await asAdmin<History>(one, 'GET', '/configuration/changes?limit=1')
  assert.deepEqual([first.data[0]?.summary, first.data[0]?.by], ['Deleted upstream late', 'admin-token'])
  const next = encodeURIComponent(first.next ?? '')
  const { body: second } = await asAdmin<History>(one, 'GET', `/configuration/changes?limit=1&after=${next}`)
  assert.equal(second.data[0]?.summary, 'Added upstream late')
})

test('the export is a torana.yaml that Torana accepts, with the projects and keys of the store and without a secret', async () => {
  const key = { project: 'shop', name: 'web', models: ['bge-w8'], limits: { requests_per_minute: 60 } }
  const { body: made } = await asAdmin<{ secret: string }>(one, 'POST', '/keys', key)
  await asAdmin(one, 'PATCH', '/projects/shop', { budget: { usd: '12.5', per: 'day', hard: true } })
  const { status, text, headers } = await asAdmin(one, 'GET', '/configuration/export')
  assert.deepEqual([status, headers.get('content-type')], [200, 'application/yaml; charset=utf-8'])
  for (const secret of [made.secret, 'canary', 'sk-of-gpu-two']) assert.ok(!text.includes(secret), secret)
  const names = [...text.matchAll(/^# {3}([A-Z0-9_]+): /gm)].map(([, name]) => name ?? '')
  const variables = Object.fromEntries(names.map((name) => [name, `a-secret-for-${name}-0123456789`]))
  const surroundings = {
    readFile: () => '',
    facts: builtInFacts(),
    bootstrapKey: undefined,
    nowMs: Date.now(),
  }
  const { catalog } = readConfig('torana.yaml', text, { env: variables, ...surroundings })
  assert.ok(catalog.models.has('bge-w8') && catalog.models.has('declared-w8'))
  const shop = catalog.projects.find(({ name }) => name === 'shop')
  assert.deepEqual(shop?.budget, { limitNanoUsd: 12_500_000_000n, per: 'day', hard: true })
  assert.deepEqual(
    shop.keys.map(({ name, models: ids, limits }) => [name, ids, limits]),
    [['web', ['bge-w8'], { requestsPerMinute: 60 }]],
  )
})

test('every change is in the audit, whose chain is intact', async () => {
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  const { rows } = await client.query<{ count: string }>(
    `SELECT count(*) FROM audit WHERE action ~ '^(upstream|model)\\.' AND actor <> 'system'`,
  )
  await client.end()
  assert.ok(Number(rows[0]?.count) >= 10)
  const { body } = await asAdmin<{ chain: { intact: boolean } }>(one, 'GET', '/audit?limit=1')
  assert.equal(body.chain.intact, true)
})
