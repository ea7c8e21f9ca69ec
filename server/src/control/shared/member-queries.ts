/** There is always an admin: what every change of members has to keep. */
import type { Sql } from '#stores/postgres/database.ts'

/** An arbitrary number that no other lock of the database uses. */
const MEMBERS_LOCK = 0x70_72_61_6f

/** Until the transaction ends: who is the first and who is the last admin is decided one at a time. */
export async function lockMembers(sql: Sql): Promise<void> {
  await sql.query('SELECT pg_advisory_xact_lock($1)', [MEMBERS_LOCK])
}

/** Whether no other enabled member is an admin. */
export async function isLastAdmin(sql: Sql, memberId: string): Promise<boolean> {
  const others = await sql.query(
    `SELECT 1 FROM members WHERE role = 'admin' AND disabled_at IS NULL AND member_id <> $1 LIMIT 1`,
    [memberId],
  )
  return others.length === 0
}
