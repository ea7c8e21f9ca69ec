/** What every `StoredConfiguration` promises. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type {
  ChangedObject,
  PreparedChange,
  StoredConfiguration,
  StoredEntry,
} from '#ports/stored-configuration.ts'
import { sealingKeysOf } from '#runtime/secret.ts'
import { PostgresConfiguration } from '#stores/postgres/directory/configuration.ts'
import { runs } from '#test/support/arbitraries.ts'
import { SECRETS, type DatabaseDirectory } from '#test/support/directory.ts'
import { eventually } from '#test/support/process.ts'

const ALICE = { kind: 'member', name: 'alice', address: '192.0.2.7' } as const
const UPSTREAM = { object: 'upstream', name: 'openai', before: null, after: { provider: 'openai' } } as const
const MODEL = {
  object: 'model',
  name: 'small',
  before: null,
  after: { deployments: [{ upstream: 'openai' }] },
} as const

function changeOf(objects: readonly ChangedObject[], more: Partial<PreparedChange> = {}): PreparedChange {
  return {
    summary: 'a change',
    objects,
    credentials: [],
    renamedDeployments: [],
    pricedDeployments: [],
    ...more,
  }
}

/** Of every `StoredConfiguration`, whatever else it keeps. */
export function storedNamesSuite(name: string, open: () => Promise<StoredConfiguration>): void {
  test(`${name}: names are handed on in one change in every order, and each keeps its entry`, async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const order of permutationsOf(names)) {
      const store = await open()
      const entries = new Map(names.map((one) => [one, { baseUrl: `https://${one}.test` }]))
      const made = names.map((one) => ({
        object: 'upstream' as const,
        name: one,
        before: null,
        after: entries.get(one) ?? {},
      }))
      await store.change(() => changeOf(made), ALICE)
      // Each takes the name of the next one; the last takes a new one, and in turn none does: a circle.
      const last = order[0] === 'a' ? 'a' : 'new'
      const renamed = order.map((from, index) =>
        renamedTo(from, order[index + 1] ?? last, entries.get(from) ?? {}),
      )
      await store.change(
        () => changeOf(renamed.toSorted((one, other) => (one.name < other.name ? -1 : 1))),
        ALICE,
      )
      assert.deepEqual(
        new Map((await store.read()).map((one) => [one.name, one.entry])),
        new Map(renamed.map(({ name: to, after }) => [to, after])),
      )
    }
  })

  test(`${name}: an upstream takes the name of one that the same change deletes`, async () => {
    const store = await open()
    await store.change(
      () =>
        changeOf([
          { ...UPSTREAM, name: 'a' },
          { ...UPSTREAM, name: 'b', after: {} },
        ]),
      ALICE,
    )
    const deleted = { ...UPSTREAM, name: 'b', before: {}, after: null }
    await store.change(() => changeOf([deleted, renamedTo('a', 'b', UPSTREAM.after)]), ALICE)
    assert.deepEqual(
      (await store.read()).map((one) => [one.name, one.entry]),
      [['b', UPSTREAM.after]],
    )
  })
}

function renamedTo(from: string, to: string, entry: StoredEntry): ChangedObject {
  return { object: 'upstream', name: to, renamedFrom: from, before: entry, after: entry }
}

function permutationsOf(names: readonly string[]): readonly (readonly string[])[] {
  if (names.length < 2) return [names]
  return names.flatMap((first) =>
    permutationsOf(names.filter((one) => one !== first)).map((others) => [first, ...others]),
  )
}

/** Rows about a deployment, `$1`. The other value says for which upstream they were made. */
const ROWS = [
  `INSERT INTO prices (deployment, price, set_by) VALUES ($1, '"free"', $2)`,
  `INSERT INTO deployment_drains (deployment, reason, drained_by) VALUES ($1, 'driver', $2)`,
  `INSERT INTO space_standings (model, deployment, target, is_quarantined, last, bad_windows) VALUES ('m', $1, $2, true, '{}', '[]')`,
  `INSERT INTO space_probes (model, at, deployment, target, space, verdict) VALUES ('m', now(), $1, $2, 's', 'good')`,
  `INSERT INTO suspect_windows (window_id, model, deployment, target, space, from_at) VALUES ($2, 'm', $1, 't', 's', now())`,
  `INSERT INTO space_references (model, generation, width, space, vectors, deployment, accepted_at) VALUES ($2, 1, 8, 's', '', $1, now())`,
]
const MARKS = {
  prices: 'set_by',
  deployment_drains: 'drained_by',
  space_standings: 'target',
  space_probes: 'target',
  suspect_windows: 'window_id',
  space_references: 'model',
}
const UPSTREAM_ROWS = [
  `INSERT INTO upstream_credentials (credential_id, upstream, base_url) VALUES (gen_random_uuid(), $1, $2)`,
]
const UPSTREAM_MARKS = {
  upstream_credentials: 'base_url',
}

