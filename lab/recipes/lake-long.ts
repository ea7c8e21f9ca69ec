/** The recipe of the ledger in files, with DuckDB and ClickHouse, on a disk and on an S3 server: `npm run lab -- check/recipes`. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { WorkerLedgerFiles } from '../../server/src/runtime/ledger-files.ts'
import { DiskBlobs } from '../../server/src/stores/blobs/disk.ts'
import { S3Blobs } from '../../server/src/stores/blobs/s3.ts'
import { postgresStores } from '../../server/test/support/ledger-stores.ts'
import { fillDay, LAKE_DAYS, LAKE_NOW_MS, openTestLake } from '../../server/test/support/lake.ts'
import { S3_OWNER, s3Program, startS3Server, testPlace } from '../../server/test/support/s3.ts'
import { temporaryFolder } from '../../server/test/support/servers.ts'
import { cacheFolder } from '../conformance/folders.ts'
import { install } from '../conformance/install.ts'
import { Recipe } from './page.ts'

await install(new Set(['python-recipes']))
const python = join(cacheFolder, 'python-recipes', 'bin')
const open = postgresStores()
const ENTRIES = 5000

test('DuckDB and ClickHouse read the ledger as the database has it, and hashes can be made again from the files', async () => {
  const { database, clock, upkeep, sealing } = await open()
  const files = new WorkerLedgerFiles()
  after(() => files.close())
  clock.ms = Date.parse(LAKE_DAYS[0])
  await upkeep.makePartitions()
  for (const day of LAKE_DAYS) await fillDay(database, day, ENTRIES)
  clock.ms = LAKE_NOW_MS
  await sealing.sealDue()
  await fillDay(database, LAKE_DAYS[0], 50, 'late', 'late')
  const folder = temporaryFolder('lake')
  await openTestLake(database, await DiskBlobs.open(folder), files).lake.round()
  const sums = await database.query<{ line: string }>(
    `SELECT concat_ws(' ', day, project, count(*), sum(amount_nano)) AS line FROM (
       SELECT (to_timestamp(('x0000' || left(replace(request_id::text, '-', ''), 12))::bit(64)::bigint / 1000) AT TIME ZONE 'UTC')::date AS day,
         project, amount_nano FROM usage_events
     ) AS entries GROUP BY day, project ORDER BY day, project`,
  )
  const wanted = `${sums.map(({ line }) => line).join('\n')}\n`
  const LAKE = join(folder, 'ledger/v1')
  const recipe = new Recipe({ scripts: 'lake', env: { LAKE }, path: [python] })
  for (const script of ['duckdb_sums.py', 'clickhouse_sums.py'])
    assert.deepEqual(await recipe.run(`python ${script}`), { output: wanted, code: 0 })
  const { output, code } = await recipe.run(`python verify.py ${LAKE_DAYS[1]}`)
  assert.deepEqual([output, code], [`${LAKE_DAYS[1]}: ${ENTRIES} entries, 2 hours, as sealed\n`, 0])

  const program = s3Program()
  assert.ok(program !== undefined && existsSync(program), 'SeaweedFS is missing')
  const server = await startS3Server(program)
  after(() => server.stop())
  const place = testPlace(server.url)
  const bucket = new S3Blobs(place)
  after(() => bucket.close())
  await database.query('TRUNCATE ledger_exports; UPDATE ledger_corrections SET manifest = NULL')
  await openTestLake(database, bucket, files).lake.round()
  const onS3 = new Recipe({
    scripts: 'lake',
    env: {
      LAKE: `${server.url}/${place.bucket}/${place.prefix}/ledger/v1`,
      AWS_ACCESS_KEY_ID: S3_OWNER.accessKeyId,
      AWS_SECRET_ACCESS_KEY: S3_OWNER.secretAccessKey,
    },
    path: [python],
  })
  assert.deepEqual(await onS3.run('python clickhouse_sums.py'), { output: wanted, code: 0 })
})
