/** Members as a sign-in by password needs them, and the link that makes the first admin. */
import { randomUUID } from 'node:crypto'
import type { Actor } from '#ports/audit.ts'
import { changeAudited } from '#stores/postgres/audit.ts'
import type { Database, Sql } from '#stores/postgres/database.ts'
import { lockMembers } from '../shared/member-queries.ts'

/** Life of a first-run link: from an evening to the next day. Each start prints a new one. */
const FIRST_RUN = `interval '24 hours'`

const HAS_NO_MEMBER = 'NOT EXISTS (SELECT 1 FROM members)'

interface MemberSecrets {
  readonly id: string
  /** null: this member has no password. */
  readonly password_hash: string | null
  /** Where the last sign-in came from. */
  readonly last_address: string | null
  readonly is_disabled: boolean
}

export async function hasMembers(sql: Sql): Promise<boolean> {
  return (await sql.query('SELECT 1 FROM members LIMIT 1')).length > 0
}

export async function memberSecrets(sql: Sql, email: string): Promise<MemberSecrets | undefined> {
  const [found] = await sql.query<MemberSecrets>(
    `SELECT member_id AS id, password_hash, last_address, disabled_at IS NOT NULL AS is_disabled
     FROM members WHERE email = $1`,
    [email],
  )
  return found
}

/** Ends all sessions of the member. */
export function setPassword(
  database: Database,
  { id, email }: { readonly id: string; readonly email: string },
  passwordHash: string,
  actor: Actor,
): Promise<void> {
  return changeAudited(database, async (sql) => {
    await sql.query('UPDATE members SET password_hash = $2 WHERE member_id = $1', [id, passwordHash])
    await sql.query('DELETE FROM sessions WHERE member_id = $1', [id])
    return { result: undefined, audit: [{ actor, action: 'member.password', target: email, detail: {} }] }
  })
}

/** False: there is a member, so there is no link. */
export async function addFirstRunLink(sql: Sql, digest: Uint8Array): Promise<boolean> {
  await sql.query('DELETE FROM first_run_links WHERE expires_at < now()')
  const added = await sql.query(
    `INSERT INTO first_run_links (digest, expires_at) SELECT $1, now() + ${FIRST_RUN} WHERE ${HAS_NO_MEMBER} RETURNING 1`,
    [digest],
  )
  return added.length > 0
}

/** Whether this link would make the first admin now. */
export async function isFirstRunLink(sql: Sql, digest: Uint8Array): Promise<boolean> {
  const links = await sql.query(
    `SELECT 1 FROM first_run_links WHERE digest = $1 AND expires_at > now() AND ${HAS_NO_MEMBER}`,
    [digest],
  )
  return links.length > 0
}

interface FirstAdmin {
  readonly name: string
  readonly email: string
  readonly passwordHash: string
  readonly address: string
}

/** Of those who use links at the same time, one becomes the first admin. Undefined: the link is wrong, old or used. */
export function makeFirstAdmin(
  database: Database,
  digest: Uint8Array,
  { name, email, passwordHash, address }: FirstAdmin,
): Promise<string | undefined> {
  return changeAudited(database, async (sql) => {
    await lockMembers(sql)
    if (!(await isFirstRunLink(sql, digest))) return { result: undefined, audit: [] }
    await sql.query('DELETE FROM first_run_links')
    const id = randomUUID()
    await sql.query(
      `INSERT INTO members (member_id, name, email, role, source, password_hash, last_address)
       VALUES ($1, $2, $3, 'admin', 'local', $4, $5)`,
      [id, name, email, passwordHash, address],
    )
    const detail = { role: 'admin' }
    return {
      result: id,
      audit: [
        { actor: { kind: 'member', name: email, address }, action: 'member.first', target: email, detail },
      ],
    }
  })
}
