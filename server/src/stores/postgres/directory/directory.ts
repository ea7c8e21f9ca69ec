import type { AuditAction } from '#ports/audit.ts'
import { writeAudit } from '../audit.ts'
import { reachable } from '../away.ts'
import type { Database, Sql } from '../database.ts'

interface DirectoryChange<Result> {
  readonly result: Result
  readonly audit: readonly AuditAction[]
}

/**
 * One change of projects, keys or credentials: with the next version of the directory and its audit entries, or not at all.
 * The version's row is locked first, so changes are made one after another and versions appear in their order.
 */
export function changeDirectory<Result>(
  database: Database,
  change: (sql: Sql, version: bigint) => Promise<DirectoryChange<Result>>,
): Promise<Result> {
  return reachable(
    database.transaction(async (sql) => {
      const [row] = await sql.query<{ version: bigint }>(
        'UPDATE directory_version SET version = version + 1 RETURNING version',
      )
      const { result, audit } = await change(sql, (row as { version: bigint }).version)
      for (const action of audit) await writeAudit(sql, database.auditChain, action)
      return result
    }),
  )
}
