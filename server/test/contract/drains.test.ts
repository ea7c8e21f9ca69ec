/** What every `DrainStore` promises. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AuditLog } from '#ports/audit.ts'
import type { DrainStore } from '#ports/drains.ts'
import { systemClock } from '#runtime/clock.ts'
import { PostgresAudit } from '#stores/postgres/audit.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { PostgresDrains } from '#stores/postgres/directory/drains.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { testPostgres } from '#test/support/servers.ts'

interface World {
  readonly drains: DrainStore
  readonly audit: AuditLog
  readonly version: () => Promise<bigint>
}

const ACTOR = { kind: 'member', name: 'maria@example.com', address: '10.0.0.7' } as const

function suite(name: string, open: () => Promise<World>): void {
  test(`${name}: a drain stays until it is taken back, with its reason and its audit entry, and every node hears of it`, async () => {
    const { drains, audit, version } = await open()
    assert.deepEqual(await drains.list(), [])
    const before = await version()
    const first = await drains.drain('BAAI/bge-m3/gpu-two', 'new driver', ACTOR)
    assert.deepEqual([first.by, first.reason], [ACTOR.name, 'new driver'])
    assert.ok((await version()) > before)
    const again = await drains.drain('BAAI/bge-m3/gpu-two', 'still the driver', ACTOR)
    assert.equal(again.atMs, first.atMs)
    await drains.drain('a/b', 'also', ACTOR)
    assert.deepEqual(
      (await drains.list()).map(({ deployment, reason }) => [deployment, reason]),
      [
        ['BAAI/bge-m3/gpu-two', 'still the driver'],
        ['a/b', 'also'],
      ],
    )
    await drains.takeBack('BAAI/bge-m3/gpu-two', 'works again', ACTOR)
    await drains.takeBack('BAAI/bge-m3/gpu-two', 'works again', ACTOR)
    assert.deepEqual(
      (await drains.list()).map(({ deployment }) => deployment),
      ['a/b'],
    )
    const entries = await audit.list({ limit: 9 })
    assert.deepEqual(
      entries.map(({ action, target, address, detail }) => [action, target, address, detail['reason']]),
      [
        ['deployment.take_back', 'BAAI/bge-m3/gpu-two', '10.0.0.7', 'works again'],
        ['deployment.drain', 'a/b', '10.0.0.7', 'also'],
        ['deployment.drain', 'BAAI/bge-m3/gpu-two', '10.0.0.7', 'still the driver'],
        ['deployment.drain', 'BAAI/bge-m3/gpu-two', '10.0.0.7', 'new driver'],
      ],
    )
  })
}

function inDatabase(openDatabase: () => Promise<Database>): () => Promise<World> {
  return async () => {
    const database = await openDatabase()
    after(() => database.close())
    await migrate(database)
    const version = async (): Promise<bigint> => {
      const [row] = await database.query<{ version: bigint }>('SELECT version FROM directory_version')
      assert.ok(row)
      return row.version
    }
    return { drains: new PostgresDrains(database), audit: new PostgresAudit(database, systemClock), version }
  }
}

suite(
  'PostgreSQL',
  inDatabase(async () => openPostgres((await testPostgres()).url)),
)
