/** Rights of tokens, and of those whose work goes on after their request. */
import type { Actor } from '#ports/audit.ts'
import type { Sql } from '#stores/postgres/database.ts'
import type { Caller } from './caller.ts'
import type { FoundCaller } from './callers.ts'
import { answersOf } from './rows.ts'

/** The name of a token as an actor: a token may be called like one of the node. */
const TOKEN_ACTOR = `'token:' || name`

/** Undefined: there is no such token, or it has ended. */
export async function callerOfToken(sql: Sql, digest: Uint8Array): Promise<FoundCaller<Caller> | undefined> {
  const [found] = await answersOf<Caller & { readonly usedAt: string | null }>(
    sql,
    `SELECT 'token' AS kind, ${TOKEN_ACTOR} AS actor, role, projects, read_only AS "isReadOnly", last_used_at AS "usedAt"
     FROM admin_tokens WHERE digest = $1 AND expires_at > now()`,
    [digest],
  )
  if (found === undefined) return undefined
  const { usedAt, ...caller } = found
  const touch = () => sql.query('UPDATE admin_tokens SET last_used_at = now() WHERE digest = $1', [digest])
  return { caller, usedAt, touch }
}

export type Rights = Pick<Caller, 'role' | 'projects' | 'isReadOnly'>

export interface RightsSource {
  readonly reports: Sql
  /** The actors of this node's own tokens, which have every right while they are configured. */
  readonly nodeTokens: readonly string[]
}

/** What an actor may do at this moment. Undefined: nothing. Kinds that are not named here have no rights. */
export async function rightsOf(
  { kind, name }: Pick<Actor, 'kind' | 'name'>,
  { reports, nodeTokens }: RightsSource,
): Promise<Rights | undefined> {
  switch (kind) {
    case 'member':
      return one(
        reports,
        `SELECT role, projects, false AS "isReadOnly" FROM members WHERE email = $1 AND disabled_at IS NULL`,
        name,
      )
    case 'token':
      return one(
        reports,
        `SELECT role, projects, read_only AS "isReadOnly" FROM admin_tokens
         WHERE ${TOKEN_ACTOR} = $1 AND expires_at > now()`,
        name,
      )
    case 'node':
      return nodeTokens.includes(name) ? { role: 'admin', projects: null, isReadOnly: false } : undefined
    default:
      return undefined
  }
}

async function one(sql: Sql, statement: string, name: string): Promise<Rights | undefined> {
  const [rights] = await sql.query<Rights>(statement, [name])
  return rights
}
