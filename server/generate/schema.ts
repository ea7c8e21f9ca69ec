/** `server/src/stores/postgres/schema.txt`: what the migrations make, found in a database in which they ran. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '#stores/postgres/migrate.ts'
import { openPglite } from '#stores/postgres/pglite.ts'
import { objectsIn, schemaText, versionLine } from '#stores/postgres/schema.ts'

/** A database takes seconds to make, so the present text stays while it is of the present migrations. */
export async function schemaOf(present: string): Promise<string> {
  if (present.startsWith(`${versionLine()}\n`)) return present
  const folder = mkdtempSync(join(tmpdir(), 'torana-schema-'))
  const database = await openPglite(join(folder, 'postgres'))
  try {
    await migrate(database)
    return schemaText(await objectsIn(database))
  } finally {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
