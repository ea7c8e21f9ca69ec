/** One database for a whole test file: making one takes longer than most tests. */
import { after } from 'node:test'
import type { Database } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'

/** Builds on a database that `empty`, a statement, has emptied. It is closed with the file. */
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
    await database.query(empty)
    return worldIn(database)
  }
}
