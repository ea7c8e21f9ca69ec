/** Sessions of members. The store keeps the digest of a cookie, never the cookie; what ends a session ends it on every node. */
import { randomUUID } from 'node:crypto'
import type { Actor } from '#ports/audit.ts'
import { changeAudited } from '#stores/postgres/audit.ts'
import type { Database, Sql } from '#stores/postgres/database.ts'
import type { FoundCaller, SessionCaller } from './callers.ts'
import { answersOf } from './rows.ts'

/** Idle time after which a session ends: a day at work without a break. */
const IDLE = `interval '12 hours'`
/** Age at which a session ends, however busy it is: a stolen cookie must not work for ever. */
const LIFE = `interval '168 hours'`

interface NewSession {
  readonly memberId: string
  readonly digest: Uint8Array
  readonly address: string
}

/** Answers the session's id. */
export function startSession(database: Database, { memberId, digest, address }: NewSession): Promise<string> {
  return changeAudited(database, async (sql) => {
    const id = randomUUID()
    await sql.query(
      `INSERT INTO sessions (digest, session_id, member_id, address, expires_at) VALUES ($1, $2, $3, $4, now() + ${LIFE})`,
      [digest, id, memberId, address],
    )
    const members = await sql.query<{ readonly email: string }>(
      'UPDATE members SET last_address = $2, last_seen_at = now() WHERE member_id = $1 RETURNING email',
      [memberId, address],
    )
    const audit = members.map(({ email }) => ({
      actor: { kind: 'member', name: email, address } as const,
      action: 'session.begin',
      target: email,
      detail: { session: id },
    }))
    return { result: id, audit }
  })
}

/** Undefined: there is no such session, it has ended, or its member is disabled. */
export async function callerOfCookie(
  sql: Sql,
  digest: Uint8Array,
): Promise<FoundCaller<SessionCaller> | undefined> {
  const [found] = await answersOf<SessionCaller & { readonly usedAt: string }>(
    sql,
    `SELECT 'member' AS kind, email AS actor, role, projects, false AS "isReadOnly", session_id AS "sessionId",
       member_id AS "member.id", name AS "member.name", email AS "member.email",
       least(expires_at, seen_at + ${IDLE}) AS "expiresAt", seen_at AS "usedAt"
     FROM sessions JOIN members USING (member_id)
     WHERE digest = $1 AND expires_at > now() AND seen_at > now() - ${IDLE} AND disabled_at IS NULL`,
    [digest],
  )
  if (found === undefined) return undefined
  const { usedAt, ...caller } = found
  const touch = () =>
    sql.query(
      `WITH touched AS (UPDATE sessions SET seen_at = now() WHERE digest = $1 RETURNING member_id)
       UPDATE members SET last_seen_at = now() WHERE member_id IN (SELECT member_id FROM touched)`,
      [digest],
    )
  return { caller, usedAt, touch }
}

export function endSession(database: Database, id: string, actor: Actor): Promise<void> {
  return changeAudited(database, async (sql) => {
    const ended = await sql.query('DELETE FROM sessions WHERE session_id = $1 RETURNING 1', [id])
    const action = { actor, action: 'session.end', target: actor.name, detail: { session: id } }
    return { result: undefined, audit: ended.length > 0 ? [action] : [] }
  })
}

export function endSessionsOf(database: Database, memberId: string, actor: Actor): Promise<void> {
  return changeAudited(database, async (sql) => {
    const ended = await sql.query('DELETE FROM sessions WHERE member_id = $1 RETURNING 1', [memberId])
    const members = await sql.query<{ readonly email: string }>(
      'SELECT email FROM members WHERE member_id = $1',
      [memberId],
    )
    const detail = { sessions: ended.length }
    const audit = members.map(({ email }) => ({ actor, action: 'session.end_all', target: email, detail }))
    return { result: undefined, audit }
  })
}

/** Deletes sessions that have ended. They are refused anyway; this keeps the table small. */
export async function sweepSessions(sql: Sql): Promise<void> {
  await sql.query(`DELETE FROM sessions WHERE expires_at < now() OR seen_at < now() - ${IDLE}`)
}
