/** Rights of tokens, and of those whose work goes on after their request. */
import type { Sql } from '#stores/postgres/database.ts'
import type { Caller } from './caller.ts'
import type { FoundCaller } from './callers.ts'
import { answersOf } from './rows.ts'

/** Before the name of a token in the audit. No mail address begins so. */
const TOKEN_ACTOR = 'token:'

/** Undefined: there is no such token, or it has ended. */
export async function callerOfToken(sql: Sql, digest: Uint8Array): Promise<FoundCaller<Caller> | undefined> {
  const [found] = await answersOf<Caller & { readonly usedAt: string | null }>(
    sql,
    `SELECT '${TOKEN_ACTOR}' || name AS actor, role, projects, read_only AS "isReadOnly", last_used_at AS "usedAt"
     FROM admin_tokens WHERE digest = $1 AND expires_at > now()`,
    [digest],
  )
  if (found === undefined) return undefined
  const { usedAt, ...caller } = found
  const touch = () => sql.query('UPDATE admin_tokens SET last_used_at = now() WHERE digest = $1', [digest])
  return { caller, usedAt, touch }
}

export type Rights = Pick<Caller, 'role' | 'projects' | 'isReadOnly'>

/** What this actor of the audit may do at this moment. Undefined: its token has ended, or the member is disabled or gone. */
export async function rightsOf(sql: Sql, actor: string): Promise<Rights | undefined> {
  const [rights] = actor.startsWith(TOKEN_ACTOR)
    ? await sql.query<Rights>(
        `SELECT role, projects, read_only AS "isReadOnly" FROM admin_tokens WHERE name = $1 AND expires_at > now()`,
        [actor.slice(TOKEN_ACTOR.length)],
      )
    : actor.includes('@')
      ? await sql.query<Rights>(
          `SELECT role, projects, false AS "isReadOnly" FROM members WHERE email = $1 AND disabled_at IS NULL`,
          [actor],
        )
      : // The token of this install's own disk, or of its environment: it has every right while it is configured.
        [{ role: 'admin' as const, projects: null, isReadOnly: false }]
  return rights
}
