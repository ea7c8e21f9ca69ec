/** Prepares once what every first start would compute again: the facts of the catalog, and a database with its tables. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serialize } from 'node:v8'
import { builtInFacts } from '#config/build/facts.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { packFolder } from '#stores/postgres/packed-folder.ts'
import { openPglite } from '#stores/postgres/pglite.ts'

export async function prepare(out: string): Promise<void> {
  mkdirSync(out, { recursive: true })
  writeFileSync(join(out, 'facts'), serialize(builtInFacts()))
  const work = mkdtempSync(join(tmpdir(), 'torana-build-'))
  try {
    const folder = join(work, 'postgres')
    const database = await openPglite(folder)
    await migrate(database)
    await database.close()
    writeFileSync(join(out, 'postgres'), packFolder(folder))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
