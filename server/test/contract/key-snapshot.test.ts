/** Key snapshots over a real store and a real disk. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { Fault } from '#core/fault/fault.ts'
import type { Project } from '#core/catalog/catalog.ts'
import { authenticate } from '#request/access/authenticate.ts'
import { runs } from '#test/support/arbitraries.ts'
import { STALE_KEYS_MS, type KeySnapshot } from '#worker/keys/key-snapshot.ts'
import { systemClock } from '#runtime/clock.ts'
import { openPostgres } from '#stores/postgres/database.ts'
import { PostgresKeys } from '#stores/postgres/directory/keys.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { digested, memoryDirectory, SECRETS, someSecret } from '#test/support/directory.ts'
import { keyFileIn } from '#test/support/key-file.ts'
import { keyNode, Link, TestClock } from '#test/support/key-nodes.ts'
import { startPostgresServer } from '#test/support/servers.ts'
import { pollKeys } from '#worker/keys/key-polling.ts'
import { keyDirectorySuite } from './key-directory.ts'

const folder = mkdtempSync(join(tmpdir(), 'torana-snapshot-'))
after(() => rmSync(folder, { recursive: true }))

keyDirectorySuite('snapshot', async () => {
  let node = keyNode(memoryDirectory().keyStore).snapshot
  return {
    keys: { find: (secret) => node.find(secret) },
    replace: async (projects) => {
      const { keyStore } = memoryDirectory()
      for (const { project, key } of keysOf(projects)) {
        const { secret, ...rest } = key
        await keyStore.createKey(
          { ...rest, project, secret: digested(secret) },
          { kind: 'member', name: 'tester' },
        )
      }
      node = keyNode(keyStore).snapshot
      await node.start()
    },
  }
})

function keysOf(projects: readonly Project[]) {
  return projects.flatMap(({ name, keys }) => keys.map((key) => ({ project: name, key })))
}

test('a revocation counts on every node within two seconds, and a dead store takes no known key away', async () => {
  const server = await startPostgresServer()
  const databases = [openPostgres(server.url), openPostgres(server.url)]
  await migrate(databases[0] as (typeof databases)[0])
  const [store, other] = databases.map((database) => new PostgresKeys(database)) as [
    PostgresKeys,
    PostgresKeys,
  ]
  const [kept, revoked] = [someSecret(), someSecret()]
  await store.createKey(
    { project: 'p', name: 'kept', secret: kept.stored },
    { kind: 'member', name: 'tester' },
  )
  await store.createKey(
    { project: 'p', name: 'revoked', secret: revoked.stored },
    { kind: 'member', name: 'tester' },
  )
  const nodes = [store, other].map((source) => keyNode(source, { clock: systemClock }).snapshot)
  await Promise.all(nodes.map((node) => node.start()))
  const polls = nodes.map((node) => pollKeys(node, (error) => assert.fail(String(error))))
  try {
    for (const node of nodes) assert.equal((await node.find(revoked.secret))?.id, 'p/revoked')
    await store.revokeKey('p/revoked', { kind: 'member', name: 'tester' })
    const revokedAtMs = performance.now()
    await Promise.all(nodes.map((node) => untilRefused(node, revoked.secret)))
    // A second, and what a busy machine adds; a node without the news would go on for an hour.
    assert.ok(performance.now() - revokedAtMs < 20_000)

    await server.kill9()
    for (const node of nodes) {
      assert.equal((await node.find(kept.secret))?.id, 'p/kept')
      await assert.rejects(
        async () => authenticate(someSecret().secret, node, systemClock),
        (error) => error instanceof Fault && error.code === 'key_store_unreachable',
      )
    }
    await server.restart()
    const { secret, stored } = someSecret()
    await untilMade(store, stored)
    for (const node of nodes) await untilFound(node, secret)
  } finally {
    await Promise.all(polls.map((poll) => poll.stop()))
    await Promise.all(databases.map((database) => database.close()))
    await server.stop()
  }
})

/** A node with one key whose snapshot is on disk, and without a connection to the store. */
async function onDisk(name: string) {
  const own = join(folder, name)
  const path = join(own, 'keys.packed')
  const file = keyFileIn(own)
  const { keyStore } = memoryDirectory()
  const { secret, stored } = someSecret()
  const budget = { limitNanoUsd: 12_345_678_901_234_567n, per: 'month', hard: true } as const
  await keyStore.createKey(
    { project: 'p', name: 'k', secret: stored, budget, models: ['a'] },
    { kind: 'member', name: 'tester' },
  )
  await keyStore.setProject(
    'p',
    { limits: { requestsPerMinute: 7 }, budget },
    { kind: 'member', name: 'tester' },
  )
  const link = new Link(keyStore)
  const clock = new TestClock()
  const { snapshot } = keyNode(link, { file, clock })
  await snapshot.start()
  await snapshot.end()
  const before = await snapshot.find(secret)
  link.isCut = true
  /** As a process that starts now would. */
  const restart = async (otherFile = file) => {
    const node = keyNode(link, { file: otherFile, clock })
    await node.snapshot.start()
    return node
  }
  return { own, path, keyStore, link, secret, stored, clock, before, restart, snapshot }
}

