/** What every `FeedStore` promises. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FeedStore, NewFeed } from '#ports/catalog-feed.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import { PostgresCatalogFeeds } from '#stores/postgres/directory/catalog-feeds.ts'
import type { DatabaseDirectory } from '#test/support/directory.ts'

const ALICE = { kind: 'member', name: 'alice', address: '192.0.2.7' } as const

const aFeed = (sequence: number): NewFeed => ({
  sequence,
  madeOn: '2026-11-18',
  digest: `digest ${sequence}`,
  keyId: '0011223344556677',
  source: 'https://example.com/catalog.json',
  document: `{"sequence":${sequence}}`,
})

const refused = (reason: string) => (error: unknown) =>
  error instanceof ChangeRefused && error.reason === reason

export function catalogFeedSuite(name: string, open: () => Promise<DatabaseDirectory>): void {
  const opened = async (): Promise<DatabaseDirectory & { store: FeedStore }> => {
    const directory = await open()
    return { ...directory, store: new PostgresCatalogFeeds(directory.database) }
  }

  test(`${name}: a feed that was added is read, and added again changes nothing`, async () => {
    const { store, keyStore } = await opened()
    assert.deepEqual(await store.state(), { feeds: [], pinned: undefined })
    const { isChanged, state } = await store.add(aFeed(2026111801), ALICE)
    const { document, ...described } = aFeed(2026111801)
    assert.deepEqual(state, await store.state())
    const [stored] = state.feeds
    assert.deepEqual([isChanged, stored], [true, { ...described, by: 'alice', atMs: stored?.atMs }])
    assert.equal(await store.document(2026111801), document)
    assert.equal(await store.document(1), undefined)
    const version = await keyStore.directoryVersion()
    assert.deepEqual(await store.add(aFeed(2026111801), ALICE), { isChanged: false, state })
    assert.equal(await keyStore.directoryVersion(), version)
  })

  test(`${name}: a sequence never goes back, and is never taken twice`, async () => {
    const { store } = await opened()
    await store.add(aFeed(5), ALICE)
    await assert.rejects(store.add(aFeed(4), ALICE), refused('exists'))
    await assert.rejects(store.add({ ...aFeed(5), digest: 'another' }, ALICE), refused('exists'))
    const added = await Promise.allSettled([store.add(aFeed(7), ALICE), store.add(aFeed(6), ALICE)])
    assert.ok(added.some(({ status }) => status === 'fulfilled'))
    const [newest] = (await store.state()).feeds
    assert.ok(newest?.sequence === 7 || newest?.sequence === 6)
  })

  test(`${name}: a pin holds against new feeds until the newest counts again`, async () => {
    const { store } = await opened()
    await store.add(aFeed(5), ALICE)
    await store.add(aFeed(6), ALICE)
    await assert.rejects(store.pin(4, ALICE), refused('missing'))
    assert.equal((await store.pin(5, ALICE)).state.pinned, 5)
    assert.equal((await store.pin(5, ALICE)).isChanged, false)
    await assert.rejects(store.add(aFeed(7), ALICE), refused('in-use'))
    assert.equal((await store.pin('built-in', ALICE)).state.pinned, 'built-in')
    assert.equal((await store.pin(undefined, ALICE)).state.pinned, undefined)
    assert.equal((await store.add(aFeed(7), ALICE)).isChanged, true)
  })

  test(`${name}: ten feeds are kept, the newest`, async () => {
    const { store } = await opened()
    for (let sequence = 1; sequence <= 12; sequence += 1) await store.add(aFeed(sequence), ALICE)
    const { feeds } = await store.state()
    assert.deepEqual(
      feeds.map(({ sequence }) => sequence),
      [12, 11, 10, 9, 8, 7, 6, 5, 4, 3],
    )
  })

  test(`${name}: every change is the next version of the directory and stands in the audit`, async () => {
    const { store, keyStore, audit } = await opened()
    const before = await keyStore.directoryVersion()
    await store.add(aFeed(5), ALICE)
    await store.pin('built-in', ALICE)
    await store.pin(undefined, ALICE)
    assert.equal(await keyStore.directoryVersion(), before + 3n)
    const entries = await audit.list({ limit: 10 })
    assert.deepEqual(
      entries.map(({ actor, address, action, target }) => [actor, address, action, target]).toReversed(),
      [
        ['alice', '192.0.2.7', 'catalog.pull', '5'],
        ['alice', '192.0.2.7', 'catalog.pin', 'built-in'],
        ['alice', '192.0.2.7', 'catalog.pin', 'latest'],
      ],
    )
  })
}
