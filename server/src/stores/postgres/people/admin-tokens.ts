import type { Role } from '#core/permission.ts'
import type { AdminTokenRecord, AdminTokenStore, NewAdminToken } from '#ports/admin-tokens.ts'
import type { Actor } from '#ports/audit.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import { reachable } from '../away.ts'
import type { Database } from '../database.ts'
import { changePeople } from './rows.ts'

interface TokenRow {
  readonly name: string
  readonly tail: string
  readonly role: Role
  readonly projects: readonly string[] | null
  readonly read_only: boolean
  readonly created_by: string
  readonly created_at: Date
  readonly expires_at: Date
  readonly last_used_at: Date | null
}

export class PostgresAdminTokens implements AdminTokenStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async list(): Promise<readonly AdminTokenRecord[]> {
    const rows = await reachable(this.#database.query<TokenRow>('SELECT * FROM admin_tokens ORDER BY name'))
    return rows.map(tokenOf)
  }

  create(token: NewAdminToken, actor: Actor): Promise<AdminTokenRecord> {
    const { name, digest, tail, role, projects, isReadOnly, expiresAtMs } = token
    return changePeople(this.#database, async (sql) => {
      const [row] = await sql.query<TokenRow>(
        `INSERT INTO admin_tokens (name, digest, tail, role, projects, read_only, created_by, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING *`,
        [name, digest, tail, role, projects, isReadOnly, actor.name, new Date(expiresAtMs)],
      )
      if (!row) throw new ChangeRefused('exists', `There is a token ${name} already. Choose another name.`)
      const detail = { role, projects, readOnly: isReadOnly, expiresAt: row.expires_at.toISOString() }
      return { result: tokenOf(row), audit: [{ actor, action: 'token.create', target: name, detail }] }
    })
  }

  async find(digest: Uint8Array): Promise<AdminTokenRecord | undefined> {
    const [row] = await reachable(
      this.#database.query<TokenRow>('SELECT * FROM admin_tokens WHERE digest = $1 AND expires_at > now()', [
        digest,
      ]),
    )
    return row && tokenOf(row)
  }

  async touch(name: string): Promise<void> {
    await reachable(
      this.#database.query('UPDATE admin_tokens SET last_used_at = now() WHERE name = $1', [name]),
    )
  }

  revoke(name: string, actor: Actor): Promise<void> {
    return changePeople(this.#database, async (sql) => {
      const rows = await sql.query('DELETE FROM admin_tokens WHERE name = $1 RETURNING 1', [name])
      if (rows.length === 0) throw new ChangeRefused('missing', `There is no token ${name}.`)
      return { result: undefined, audit: [{ actor, action: 'token.revoke', target: name, detail: {} }] }
    })
  }
}

function tokenOf(row: TokenRow): AdminTokenRecord {
  return {
    name: row.name,
    tail: row.tail,
    role: row.role,
    projects: row.projects,
    isReadOnly: row.read_only,
    createdBy: row.created_by,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
    lastUsedAtMs: row.last_used_at?.getTime(),
  }
}
