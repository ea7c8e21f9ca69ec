/** What every `StoredConfiguration` promises. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChangedObject, PreparedChange, StoredConfiguration } from '#ports/stored-configuration.ts'
import { sealingKeysOf } from '#runtime/secret.ts'
import { PostgresConfiguration } from '#stores/postgres/directory/configuration.ts'
import { SECRETS, type DatabaseDirectory } from '#test/support/directory.ts'

const ALICE = { name: 'alice', address: '192.0.2.7' }
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

export function storedConfigurationSuite(name: string, open: () => Promise<DatabaseDirectory>): void {
  const opened = async (): Promise<DatabaseDirectory & { store: StoredConfiguration }> => {
    const directory = await open()
    return { ...directory, store: new PostgresConfiguration(directory.database, sealingKeysOf(SECRETS)) }
  }

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
    assert.equal(await secrets.open('openai', [baseUrl]), 'sk-1')
    const renamed = { ...UPSTREAM, name: 'main', renamedFrom: 'openai', before: UPSTREAM.after }
    await store.change(
      () => changeOf([renamed], { credentials: [{ kind: 'rename', upstream: 'openai', to: 'main' }] }),
      ALICE,
    )
    assert.deepEqual(
      (await store.read()).map((one) => one.name),
      ['main'],
    )
    assert.equal(await secrets.open('main', [baseUrl]), 'sk-1')
    const moved = { ...UPSTREAM, name: 'main', before: UPSTREAM.after, after: { baseUrl: other } }
    await store.change(
      () => changeOf([moved], { credentials: [{ kind: 'bind', upstream: 'main', baseUrl: other }] }),
      ALICE,
    )
    assert.equal(await secrets.open('main', [baseUrl, other]), undefined)
    const deleted = { ...moved, before: moved.after, after: null }
    await store.change(
      () => changeOf([deleted], { credentials: [{ kind: 'delete', upstream: 'main' }] }),
      ALICE,
    )
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

  test(`${name}: a node of the version before can't change what no other node would see`, async () => {
    const { database } = await opened()
    for (const statement of [
      `INSERT INTO stored_upstreams (name, entry) VALUES ('late', '{}')`,
      `INSERT INTO stored_deployments (model, upstream) VALUES ('late', 'late')`,
    ])
      await assert.rejects(database.query(statement), /nodes of a newer version keep upstreams and models/)
  })
}
