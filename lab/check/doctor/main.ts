/** `npm run lab -- check/doctor`: plants every fault in one installation, runs the doctor once, and prints its line about each. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Client } from 'pg'
import { readEnvironment } from '../../../server/src/config/environment.ts'
import { readText } from '../../../server/src/config/file/variable.ts'
import { startNode } from '../../../server/src/main.ts'
import { openDatabaseStores } from '../../../server/src/node/database.ts'
import { bindListeners } from '../../../server/src/node/listeners.ts'
import { WorkerLedgerFiles } from '../../../server/src/runtime/ledger-files.ts'
import { DiskBlobs } from '../../../server/src/stores/blobs/disk.ts'
import { openPostgres, type Database } from '../../../server/src/stores/postgres/database.ts'
import { PostgresSealing } from '../../../server/src/stores/postgres/ledger/seal.ts'
import { makePartitions } from '../../../server/src/stores/postgres/ledger/upkeep-partitions.ts'
import { migrate } from '../../../server/src/stores/postgres/migrate.ts'
import { configText, gatewayEnvironment, send } from '../../../server/test/support/gateway.ts'
import { fillDay, LAKE_DAYS, openTestLake } from '../../../server/test/support/lake.ts'
import { startPgbouncer } from '../../../server/test/support/pgbouncer.ts'
import { eventually } from '../../../server/test/support/process.ts'
import { startRedis } from '../../../server/test/support/redis.ts'
import { startPostgresServer } from '../../../server/test/support/servers.ts'
import { startFakeProvider } from '../../fake-provider/server.ts'

const ADMIN = 'admin-token-of-this-program-0001'
const KEY = 'a-key-with-a-limit-0000001'
const MODEL = 'plain-w16'
const [DAY] = LAKE_DAYS
/** A transaction is old after a minute; the rest is for a busy machine. */
const OLD_MS = 120_000

interface Finding {
  readonly name: string
  readonly verdict: 'ok' | 'warn' | 'fail'
  readonly says: string
}

interface Plant {
  readonly fault: string
  readonly check: string
  readonly says: RegExp
  readonly plant: readonly string[]
}

const disabled = (table: string, statement: string): readonly string[] => [
  `ALTER TABLE ${table} DISABLE TRIGGER ALL`,
  statement,
  `ALTER TABLE ${table} ENABLE TRIGGER ALL`,
]

const PLANTS: readonly Plant[] = [
  {
    fault: 'fsync and full_page_writes off',
    check: 'durability',
    says: /fsync and full_page_writes = off/,
    plant: [
      'ALTER SYSTEM SET full_page_writes = off',
      'ALTER SYSTEM SET fsync = off',
      'SELECT pg_reload_conf()',
    ],
  },
  {
    fault: 'an entry deleted from the ledger',
    check: 'ledger',
    says: /project hard from \S+: ledger 1 posts, .*; hourly totals 2 posts,/,
    plant: disabled('usage_events', `DELETE FROM usage_events WHERE key_id = 'hard/k'`),
  },
  {
    fault: 'a sealed hour changed by a nano-dollar',
    check: 'lake',
    says: new RegExp(`day=${LAKE_DAYS[1]}/manifest-0001\\.json is not what was sealed`),
    plant: disabled(
      'sealed_hours',
      `UPDATE sealed_hours SET amount_nano = amount_nano + 1 WHERE hour = '${LAKE_DAYS[1]} 00:00+00'`,
    ),
  },
  {
    fault: 'a Parquet file deleted',
    check: 'lake',
    says: new RegExp(`day=${DAY}/part-0001\\.parquet is missing`),
    plant: [],
  },
  {
    fault: 'the spending of a budget changed',
    check: 'budgets',
    says: /1 corrected; project:hard/,
    plant: [`UPDATE budgets SET spent_nano = spent_nano + 777 WHERE budget_id = 'project:hard'`],
  },
  {
    fault: 'rows of the request log outside of partitions',
    check: 'partitions',
    says: /1 row of the request log without one/,
    plant: [
      `INSERT INTO requests SELECT (jsonb_populate_record(one, '{"request_id": "00000000-0000-7000-8000-000000000001"}')).*
       FROM requests AS one LIMIT 1`,
    ],
  },
  { fault: 'Redis at maxmemory', check: 'redis', says: /^out of memory: /, plant: [] },
  {
    fault: 'the ledger sealed three days ahead',
    check: 'sealing',
    says: /in the future/,
    plant: disabled(
      'ledger_seal',
      `UPDATE ledger_seal SET through = date_trunc('hour', now()) + interval '3 days'`,
    ),
  },
  {
    fault: 'a usage record refused',
    check: 'refused',
    says: /refused 1 usage record/,
    plant: [
      `INSERT INTO ledger_refused (request_id, attempt, kind, node_id, hour, project, key_id, amount_nano, entry, reason)
       VALUES (gen_random_uuid(), 0, 'post', gen_random_uuid(), date_trunc('hour', now()), 'other', 'other/k', 1, '{}', 'planted')`,
    ],
  },
  { fault: 'PgBouncer in transaction mode', check: 'pooler', says: /pool_mode = session/, plant: [] },
  {
    fault: 'a replication slot without a reader',
    check: 'slots',
    says: /slot forgotten has no reader/,
    plant: [`SELECT pg_create_physical_replication_slot('forgotten', true)`],
  },
  {
    fault: 'autovacuum off',
    check: 'autovacuum',
    says: /autovacuum or track_counts is off/,
    plant: ['ALTER SYSTEM SET autovacuum = off', 'SELECT pg_reload_conf()'],
  },
  {
    fault: 'an index of the request log dropped',
    check: 'schema',
    says: /CREATE INDEX requests_by_project ON requests/,
    plant: ['DROP INDEX requests_by_project'],
  },
  {
    fault: 'a transaction open for a minute',
    check: 'transactions',
    says: /has a transaction open for/,
    plant: [],
  },
]

