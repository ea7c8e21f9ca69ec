import { changeAudited, type AuditedChange } from '../audit.ts'
import type { Database, Sql } from '../database.ts'

/**
 * One change of projects, keys or credentials, with the next version of the directory and its audit entries, or not at all. The
 * version's row is locked first, so changes run one after another and versions appear in order.
 */
export function changeDirectory<Result>(
  database: Database,
  change: (sql: Sql, version: bigint) => Promise<AuditedChange<Result>>,
): Promise<Result> {
  return changeAudited(database, async (sql) => {
    const [row] = await sql.query<{ version: bigint }>(
      'UPDATE directory_version SET version = version + 1 RETURNING version',
    )
    return change(sql, (row as { version: bigint }).version)
  })
}
