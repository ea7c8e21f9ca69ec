/** What every `NodeNews` promises. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { NodeSummary } from '#core/traffic/node-summary.ts'
import { FRESH_MS, WANTED_MS, type NodeNews } from '#ports/node-news.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { PostgresNodeNews } from '#stores/postgres/node-news.ts'
import { testPostgres } from '#test/support/servers.ts'

interface World {
  readonly news: NodeNews
  /** Lets this much time pass. */
  readonly pass: (ms: number) => Promise<void>
}

const NODES = ['01920000-0000-7000-8000-000000000001', '01920000-0000-7000-8000-000000000002'] as const

function aSummary(node: string, spoolWaiting: number): NodeSummary {
  const flow = { project: 'a', key: 'a/b', model: 'm', deployment: null, requests: 0.1, failed: 0, tokens: 1 }
  return {
    node,
    atMs: 1,
    loopBusy: 0.25,
    spoolWaiting,
    callsUnderWay: 0,
    isStoreAway: false,
    ledgerDifferences: 0,
    deployments: [],
    flows: [{ ...flow, images: 0, nanoUsd: '12345678901234567890', p95Ms: null }],
  }
}

function suite(name: string, open: () => Promise<World>): void {
  test(`${name}: nothing is made without readers, and each node’s last summary is read while it is fresh`, async () => {
    const { news, pass } = await open()
    let made = 0
    const tell = (index: 0 | 1, waiting: number): Promise<void> =>
      news.tell(NODES[index], () => {
        made += 1
        return aSummary(NODES[index], waiting)
      })
    await tell(0, 1)
    assert.equal(made, 0)
    assert.deepEqual(await news.read(), [])
    await tell(0, 2)
    await tell(0, 3)
    await tell(1, 4)
    const read = [...(await news.read())].sort((a, b) => (a.node < b.node ? -1 : 1))
    assert.deepEqual(read, [aSummary(NODES[0], 3), aSummary(NODES[1], 4)])
    await pass(FRESH_MS)
    await tell(1, 5)
    assert.deepEqual(await news.read(), [aSummary(NODES[1], 5)])
    await pass(WANTED_MS)
    const before = made
    await tell(0, 6)
    assert.equal(made, before)
  })
}

function inDatabase(openDatabase: () => Promise<Database>): () => Promise<World> {
  return async () => {
    const database = await openDatabase()
    after(() => database.close())
    await migrate(database)
    const pass = async (ms: number): Promise<void> => {
      for (const table of ['node_news', 'node_news_wanted'])
        await database.query(`UPDATE ${table} SET at = at - interval '${ms} milliseconds'`)
    }
    return { news: new PostgresNodeNews(database), pass }
  }
}

suite(
  'PostgreSQL',
  inDatabase(async () => openPostgres((await testPostgres()).url)),
)
