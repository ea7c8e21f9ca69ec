/** What Kysely knows of each table: the shape of its rows when read, inserted and updated. */
import type { Generated } from 'kysely'

export interface Tables {
  torana_migrations: MigrationsTable
}

interface MigrationsTable {
  version: number
  name: string
  sha256: string
  applied_at: Generated<Date>
}
