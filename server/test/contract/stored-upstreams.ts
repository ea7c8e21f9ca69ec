/** What every `StoredUpstreams` promises. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredUpstreams } from '#ports/stored-upstreams.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import { PostgresUpstreams } from '#stores/postgres/directory/upstreams.ts'
import type { DatabaseDirectory } from '#test/support/directory.ts'

const ALICE = { name: 'alice', address: '192.0.2.7' }
const SMALL = { model: 'text-embedding-3-small', upstream: 'openai', entry: {} }
const LARGE = { model: 'text-embedding-3-large', upstream: 'openai', entry: {} }

const refused = (reason: string) => (error: unknown) =>
  error instanceof ChangeRefused && error.reason === reason

export function storedUpstreamsSuite(name: string, open: () => Promise<DatabaseDirectory>): void {
  const opened = async (): Promise<DatabaseDirectory & { store: StoredUpstreams }> => {
    const directory = await open()
    return { ...directory, store: new PostgresUpstreams(directory.database) }
  }

  test(`${name}: what was added is read, and gone when it was taken away`, async () => {
    const { store } = await opened()
    assert.deepEqual(await store.read(), { upstreams: [], deployments: [] })
    await store.addUpstream({ name: 'openai', entry: { provider: 'openai' } }, ALICE)
    await store.addDeployments([SMALL, LARGE], ALICE)
    const own = {
      model: 'mine',
      upstream: 'openai',
      entry: { kind: 'embedding', embedding: { dimensions: 8 } },
    }
    await store.addDeployments([own], ALICE)
    assert.deepEqual(await store.read(), {
      upstreams: [{ name: 'openai', entry: { provider: 'openai' } }],
      deployments: [own, LARGE, SMALL],
    })
    await store.changeUpstream(
      { name: 'openai', entry: { provider: 'openai', baseUrl: 'http://x.test' } },
      ALICE,
    )
    assert.deepEqual((await store.read()).upstreams[0]?.entry, {
      provider: 'openai',
      baseUrl: 'http://x.test',
    })
    for (const model of ['mine', LARGE.model, SMALL.model]) await store.dropModel(model, ALICE)
    await store.dropUpstream('openai', ALICE)
    assert.deepEqual(await store.read(), { upstreams: [], deployments: [] })
  })

  test(`${name}: several models are added all or none`, async () => {
    const { store } = await opened()
    await store.addUpstream({ name: 'openai', entry: {} }, ALICE)
    await store.addDeployments([SMALL], ALICE)
    await assert.rejects(store.addDeployments([LARGE, SMALL], ALICE), refused('exists'))
    assert.deepEqual((await store.read()).deployments, [SMALL])
  })

  test(`${name}: what is there twice, gone or in use is refused`, async () => {
    const { store } = await opened()
    await store.addUpstream({ name: 'openai', entry: {} }, ALICE)
    await assert.rejects(store.addUpstream({ name: 'openai', entry: {} }, ALICE), refused('exists'))
    await assert.rejects(store.changeUpstream({ name: 'nobody', entry: {} }, ALICE), refused('missing'))
    await assert.rejects(store.dropUpstream('nobody', ALICE), refused('missing'))
    await assert.rejects(store.dropModel('nothing', ALICE), refused('missing'))
    await store.addDeployments([SMALL], ALICE)
    await assert.rejects(store.dropUpstream('openai', ALICE), refused('in-use'))
  })

  test(`${name}: an upstream that is taken away takes its credential along`, async () => {
    const { store, credentials } = await opened()
    const secrets = credentials({ current: 'a secret of this test', previous: undefined })
    await store.addUpstream({ name: 'openai', entry: {} }, ALICE)
    await secrets.put({ upstream: 'openai', baseUrl: 'https://x.test', secret: 'sk' }, ALICE)
    await store.dropUpstream('openai', ALICE)
    assert.deepEqual(await secrets.list(), [])
  })

  test(`${name}: every change is the next version of the directory and stands in the audit with its address`, async () => {
    const { store, keyStore, audit } = await opened()
    const versions = [await keyStore.directoryVersion()]
    const changes = [
      () => store.addUpstream({ name: 'openai', entry: { provider: 'openai' } }, ALICE),
      () => store.changeUpstream({ name: 'openai', entry: { baseUrl: 'http://x.test' } }, ALICE),
      () => store.addDeployments([SMALL], ALICE),
      () => store.dropModel(SMALL.model, ALICE),
      () => store.dropUpstream('openai', ALICE),
    ]
    for (const change of changes) {
      await change()
      versions.push(await keyStore.directoryVersion())
    }
    assert.ok(versions.every((version, index) => version > (versions[index - 1] ?? 0n)))
    const entries = await audit.list({ limit: 10 })
    assert.deepEqual(
      entries.map(({ actor, address, action, target }) => [actor, address, action, target]).toReversed(),
      [
        ['alice', '192.0.2.7', 'upstream.create', 'openai'],
        ['alice', '192.0.2.7', 'upstream.change', 'openai'],
        ['alice', '192.0.2.7', 'model.add', SMALL.model],
        ['alice', '192.0.2.7', 'model.delete', SMALL.model],
        ['alice', '192.0.2.7', 'upstream.delete', 'openai'],
      ],
    )
  })
}
