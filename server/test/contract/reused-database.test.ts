/** One database for the tests of a file: what a failed test has left behind does not disturb the next one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { allEnded, reused } from '#test/support/reused-database.ts'
import { eventually } from '#test/support/process.ts'
import { hasPostgres, testPostgres } from '#test/support/servers.ts'

const open = async (): Promise<Database> => openPostgres((await testPostgres('nothing')).url, { poolSize: 4 })
const world = reused(open, 'TRUNCATE projects CASCADE', (database) => database)

test(
  'a database is emptied when writers that a failed test has left behind have ended',
  { skip: !hasPostgres && 'PostgreSQL is not on the path' },
  async () => {
    const database = await world()
    const left = database.query(
      `DO $$ BEGIN PERFORM pg_sleep(0.2); INSERT INTO projects (project, version) VALUES ('late', 2); END $$`,
    )
    await eventually(async () => {
      const [row] = await database.query<{ active: boolean }>(
        `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'DO $$%') AS active`,
      )
      assert.equal(row?.active, true)
    })
    const next = await world()
    await left
    assert.deepEqual(await next.query('SELECT 1 FROM projects'), [])
  },
)

test('the first failure of several writers is reported when all of them have ended', async () => {
  let isDone = false
  const slow = (async () => {
    for (let round = 0; round < 10; round += 1) await Promise.resolve()
    isDone = true
  })()
  await assert.rejects(allEnded([slow, Promise.reject(new Error('lost'))]), /lost/)
  assert.ok(isDone)
})