/** Sealed and exported days, as an installation of some months has them. */
async function fillLedger(database: Database, folder: string): Promise<DiskBlobs> {
  await migrate(database)
  await makePartitions(database, Date.parse(DAY))
  for (const day of LAKE_DAYS) await fillDay(database, day, 200)
  await new PostgresSealing(database, { storeMs: async () => Date.now(), monotonicMs: () => 0 }).sealDue()
  const blobs = await DiskBlobs.open(folder)
  const files = new WorkerLedgerFiles()
  await openTestLake(database, blobs, files).lake.round()
  await files.close()
  return blobs
}

test('the doctor names each of fourteen planted faults, and before them none', async () => {
  await using started = new AsyncDisposableStack()
  const home = mkdtempSync(join(tmpdir(), 'torana-check-doctor-'))
  const assets = join(home, 'assets')
  mkdirSync(assets)
  const provider = started.adopt(await startFakeProvider(), (one) => one.close())
  const postgres = started.adopt(await startPostgresServer(), (one) => one.stop())
  const database = started.adopt(openPostgres(postgres.url, { poolSize: 2 }), (one) => one.close())
  const blobs = await fillLedger(database, assets)
  const pooler = started.adopt(await startPgbouncer(postgres.url, 'session', { servers: 80 }), (one) =>
    one.stop(),
  )
  const redis = await startRedis()
  const budget = { usd: 1, per: 'month', hard: true }
  const hard = { budget, limits: { requestsPerMinute: 1000 }, keys: [{ name: 'k', secret: KEY }] }
  const models = { [MODEL]: { on: 'plain', price: { usdPerMillionTokens: 1 } } }
  writeFileSync(join(home, 'torana.yaml'), configText({ models, projects: { hard } }, provider.url))
  const env = gatewayEnvironment(home, {
    LOG_LEVEL: 'silent',
    DATABASE_URL: pooler.url,
    REDIS_URL: redis.url,
    ASSETS_URL: `file:${assets}`,
    TORANA_SECRET: 'the secret of this program, long',
    TORANA_ADMIN_TOKEN: ADMIN,
  })
  const settings = readEnvironment(env, home, readText)
  const node = started.adopt(
    await startNode(settings, env, await bindListeners(settings), openDatabaseStores),
    (one) => one.stop(),
  )
  const embed = async (input: string): Promise<void> => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model: MODEL, input })
    assert.equal((await send(`${node.url}/v1/embeddings`, { method: 'POST', headers, body })).status, 200)
  }
  const doctor = async (): Promise<readonly Finding[]> => {
    const headers = { authorization: `Bearer ${ADMIN}` }
    const answer = await fetch(`${node.controlUrl}/api/v1/doctor?hours=all`, { headers })
    return ((await answer.json()) as { checks: Finding[] }).checks
  }
  await embed('a text')
  await eventually(async () => {
    const bad = (await doctor()).filter(({ name, verdict }) => verdict !== 'ok' && name !== 'space')
    assert.deepEqual(bad, [])
  })

  const forgotten = new Client(postgres.url)
  forgotten.on('error', () => {})
  await forgotten.connect()
  started.defer(() => forgotten.end())
  await forgotten.query('BEGIN; SELECT 1')
  for (const { plant } of PLANTS) for (const statement of plant) await database.query(statement)
  await blobs.delete(`ledger/v1/day=${DAY}/part-0001.parquet`)
  await redis.command('CONFIG', 'SET', 'maxmemory', '1')
  await embed('another text')
  // The doctor corrects a budget when it says so, so its line of any run counts.
  const lines = new Map<string, string>()
  const look = async (): Promise<void> => {
    for (const { name, verdict, says } of await doctor()) {
      const planted = PLANTS.filter((one) => one.check === name && verdict !== 'ok' && one.says.test(says))
      for (const { fault } of planted) lines.set(fault, `${verdict} ${name}: ${says}`)
    }
    const missed = PLANTS.filter(({ fault }) => !lines.has(fault)).map(({ fault }) => fault)
    assert.deepEqual(missed, ['PgBouncer in transaction mode'])
  }
  await eventually(look, OLD_MS)
  pooler.change('transaction')
  await eventually(async () => {
    const found = (await doctor()).find(({ name }) => name === 'pooler')
    assert.equal(found?.verdict, 'fail')
    lines.set('PgBouncer in transaction mode', `fail pooler: ${found.says}`)
  })
  pooler.change('session')
  for (const { fault } of PLANTS) console.log(`${fault}\n    ${lines.get(fault) ?? 'nothing'}`)
})
