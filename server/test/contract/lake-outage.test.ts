/** The export of a node while its bucket is down. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLake, type OpenLake } from '#node/lake.ts'
import { S3Blobs } from '#stores/blobs/s3.ts'
import { PostgresLake } from '#stores/postgres/ledger/lake.ts'
import type { Log } from '#telemetry/log.ts'
import { Metrics } from '#telemetry/metrics.ts'
import { postgresStores, type LedgerStores } from '#test/support/ledger-stores.ts'
import { LAKE_CLOCK, LAKE_DAYS, sealDays } from '#test/support/lake.ts'
import { eventually } from '#test/support/process.ts'
import { s3Program, startS3Server, testPlace } from '#test/support/s3.ts'

const ENTRIES = 500
const open = postgresStores()
const program = s3Program()
const skip = program === undefined && !process.env['CI'] ? 'there is no SeaweedFS on this machine' : false

/** A node's export, which looks for work all the time. */
function startExport({ database, nodeId }: LedgerStores, blobs: S3Blobs, keepDays: number | 'forever') {
  const place = testPlace('')
  const metrics = new Metrics({ version: '0', commit: '0' })
  const said: string[] = []
  const say = (_fields: unknown, message?: string): void => void said.push(message ?? '')
  const log: Log = {
    debug: say,
    info: say,
    warn: say,
    error: say,
    line: () => {},
    writes: () => true,
    close: () => {},
  }
  const store = new PostgresLake(database)
  const lake: OpenLake = openLake(
    {
      settings: { assets: { kind: 's3', ...place }, role: 'all' },
      ledger: { keepDays },
      secrets: { current: 'the secret of the tests', previous: undefined },
      log,
      metrics,
    },
    {
      stores: {
        lake: store,
        nodeId,
        isEldest: async () => true,
        storeClock: LAKE_CLOCK,
        isClockSteady: () => true,
      },
      blobs: { kept: blobs },
    },
    100,
  )
  const shows = async (isFailing: boolean, waitingDays: number): Promise<void> =>
    eventually(async () => {
      const text = metrics.ledger.text()
      assert.match(text, new RegExp(`torana_upkeep_failing\\{chore="export"\\} ${Number(isFailing)}\\n`))
      assert.match(text, new RegExp(`torana_ledger_export_waiting_days ${waitingDays}\\n`))
    })
  return { lake, store, said, shows }
}

test(
  'while the bucket is down, the export waits and says so, and nothing is dropped; then it goes on',
  { skip },
  async () => {
    const stores = await open()
    await sealDays(stores.database, ENTRIES)
    const server = await startS3Server(program ?? '')
    const blobs = new S3Blobs(testPlace(server.url))
    const isWhole = async (store: PostgresLake): Promise<void> => {
      const [row] = await stores.rows<{ count: bigint }>('SELECT count(*) AS count FROM usage_events')
      assert.deepEqual([row?.count, await store.keptFrom()], [BigInt(ENTRIES * LAKE_DAYS.length), undefined])
    }
    try {
      await server.kill9()
      {
        const { lake, store, said, shows } = startExport(stores, blobs, 'forever')
        await using _ = lake
        await shows(true, LAKE_DAYS.length)
        assert.deepEqual([...new Set(said)], ['the export of the ledger waits'])
        await isWhole(store)
        assert.equal((await store.status()).days, 0)
        await server.restart()
        await shows(false, 0)
        assert.equal(said.filter((message) => message === 'a day of the ledger was exported').length, 3)
        await isWhole(store)
      }
      // All days are in files now, which can not be read back.
      await server.kill9()
      const { lake, store, said, shows } = startExport(stores, blobs, 35)
      await using _ = lake
      await shows(true, 0)
      assert.deepEqual([...new Set(said)], ['the export of the ledger waits'])
      await isWhole(store)
      await server.restart()
      await shows(false, 0)
      assert.equal(await store.keptFrom(), '2026-10-16')
    } finally {
      blobs.close()
      await server.stop()
    }
  },
)
