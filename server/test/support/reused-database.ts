/** One database for a whole test file: making one takes longer than most tests. */
import assert from 'node:assert/strict'
import { after } from 'node:test'
import type { Database } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { eventually } from './process.ts'

/** Statements of others. A test that failed may have left writers behind, which would stand in the way of the next one. */
const ACTIVE = `
SELECT query FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle'`

/** Builds on a database that `empty`, a statement, has emptied when it was silent. It is closed with the file. */
export function reused<World>(
  open: () => Promise<Database>,
  empty: string,
  worldIn: (database: Database) => World,
): () => Promise<World> {
  let opened: Promise<Database> | undefined
  after(async () => (await opened)?.close())
  return async () => {
    opened ??= open().then(async (database) => {
      await migrate(database)
      return database
    })
    const database = await opened
    await eventually(async () =>
      assert.deepEqual(await database.query(ACTIVE), [], 'a test has left writers'),
    )
    await database.query(empty)
    return worldIn(database)
  }
}

/** As `Promise.all`, once each of them has ended: writers that go on after a failed test would disturb the next one. */
export async function allEnded<Value>(writers: readonly Promise<Value>[]): Promise<Value[]> {
  await Promise.allSettled(writers)
  return Promise.all(writers)
}
