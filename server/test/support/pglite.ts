/** Databases for tests. A PGlite is a PostgreSQL inside this process, empty and in a temporary folder. To open one takes seconds of a processor: share it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { openPglite } from '#stores/postgres/pglite.ts'
import { hasPostgres, testPostgres } from './servers.ts'

export function testPglite(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'torana-pglite-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return openPglite(join(folder, 'postgres'))
}

/** A database with the tables of Torana on PostgreSQL, or an empty PGlite where there is none. */
export async function testDatabase(): Promise<Database> {
  return hasPostgres ? openPostgres((await testPostgres('tables')).url) : testPglite()
}
