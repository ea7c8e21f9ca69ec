/** Upstreams that hand their names on in one set of changes, on PostgreSQL: everything known of them goes with them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { Client } from 'pg'
import { runs } from '#test/support/arbitraries.ts'
import { ADMIN_TOKEN, asAdmin } from '#test/support/control.ts'
import { startGateway } from '#test/support/gateway.ts'
import { testPostgres } from '#test/support/servers.ts'

const postgres = await testPostgres()
const one = await startGateway({
  models: { 'declared-w8': { on: 'plain' } },
  env: {
    DATABASE_URL: postgres.url,
    TORANA_ADMIN_TOKEN: ADMIN_TOKEN,
    TORANA_SECRET: 'a secret that both nodes share 04',
  },
})
const database = new Client({ connectionString: postgres.url })
before(() => database.connect())
after(() => database.end())

type Entry = Readonly<Record<string, unknown>>
interface Listed {
  readonly name: string
  readonly managed_by: string
  readonly base_url: string
  readonly revision: string
  readonly credential: { readonly tail: string | null }
}
interface History {
  readonly data: readonly { readonly id: string; readonly summary: string; readonly revertible: boolean }[]
}

const control = <Body>(method: string, path: string, body?: unknown) => asAdmin<Body>(one, method, path, body)

const addressOf = (id: string) => `${one.provider.url}/${id}/v1`
const tailOf = (id: string) => `…00-${id}`

async function upstreams(): Promise<readonly Listed[]> {
  const { body } = await control<{ data: readonly Listed[] }>('GET', '/upstreams')
  return body.data.filter((row) => row.managed_by === 'store')
}

/** The upstream for which each drain was made, by the deployment of now. */
async function drains(): Promise<readonly (readonly [string, string])[]> {
  const { rows } = await database.query<{ deployment: string; drained_by: string }>(
    'SELECT deployment, drained_by FROM deployment_drains',
  )
  return rows.map((row) => [row.deployment, row.drained_by] as const)
}

/** Upstreams of these names, each with a secret, a deployment of the model `m` and rows about it. */
async function begin(names: readonly string[]): Promise<void> {
  await database.query('DELETE FROM deployment_drains')
  const before = await upstreams()
  const model = await control<{ revision: string | null }>('GET', '/routing/m')
  const objects = [
    ...(model.status === 200 ? [{ object: 'model', name: 'm', entry: null, base: model.body.revision }] : []),
    ...before.map(({ name, revision }) => ({ object: 'upstream', name, entry: null, base: revision })),
  ]
  if (objects.length > 0) await saved(objects)
  for (const name of names) {
    const made = await control('POST', '/upstreams', {
      name,
      base_url: addressOf(name),
      secret: `sk-a-secret-of-an-upstream-00-${name}`,
    })
    assert.equal(made.status, 201, made.text)
  }
  const entry = {
    kind: 'embedding',
    embedding: { dimensions: 8 },
    deployments: names.map((upstream) => ({ upstream })),
  }
  await saved([{ object: 'model', name: 'm', entry, base: null }])
  for (const name of names)
    await database.query(
      `INSERT INTO deployment_drains (deployment, reason, drained_by) VALUES ($1, 'driver', $2)`,
      [`m/${name}`, name],
    )
}

async function saved(changes: readonly Entry[]): Promise<{ readonly id: string }> {
  const { status, text, body } = await control<{ id: string }>('POST', '/configuration/changes', { changes })
  assert.equal(status, 201, text)
  return body
}

/** Each upstream by the name with which it began, under its name of now. */
async function assertFollowed(names: ReadonlyMap<string, string>): Promise<void> {
  const expected = new Map([...names].map(([was, is]) => [is, was]))
  const rows = await upstreams()
  assert.deepEqual(
    new Set(rows.map(({ name, base_url: url, credential }) => [name, url, credential.tail])),
    new Set([...expected].map(([is, was]) => [is, addressOf(was), tailOf(was)])),
  )
  const { body } = await control<{ deployments: { id: string; upstream: string }[] }>('GET', '/routing/m')
  assert.deepEqual(
    body.deployments.map(({ upstream }) => expected.get(upstream)),
    [...names.keys()],
    'the model runs where it ran',
  )
  assert.deepEqual(new Set(await drains()), new Set([...expected].map(([is, was]) => [`m/${is}`, was])))
}

async function rename(
  names: ReadonlyMap<string, string>,
  others: (rows: readonly Listed[]) => readonly Entry[] = () => [],
): Promise<{ readonly id: string }> {
  const rows = await upstreams()
  const changes = [...names]
    .filter(([was, is]) => was !== is)
    .map(([name, to]) => ({
      object: 'upstream',
      name,
      rename_to: to,
      entry: { dialect: 'openai', baseUrl: addressOf(name) },
      base: revisionIn(rows, name),
    }))
  return saved([...changes, ...others(rows)])
}

