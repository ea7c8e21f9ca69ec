/** A backup is complete: its content comes back unchanged, from either store and into either. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { LEDGER_TABLE, type TableReport } from '#ports/backup.ts'
import { checkBackupFile, linesOf, openBackupFile, writeBackupFile } from '#stores/backup-file.ts'
import { dumpDatabase } from '#stores/postgres/backup/dump.ts'
import { loadDatabase } from '#stores/postgres/backup/load.ts'
import { tablesIn } from '#stores/postgres/backup/tables.ts'
import { makePartitions } from '#stores/postgres/ledger/upkeep-partitions.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { numbered } from '#test/support/entries.ts'
import { IS_LONG } from '#test/support/long.ts'
import { testPglite } from '#test/support/pglite.ts'
import { temporaryFolder } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

const NODE = '01930000-0000-7000-8000-0000000000aa'
/** The month of the entries. */
const NOW_MS = Date.parse('2024-11-15T00:00:00Z')
const folder = temporaryFolder()
/** Signs that a text form, JSON or a reader of lines may trip over. */
const TRICKY = 'a "quoted" \\ text,\n{with} lines\u2028and \u{1f980} NULL'

const opened = async (database: Promise<Database> | Database): Promise<Database> => {
  const one = await database
  after(() => one.close())
  return one
}
const emptyPostgres = async () => opened(openPostgres((await testPostgres('nothing')).url))

async function filled(database: Database): Promise<Database> {
  await migrate(database)
  await makePartitions(database, NOW_MS)
  await database.query(`INSERT INTO nodes (node_id, host, version) VALUES ($1, 'h', '0')`, [NODE])
  const ledger = new PostgresLedger(database)
  const entries = Array.from({ length: 1200 }, (_, number) => numbered(number + 1))
  await ledger.append(NODE, entries)
  await ledger.append(NODE, [numbered(9001, { kind: 'unknown', usage: 'unknown', tokens: undefined })])
  await ledger.append(NODE, [numbered(9002, { remarks: { what: TRICKY, reason: TRICKY } })])
  await database.query(`INSERT INTO projects (project, version) VALUES ($1, 2)`, [TRICKY])
  await database.query(
    `INSERT INTO keys (key_id, project, name, models, addresses, version) VALUES ($1, $2, 'k', $3, '{}', 2)`,
    ['x/k', TRICKY, [TRICKY, 'plain', '']],
  )
  return database
}

async function backUp(database: Database, name: string): Promise<readonly TableReport[]> {
  const path = join(folder, name)
  let reports: readonly TableReport[] = []
  await using file = await openBackupFile(path)
  await writeBackupFile(file, async (write) => {
    reports = await dumpDatabase(database, '0.0.0', NOW_MS, write)
    await write(JSON.stringify({ complete: true, tables: reports.length, blobs: 0 }))
  })
  return reports
}

async function restore(database: Database, name: string): Promise<readonly TableReport[]> {
  const path = join(folder, name)
  return loadDatabase(database, { backup: await checkBackupFile(path), lines: linesOf(path) })
}

async function assertRestored(
  database: Database,
  name: string,
  before: readonly TableReport[],
): Promise<void> {
  assert.deepEqual(await restore(database, name), before)
  assert.deepEqual(await backUp(database, `again-${name}`), before)
  const [key] = await database.query<{ project: string; models: string[]; addresses: string[] }>(
    'SELECT * FROM keys',
  )
  assert.deepEqual([key?.project, key?.models, key?.addresses], [TRICKY, [TRICKY, 'plain', ''], []])
}

test('every table comes through PGlite → file → PostgreSQL with the same hash', async () => {
  const first = await filled(await opened(testPglite()))
  const before = await backUp(first, 'first.gz')
  const ledger = before.find(({ table }) => table === LEDGER_TABLE)
  assert.equal(ledger?.rows, 1202)
  assert.ok(before.length > 30, 'all tables')
  const second = await emptyPostgres()
  await assertRestored(second, 'first.gz', before)
  const rest = await second.query('SELECT 1 FROM usage_events_rest')
  assert.equal(rest.length, 0, 'partitions came before their rows')
})

/** The engines share every statement of it: a change tries one direction. */
if (IS_LONG)
  test('every table comes through PostgreSQL → file → PGlite with the same hash', async () => {
    const before = await backUp(await filled(await emptyPostgres()), 'second.gz')
    await assertRestored(await opened(testPglite()), 'second.gz', before)
  })

test('a restored database is one that nodes go on with: an entry that is there already counts once', async () => {
  const database = await emptyPostgres()
  await restore(database, 'first.gz')
  await new PostgresLedger(database).append(NODE, [numbered(1), numbered(10_000)])
  const [row] = await database.query<{ rows: bigint }>('SELECT count(*) AS rows FROM usage_events')
  assert.equal(row?.rows, 1203n)
  assert.deepEqual(await migrate(database), { applied: [], unknown: [] })
})

test('a database with rows is refused, and nothing in it changes', async () => {
  const database = await emptyPostgres()
  await migrate(database)
  await database.query(`INSERT INTO projects (project, version) VALUES ('mine', 2)`)
  await assert.rejects(
    restore(database, 'first.gz'),
    /the database is not empty: the table projects has rows/,
  )
  assert.equal((await database.query('SELECT 1 FROM projects')).length, 1)
})

test('a file that was cut, changed or made by a newer version is refused before anything is made of it', async () => {
  const database = await emptyPostgres()
  const lines = gunzipSync(readFileSync(join(folder, 'first.gz')))
    .toString()
    .split('\n')
  const whole = readFileSync(join(folder, 'first.gz'))
  const bent = (from: string, to: string): Buffer =>
    gzipSync(lines.map((line) => line.replace(from, to)).join('\n'))
  for (const [file, words] of [
    [gzipSync(lines.slice(0, 100).join('\n')), /its last line is missing/],
    [bent('"p/k"', '"p/j"'), /the rows of usage_events were changed/],
    [
      bent('"name":"0001-directory.sql","sha256":"', '"name":"0001-directory.sql","sha256":"0'),
      /0001-directory\.sql/,
    ],
    [bent('"name":"usage_events_2024_11"', '"name":"x; DROP TABLE keys"'), /is no partition of Torana/],
    [gzipSync('{"table":"keys","columns":["a"]}\n'), /it is not a backup of Torana/],
    [gzipSync('hello\n'), /a line is not JSON/],
    [Buffer.from('not gzip'), /it is cut, or not a gzip file/],
    [whole.subarray(0, whole.length / 2), /it is cut/],
  ] as const) {
    writeFileSync(join(folder, 'bent.gz'), file)
    await assert.rejects(restore(database, 'bent.gz'), words)
  }
  for (const { name } of await tablesIn(database)) {
    const rows = await database.query(`SELECT 1 FROM ${name}`)
    const isSeeded = ['directory_version', 'directory_marks', 'ledger_lake', 'ledger_seal'].includes(name)
    assert.equal(rows.length, isSeeded ? 1 : 0, name)
  }
})
