/** What several stores of people have in common. */
import type { Role } from '#core/permission.ts'
import type { AuditAction } from '#ports/audit.ts'
import type { MemberRecord } from '#ports/members.ts'
import { writeAudit } from '../audit.ts'
import { reachable } from '../away.ts'
import type { Database, Sql } from '../database.ts'

export interface MemberRow {
  readonly member_id: string
  readonly name: string
  readonly email: string
  readonly role: Role
  readonly projects: readonly string[] | null
  readonly source: 'local' | 'oidc'
  readonly password_hash: string | null
  readonly issuer: string | null
  readonly subject: string | null
  readonly last_address: string | null
  readonly last_seen_at: Date | null
  readonly created_at: Date
  readonly disabled_at: Date | null
}

export function memberOf(row: MemberRow): MemberRecord {
  return {
    id: row.member_id,
    name: row.name,
    email: row.email,
    role: row.role,
    projects: row.projects,
    source: row.source,
    lastSeenAtMs: row.last_seen_at?.getTime(),
    createdAtMs: row.created_at.getTime(),
    disabledAtMs: row.disabled_at?.getTime(),
  }
}

/** One change of people with its audit entries, or not at all. */
export function changePeople<Result>(
  database: Database,
  change: (sql: Sql) => Promise<{ readonly result: Result; readonly audit: readonly AuditAction[] }>,
): Promise<Result> {
  return reachable(
    database.transaction(async (sql) => {
      const { result, audit } = await change(sql)
      for (const action of audit) await writeAudit(sql, database.auditChain, action)
      return result
    }),
  )
}

/** Seconds for `make_interval`. */
export function secondsOf(ms: number): number {
  return ms / 1000
}
