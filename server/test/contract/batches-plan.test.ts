import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { NEXT_BATCH } from '#stores/postgres/jobs/batches-sql.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { testPostgres } from '#test/support/servers.ts'
import { fillConsoleData, TINY_INSTALL } from '../../../lab/bench/console-data.ts'

const { url } = await testPostgres()
const database = openPostgres(url, { poolSize: 1 })
after(() => database.close())
await migrate(database)

test('the next chunk is found without a look at batches that have ended', async () => {
  // Every node asks several times a second, and an install has a million batches after some months.
  await fillConsoleData(database, { ...TINY_INSTALL, keys: 5000 }, Date.now())
  const plan = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${NEXT_BATCH}`, [false, [], []])
  const lines = plan.map((line) => line['QUERY PLAN']).join('\n')
  assert.match(lines, /batches_open/)
  assert.doesNotMatch(lines, /Seq Scan on batches/)
})