test('a node that starts while the store is away knows the keys of its last snapshot, with all they are bound by', async () => {
  const { restart, secret, before, clock, own, path } = await onDisk('cold')
  const { snapshot, troubles } = await restart()
  assert.deepEqual(await snapshot.find(secret), before)
  assert.ok(snapshot.isLoaded)
  assert.deepEqual(troubles, ['the link is cut'])
  await assert.rejects(
    async () => authenticate(someSecret().secret, snapshot, clock),
    (error) => error instanceof Fault && error.code === 'key_store_unreachable',
  )
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(own), ['keys.lock', 'keys.lock-holder', 'keys.packed'])
})

test('the snapshot on disk holds no secret', async () => {
  const { path, secret, stored } = await onDisk('digests')
  const bytes = readFileSync(path)
  assert.ok(bytes.includes(Buffer.from(stored.digest, 'base64')))
  assert.ok(!bytes.includes(secret) && !bytes.includes(secret.slice(3, 35)))
})

test('a snapshot that is an hour old is not used, nor one from the future', async () => {
  const { restart, secret, clock } = await onDisk('old')
  clock.advance(STALE_KEYS_MS - 1)
  const young = await restart()
  assert.ok(await young.snapshot.find(secret))
  clock.advance(1)
  await assert.rejects(async () => young.snapshot.find(secret), /can't be looked up/)
  const { snapshot, troubles } = await restart()
  assert.ok(!snapshot.isLoaded)
  assert.match(troubles[1] ?? '', /60 minutes old/)
  await assert.rejects(async () => snapshot.find(secret), /can't be looked up/)
  clock.advance(-3 * STALE_KEYS_MS)
  assert.ok(!(await restart()).snapshot.isLoaded)
})

test('a snapshot of which any byte was changed is refused, as is a cut one and one of another node', async () => {
  const { restart, own, path } = await onDisk('tampered')
  const good = readFileSync(path)
  const isRefused = async (bytes: Uint8Array) => {
    writeFileSync(path, bytes)
    const { snapshot, troubles } = await restart()
    assert.ok(!snapshot.isLoaded)
    assert.equal(troubles.length, 2)
  }
  const flips = fc.asyncProperty(
    fc.nat({ max: good.length - 1 }),
    fc.integer({ min: 1, max: 255 }),
    async (at, by) => {
      const bytes = Buffer.from(good)
      bytes[at] = (bytes[at] as number) ^ by
      await isRefused(bytes)
    },
  )
  await fc.assert(flips, runs(200))
  for (const end of [0, 1, 100, good.length - 46, good.length - 2, good.length - 1])
    await isRefused(good.subarray(0, end))
  writeFileSync(path, good)
  assert.ok((await restart()).snapshot.isLoaded)
  const foreign = keyFileIn(own, { current: 'another node', previous: undefined })
  assert.ok(!(await restart(foreign)).snapshot.isLoaded)
  const rotating = { current: 'a new secret', previous: SECRETS.current }
  assert.ok((await restart(keyFileIn(own, rotating))).snapshot.isLoaded)
})

test('a node that started from its snapshot forgets it when the store is back', async () => {
  const { restart, keyStore, link, secret } = await onDisk('back')
  await keyStore.revokeKey('p/k', { kind: 'member', name: 'tester' })
  const { snapshot } = await restart()
  assert.ok(await snapshot.find(secret))
  link.isCut = false
  await snapshot.refresh()
  assert.equal(await snapshot.find(secret), undefined)
})

test('the copy on disk follows a change within seconds, and does not grow old by itself', async () => {
  const { restart, keyStore, link, clock, secret, snapshot } = await onDisk('follows')
  link.isCut = false
  await keyStore.revokeKey('p/k', { kind: 'member', name: 'tester' })
  clock.advance(5000)
  await snapshot.refresh()
  await snapshot.end()
  for (let minute = 0; minute < 120; minute += 1) {
    clock.advance(60_000)
    await snapshot.refresh()
    await snapshot.end()
  }
  link.isCut = true
  const cold = await restart()
  assert.ok(cold.snapshot.isLoaded)
  await assert.rejects(async () => cold.snapshot.find(secret), /can't be looked up/)
})

async function untilRefused(node: KeySnapshot, secret: string): Promise<void> {
  while ((await node.find(secret)) !== undefined) await new Promise((resolve) => setTimeout(resolve, 10))
}

async function untilFound(node: KeySnapshot, secret: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const found = await Promise.resolve(node.find(secret)).catch(() => undefined)
    if (found) return
    assert.ok(tries < 1200, 'the node did not come back')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Connections of before the death of the server fail first. */
async function untilMade(
  store: PostgresKeys,
  stored: ReturnType<typeof someSecret>['stored'],
): Promise<void> {
  for (let tries = 0; tries < 20; tries += 1) {
    try {
      await store.createKey(
        { project: 'p', name: 'after', secret: stored },
        { kind: 'member', name: 'tester' },
      )
      return
    } catch (error) {
      if (tries === 19) throw error
    }
  }
}
