/** Tokens of programs. The store keeps the digest of a token, never the token. */
import { z } from 'zod'
import type { Actor } from '#ports/audit.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import { changeAudited } from '#stores/postgres/audit.ts'
import type { Database, Sql } from '#stores/postgres/database.ts'
import { time } from '../shared/fields.ts'
import { projects, role } from '../shared/people-fields.ts'
import { answersOf } from '../shared/rows.ts'

export const token = z
  .object({
    name: z.string(),
    role,
    projects,
    read_only: z.boolean(),
    tail: z.string().describe('The last characters of the secret.'),
    created_by: z.string(),
    created_at: time,
    expires_at: time,
    last_used_at: time.nullable(),
  })
  .meta({ id: 'Token' })

type Token = z.output<typeof token>

interface NewToken extends Pick<Token, 'name' | 'role' | 'projects' | 'read_only' | 'tail'> {
  readonly digest: Uint8Array
  readonly expiresAt: Date
}

const COLUMNS = 'name, role, projects, read_only, tail, created_by, created_at, expires_at, last_used_at'

/** By name, with those that have ended. */
export function listTokens(sql: Sql) {
  return answersOf<Token>(sql, `SELECT ${COLUMNS} FROM admin_tokens ORDER BY name`)
}

export function createToken(database: Database, given: NewToken, actor: Actor): Promise<Token> {
  const { name, digest, tail, role: ownRole, projects: ownProjects, read_only: readOnly, expiresAt } = given
  return changeAudited(database, async (sql) => {
    const [made] = await answersOf<Token>(
      sql,
      `INSERT INTO admin_tokens (name, digest, tail, role, projects, read_only, created_by, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
      [name, digest, tail, ownRole, ownProjects, readOnly, actor.name, expiresAt],
    )
    if (!made) throw new ChangeRefused('exists', `There is a token ${name} already. Choose another name.`)
    const detail = { role: ownRole, projects: ownProjects, readOnly, expiresAt: made.expires_at }
    return { result: made, audit: [{ actor, action: 'token.create', target: name, detail }] }
  })
}

export function revokeToken(database: Database, name: string, actor: Actor): Promise<void> {
  return changeAudited(database, async (sql) => {
    const rows = await sql.query('DELETE FROM admin_tokens WHERE name = $1 RETURNING 1', [name])
    if (rows.length === 0) throw new ChangeRefused('missing', `There is no token ${name}.`)
    return { result: undefined, audit: [{ actor, action: 'token.revoke', target: name, detail: {} }] }
  })
}