const revisionIn = (rows: readonly Listed[], name: string) => rows.find((row) => row.name === name)?.revision

async function changeOfHistory(id: string): Promise<History['data'][number] | undefined> {
  const { body } = await control<History>('GET', '/configuration/changes?limit=5')
  return body.data.find((row) => row.id === id)
}

const POOL = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

/** Five upstreams under five of seven names, and five of them afterwards: circles, chains, swaps and new names in every order. */
const renames = fc
  .tuple(
    fc.shuffledSubarray(POOL, { minLength: 5, maxLength: 5 }),
    fc.shuffledSubarray(POOL, { minLength: 5, maxLength: 5 }),
  )
  .map(([from, to]) => new Map(from.map((name, index) => [name, to[index] ?? name])))
  .filter((names) => [...names].some(([was, is]) => was !== is))

test('renamed in one set, upstreams keep their key, models and all that is known of them, and the set is taken back whole', async () => {
  await fc.assert(
    fc.asyncProperty(renames, async (names) => {
      await begin([...names.keys()])
      const { id } = await rename(names)
      await assertFollowed(names)
      assert.equal((await changeOfHistory(id))?.revertible, true)
      const undone = await control('POST', `/configuration/changes/${id}/revert`)
      assert.equal(undone.status, 201, undone.text)
      await assertFollowed(new Map([...names.keys()].map((name) => [name, name])))
    }),
    { ...runs(12), endOnFailure: true },
  )
})

test('a set that renames, deletes and adds keeps the key of each upstream, and says truly whether it can be taken back', async () => {
  await fc.assert(
    fc.asyncProperty(renames, async (drawn) => {
      const [deleted = '', ...left] = drawn.keys()
      const names = new Map(left.map((name) => [name, drawn.get(name) ?? name]))
      await begin([...drawn.keys()])
      const model = await control<{ revision: string; entry: Entry }>('GET', '/routing/m')
      const added = {
        object: 'upstream',
        name: 'added',
        entry: { dialect: 'openai', baseUrl: addressOf('added') },
      }
      const { id } = await rename(names, (rows) => [
        { object: 'upstream', name: deleted, entry: null, base: revisionIn(rows, deleted) },
        { ...added, base: null },
        {
          object: 'model',
          name: 'm',
          entry: { ...model.body.entry, deployments: left.map((upstream) => ({ upstream })) },
          base: model.body.revision,
        },
      ])
      const rows = await upstreams()
      assert.deepEqual(
        new Set(rows.map(({ name, base_url: url, credential }) => [name, url, credential.tail])),
        new Set([
          ['added', addressOf('added'), null],
          ...[...names].map(([was, is]) => [is, addressOf(was), tailOf(was)]),
        ]),
      )
      const ids = new Set([...names.values()].map((name) => `m/${name}`))
      assert.deepEqual(
        new Set((await drains()).filter(([deployment]) => ids.has(deployment))),
        new Set([...names].map(([was, is]) => [`m/${is}`, was])),
      )
      const isTaken = [...names.values()].includes(deleted)
      const shown = await changeOfHistory(id)
      assert.equal(shown?.revertible, !isTaken)
      const { status } = await control('POST', `/configuration/changes/${id}/revert`)
      assert.equal(status === 201, shown.revertible)
    }),
    { ...runs(10), endOnFailure: true },
  )
})

test('of two upstreams that swap names, only the one that moves to another address loses its key', async () => {
  await begin(['a', 'b'])
  const rows = await upstreams()
  const change = (name: string, to: string, address: string) => ({
    object: 'upstream',
    name,
    rename_to: to,
    entry: { dialect: 'openai', baseUrl: addressOf(address) },
    base: revisionIn(rows, name),
  })
  await saved([change('a', 'b', 'a'), change('b', 'a', 'elsewhere')])
  assert.deepEqual(
    (await upstreams()).map(({ name, base_url: url, credential }) => [name, url, credential.tail]),
    [
      ['a', addressOf('elsewhere'), null],
      ['b', addressOf('a'), tailOf('a')],
    ],
  )
})

test('a change whose reverse is refused is not shown as one that can be taken back', async () => {
  await begin(['a'])
  const made = await saved([
    {
      object: 'upstream',
      name: 'late',
      entry: { dialect: 'openai', baseUrl: addressOf('late') },
      base: null,
    },
  ])
  assert.equal((await changeOfHistory(made.id))?.revertible, true)
  const entry = { kind: 'embedding', embedding: { dimensions: 8 }, deployments: [{ upstream: 'late' }] }
  await saved([{ object: 'model', name: 'on-late', entry, base: null }])
  assert.equal((await changeOfHistory(made.id))?.revertible, false)
  assert.equal((await control('POST', `/configuration/changes/${made.id}/revert`)).status, 409)
  await control('DELETE', '/models/on-late')
})