/** Old names and new ones of four upstreams, of six: circles, chains and names that were free. */
const RENAMES = fc
  .tuple(
    ...[1, 2].map(() => fc.shuffledSubarray(['a', 'b', 'c', 'd', 'e', 'f'], { minLength: 4, maxLength: 4 })),
  )
  .map(([from = [], to = []]) => new Map(from.map((one, index) => [one, to[index] ?? one])))

export function storedConfigurationSuite(name: string, open: () => Promise<DatabaseDirectory>): void {
  const opened = async (): Promise<DatabaseDirectory & { store: StoredConfiguration }> => {
    const directory = await open()
    return { ...directory, store: new PostgresConfiguration(directory.database, sealingKeysOf(SECRETS)) }
  }
  storedNamesSuite(name, async () => (await opened()).store)

  test(`${name}: objects of a change are read with its revision and author, and are gone when they are deleted`, async () => {
    const { store } = await opened()
    assert.deepEqual(await store.read(), [])
    const saved = await store.change(() => changeOf([MODEL, UPSTREAM]), ALICE)
    assert.deepEqual(
      (await store.read()).map(({ atMs: _at, ...one }) => one),
      [UPSTREAM, MODEL].map(({ object, name: of, after }) => ({
        object,
        name: of,
        entry: after,
        revision: saved.id,
        by: 'alice',
      })),
    )
    const later = await store.change(() => changeOf([{ ...MODEL, before: MODEL.after, after: null }]), ALICE)
    assert.ok(later.id > saved.id)
    assert.deepEqual(
      (await store.read()).map(({ name: of, revision }) => [of, revision]),
      [['openai', saved.id]],
    )
  })

  test(`${name}: a change that its preparation refuses leaves no trace`, async () => {
    const { store, keyStore, audit } = await opened()
    const version = await keyStore.directoryVersion()
    const refused = store.change(() => {
      throw new Error('no')
    }, ALICE)
    await assert.rejects(refused, /^Error: no$/)
    assert.deepEqual(await store.read(), [])
    assert.deepEqual(await audit.list({ limit: 1 }), [])
    assert.equal(await keyStore.directoryVersion(), version)
  })

  test(`${name}: of two changes at once the second is prepared with what the first has made`, async () => {
    const { store } = await opened()
    const seen: number[] = []
    const add = (of: string) =>
      store.change((before) => {
        seen.push(before.length)
        return changeOf([{ ...UPSTREAM, name: of }])
      }, ALICE)
    await Promise.all([add('one'), add('two'), add('three')])
    assert.deepEqual(
      seen.toSorted((a, b) => a - b),
      [0, 1, 2],
    )
  })

  test(`${name}: the secret of an upstream is stored, bound, renamed and deleted in the same step as its entry`, async () => {
    const { store, credentials } = await opened()
    const secrets = credentials(SECRETS)
    const [baseUrl, other] = ['https://x.test', 'https://y.test']
    await store.change(
      () =>
        changeOf([UPSTREAM], { credentials: [{ kind: 'put', upstream: 'openai', baseUrl, secret: 'sk-1' }] }),
      ALICE,
    )
    assert.equal(await secrets.open('openai', baseUrl), 'sk-1')
    const renamed = { ...UPSTREAM, name: 'main', renamedFrom: 'openai', before: UPSTREAM.after }
    await store.change(() => changeOf([renamed]), ALICE)
    assert.deepEqual(
      (await store.read()).map((one) => one.name),
      ['main'],
    )
    assert.equal(await secrets.open('main', baseUrl), 'sk-1')
    const moved = { ...UPSTREAM, name: 'main', before: UPSTREAM.after, after: { baseUrl: other } }
    await store.change(
      () => changeOf([moved], { credentials: [{ kind: 'bind', upstream: 'main', baseUrl: other }] }),
      ALICE,
    )
    for (const address of [baseUrl, other]) assert.equal(await secrets.open('main', address), undefined)
    const deleted = { ...moved, before: moved.after, after: null }
    await store.change(() => changeOf([deleted]), ALICE)
    assert.deepEqual(await secrets.list(), [])
  })

  test(`${name}: what is known of a renamed deployment follows it, and its past keeps the old id`, async () => {
    const { store, database } = await opened()
    await database.query(
      `INSERT INTO prices (deployment, price, set_by) VALUES ('m/old', '"free"', 'alice'), ('m/new', '"free"', 'bob')`,
    )
    await database.query(
      `INSERT INTO deployment_drains (deployment, reason, drained_by) VALUES ('m/old', 'driver', 'alice')`,
    )
    await database.query(
      `INSERT INTO space_standings (model, deployment, target, is_quarantined, last, bad_windows) VALUES ('m', 'm/old', 't', true, '{}', '[]')`,
    )
    await database.query(
      `INSERT INTO price_changes (deployment, after, changed_by) VALUES ('m/old', '{"form": "free", "text": []}', 'alice')`,
    )
    await store.change(
      () => changeOf([UPSTREAM], { renamedDeployments: [{ from: 'm/old', to: 'm/new' }] }),
      ALICE,
    )
    const idsIn = async (table: 'prices' | 'deployment_drains' | 'space_standings' | 'price_changes') =>
      (await database.query<{ deployment: string }>(`SELECT deployment FROM ${table}`)).map(
        ({ deployment }) => deployment,
      )
    assert.deepEqual(await idsIn('prices'), ['m/new'])
    assert.deepEqual(await idsIn('deployment_drains'), ['m/new'])
    assert.deepEqual(await idsIn('space_standings'), ['m/new'])
    assert.deepEqual(await idsIn('price_changes'), ['m/old'])
    await store.change(() => changeOf([MODEL], { pricedDeployments: ['m/new'] }), ALICE)
    assert.deepEqual(await idsIn('prices'), [])
  })

  test(`${name}: a rename and a probe of the deployment that come together are both written`, async () => {
    const { store, database } = await opened()
    await database.query(
      `INSERT INTO space_references (model, generation, width, space, vectors, deployment, accepted_at)
       VALUES ('m', 1, 1, 'm@1:1', '', 'm/old', now()) ON CONFLICT DO NOTHING`,
    )
    await database.query(
      `INSERT INTO space_standings (model, deployment, target, is_quarantined, last, bad_windows) VALUES ('m', 'm/old', 't', true, '{}', '[]')`,
    )
    let renamed: Promise<unknown> | undefined
    await database.transaction(async (probe) => {
      await probe.query(`SELECT FROM space_references WHERE model = 'm' FOR SHARE`)
      renamed = store.change(
        () => changeOf([UPSTREAM], { renamedDeployments: [{ from: 'm/old', to: 'm/new' }] }),
        ALICE,
      )
      await eventually(async () => {
        const [row] = await database.query<{ waits: boolean }>(
          `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock') AS waits`,
        )
        assert.equal(row?.waits, true)
      })
      await probe.query(`UPDATE space_standings SET is_quarantined = false WHERE deployment = 'm/old'`)
    })
    await renamed
    assert.deepEqual(await database.query('SELECT deployment, is_quarantined FROM space_standings'), [
      { deployment: 'm/new', is_quarantined: false },
    ])
  })

  test(`${name}: whatever names are handed on in one change, all that is known of each upstream and deployment goes along`, async () => {
    await fc.assert(
      fc.asyncProperty(RENAMES, async (names) => {
        const { store, database } = await opened()
        await database.query(
          `TRUNCATE ${[...Object.keys(MARKS), ...Object.keys(UPSTREAM_MARKS)].join(', ')} CASCADE`,
        )
        for (const from of names.keys()) {
          for (const statement of ROWS) await database.query(statement, [`m/${from}`, from])
          for (const statement of UPSTREAM_ROWS) await database.query(statement, [from, `for ${from}`])
        }
        const objects = [...names].map(([from, to]) => renamedTo(from, to, { baseUrl: `for ${from}` }))
        const renamedDeployments = [...names].map(([from, to]) => ({ from: `m/${from}`, to: `m/${to}` }))
        await store.change(() => changeOf(objects, { renamedDeployments }), ALICE)
        const isIn = async (
          table: string,
          column: string,
          mark: string,
        ): Promise<Readonly<Record<string, string>>> => {
          const rows = await database.query<{ is: string; was: string }>(
            `SELECT ${column} AS is, ${mark} AS was FROM ${table}`,
          )
          return Object.fromEntries(rows.map(({ is, was }) => [was, is]))
        }
        for (const [table, mark] of Object.entries(MARKS))
          assert.deepEqual(
            await isIn(table, 'deployment', mark),
            Object.fromEntries([...names].map(([from, to]) => [from, `m/${to}`])),
            table,
          )
        for (const [table, mark] of Object.entries(UPSTREAM_MARKS))
          assert.deepEqual(
            await isIn(table, 'upstream', mark),
            Object.fromEntries([...names].map(([from, to]) => [`for ${from}`, to])),
            table,
          )
      }),
      runs(40),
    )
  })

  test(`${name}: every change is the next version of the directory, and is in the audit with its address`, async () => {
    const { store, keyStore, audit } = await opened()
    const changes = [
      [UPSTREAM, MODEL],
      [{ ...UPSTREAM, before: UPSTREAM.after, after: { baseUrl: 'http://x.test' } }],
      [
        { ...MODEL, before: MODEL.after, after: null },
        { ...UPSTREAM, before: UPSTREAM.after, after: null },
      ],
    ]
    let version = await keyStore.directoryVersion()
    for (const objects of changes) {
      const { id } = await store.change(() => changeOf(objects), ALICE)
      assert.ok(id > version)
      version = await keyStore.directoryVersion()
      assert.equal(version, id)
    }
    const entries = await audit.list({ limit: 10 })
    assert.deepEqual(
      entries.map(({ actor, address, action, target }) => [actor, address, action, target]).toReversed(),
      [
        ['alice', '192.0.2.7', 'upstream.create', 'openai'],
        ['alice', '192.0.2.7', 'model.add', 'small'],
        ['alice', '192.0.2.7', 'upstream.change', 'openai'],
        ['alice', '192.0.2.7', 'model.delete', 'small'],
        ['alice', '192.0.2.7', 'upstream.delete', 'openai'],
      ],
    )
    assert.ok(entries.every(({ intact }) => intact))
  })
}
