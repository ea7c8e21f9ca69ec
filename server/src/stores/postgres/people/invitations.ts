import { randomUUID } from 'node:crypto'
import type { Role } from '#core/permission.ts'
import type { Actor } from '#ports/audit.ts'
import type { Invitation, InvitationStore, NewInvitation } from '#ports/invitations.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import type { Credentials, MemberRecord } from '#ports/members.ts'
import { reachable } from '../away.ts'
import type { Database } from '../database.ts'
import { changePeople, memberOf, secondsOf, type MemberRow } from './rows.ts'

interface InvitationRow {
  readonly email: string
  readonly role: Role
  readonly projects: readonly string[] | null
  readonly expires_at: Date
}

export class PostgresInvitations implements InvitationStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  invite({ email, digest, role, projects, lifeMs }: NewInvitation, actor: Actor): Promise<Invitation> {
    return changePeople(this.#database, async (sql) => {
      const [member] = await sql.query<MemberRow>('SELECT * FROM members WHERE email = $1', [email])
      if (member && (member.source === 'oidc' || member.disabled_at !== null))
        throw new ChangeRefused(
          'exists',
          member.source === 'oidc'
            ? `${email} is a member already, and signs in by the identity provider.`
            : `${email} is a member who is disabled. Enable the member instead.`,
        )
      const [row] = await sql.query<InvitationRow>(
        `INSERT INTO invitations (email, digest, role, projects, expires_at)
         VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5))
         ON CONFLICT (email) DO UPDATE SET digest = excluded.digest, role = excluded.role, projects = excluded.projects,
           created_at = now(), expires_at = excluded.expires_at
         RETURNING *`,
        [email, digest, member?.role ?? role, member ? member.projects : projects, secondsOf(lifeMs)],
      )
      const detail = member ? { newPassword: true } : { role, projects }
      return {
        result: invitationOf(row as InvitationRow),
        audit: [{ actor, action: 'member.invite', target: email, detail }],
      }
    })
  }

  async list(): Promise<readonly Invitation[]> {
    const rows = await reachable(
      this.#database.query<InvitationRow>('SELECT * FROM invitations ORDER BY email'),
    )
    return rows.map(invitationOf)
  }

  async find(digest: Uint8Array): Promise<Invitation | undefined> {
    const [row] = await reachable(
      this.#database.query<InvitationRow>(
        'SELECT * FROM invitations WHERE digest = $1 AND expires_at > now()',
        [digest],
      ),
    )
    return row && invitationOf(row)
  }

  accept(
    digest: Uint8Array,
    { name, passwordHash }: Credentials,
    address: string,
  ): Promise<MemberRecord | undefined> {
    return changePeople(this.#database, async (sql) => {
      const [invitation] = await sql.query<InvitationRow>(
        'DELETE FROM invitations WHERE digest = $1 AND expires_at > now() RETURNING *',
        [digest],
      )
      if (!invitation) return { result: undefined, audit: [] }
      const { email, role, projects } = invitation
      const [row] = await sql.query<MemberRow>(
        `INSERT INTO members (member_id, name, email, role, projects, source, password_hash, last_address)
         VALUES ($1, $2, $3, $4, $5, 'local', $6, $7)
         ON CONFLICT (email) DO UPDATE SET password_hash = excluded.password_hash, last_address = excluded.last_address
           WHERE members.source = 'local' AND members.disabled_at IS NULL
         RETURNING *`,
        [randomUUID(), name, email, role, projects, passwordHash, address],
      )
      if (!row) return { result: undefined, audit: [] }
      await sql.query('DELETE FROM sessions WHERE member_id = $1', [row.member_id])
      const detail = { role: row.role, projects: row.projects }
      return {
        result: memberOf(row),
        audit: [{ actor: { name: email, address }, action: 'member.accept', target: email, detail }],
      }
    })
  }

  withdraw(email: string, actor: Actor): Promise<void> {
    return changePeople(this.#database, async (sql) => {
      const rows = await sql.query('DELETE FROM invitations WHERE email = $1 RETURNING 1', [email])
      if (rows.length === 0) throw new ChangeRefused('missing', `There is no invitation of ${email}.`)
      return {
        result: undefined,
        audit: [{ actor, action: 'member.withdraw', target: email, detail: {} }],
      }
    })
  }
}

function invitationOf({ email, role, projects, expires_at: expiresAt }: InvitationRow): Invitation {
  return { email, role, projects, expiresAtMs: expiresAt.getTime() }
}
