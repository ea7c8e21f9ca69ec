/** Invitations of people by a link that an admin hands over. The store keeps the digest of a link, never the link. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Actor } from '#ports/audit.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import { changeAudited } from '#stores/postgres/audit.ts'
import type { Database, Sql } from '#stores/postgres/database.ts'
import { time } from '../shared/fields.ts'
import { projects, role } from '../shared/people-fields.ts'
import { answersOf } from '../shared/rows.ts'

export const invitation = z
  .object({
    email: z.string(),
    role,
    projects,
    link: z.string().optional().describe('In the answer to POST alone. It is never shown again.'),
    expires_at: time,
  })
  .meta({ id: 'Invitation' })

type Invitation = Omit<z.output<typeof invitation>, 'link'>
type Invited = Pick<Invitation, 'role' | 'projects'>

const COLUMNS = 'email, role, projects, expires_at'
/** Life of a link: long enough for a person on holiday. */
const LIFE = `interval '168 hours'`

/** Takes the place of an earlier invitation to the same address. For a member with a password it is the way to a new one. */
export function invite(
  database: Database,
  given: Omit<Invitation, 'expires_at'> & { readonly digest: Uint8Array },
  actor: Actor,
): Promise<Invitation> {
  const { email, digest, role: newRole, projects: newProjects } = given
  return changeAudited(database, async (sql) => {
    const [member] = await sql.query<Invited & { source: 'local' | 'oidc'; is_disabled: boolean }>(
      `SELECT role, projects, source, disabled_at IS NOT NULL AS is_disabled FROM members WHERE email = $1`,
      [email],
    )
    if (member?.source === 'oidc')
      throw new ChangeRefused(
        'exists',
        `${email} is a member already, and signs in by the identity provider.`,
      )
    if (member?.is_disabled === true)
      throw new ChangeRefused('exists', `${email} is a member who is disabled. Enable the member instead.`)
    const invited = member ?? { role: newRole, projects: newProjects }
    const [made] = await answersOf<Invitation>(
      sql,
      `INSERT INTO invitations (email, digest, role, projects, expires_at) VALUES ($1, $2, $3, $4, now() + ${LIFE})
       ON CONFLICT (email) DO UPDATE SET digest = excluded.digest, role = excluded.role, projects = excluded.projects,
         created_at = now(), expires_at = excluded.expires_at
       RETURNING ${COLUMNS}`,
      [email, digest, invited.role, invited.projects],
    )
    const detail = member ? { newPassword: true } : { role: newRole, projects: newProjects }
    return {
      result: made as Invitation,
      audit: [{ actor, action: 'member.invite', target: email, detail }],
    }
  })
}

/** By address, with those that are too old. */
export function listInvitations(sql: Sql) {
  return answersOf<Invitation>(sql, `SELECT ${COLUMNS} FROM invitations ORDER BY email`)
}

/** Undefined: there is none, or it is too old. */
export async function findInvitation(sql: Sql, digest: Uint8Array): Promise<Invitation | undefined> {
  const [found] = await answersOf<Invitation>(
    sql,
    `SELECT ${COLUMNS} FROM invitations WHERE digest = $1 AND expires_at > now()`,
    [digest],
  )
  return found
}

interface Acceptance {
  readonly name: string
  readonly passwordHash: string
  readonly address: string
}

/**
 * Works once, and ends all sessions that the member had. Answers the id of the member. Undefined: the link is wrong, old or
 * used.
 */
export function acceptInvitation(
  database: Database,
  digest: Uint8Array,
  { name, passwordHash, address }: Acceptance,
): Promise<string | undefined> {
  return changeAudited(database, async (sql) => {
    const [accepted] = await sql.query<Invited & { readonly email: string }>(
      'DELETE FROM invitations WHERE digest = $1 AND expires_at > now() RETURNING email, role, projects',
      [digest],
    )
    if (!accepted) return { result: undefined, audit: [] }
    const { email } = accepted
    const [member] = await sql.query<Invited & { readonly id: string }>(
      `INSERT INTO members (member_id, name, email, role, projects, source, password_hash, last_address)
       VALUES ($1, $2, $3, $4, $5, 'local', $6, $7)
       ON CONFLICT (email) DO UPDATE SET password_hash = excluded.password_hash, last_address = excluded.last_address
         WHERE members.source = 'local' AND members.disabled_at IS NULL
       RETURNING member_id AS id, role, projects`,
      [randomUUID(), name, email, accepted.role, accepted.projects, passwordHash, address],
    )
    if (!member) return { result: undefined, audit: [] }
    const { id, ...detail } = member
    await sql.query('DELETE FROM sessions WHERE member_id = $1', [id])
    return {
      result: id,
      audit: [
        { actor: { kind: 'member', name: email, address }, action: 'member.accept', target: email, detail },
      ],
    }
  })
}

export function withdrawInvitation(database: Database, email: string, actor: Actor): Promise<void> {
  return changeAudited(database, async (sql) => {
    const rows = await sql.query('DELETE FROM invitations WHERE email = $1 RETURNING 1', [email])
    if (rows.length === 0) throw new ChangeRefused('missing', `There is no invitation of ${email}.`)
    return { result: undefined, audit: [{ actor, action: 'member.withdraw', target: email, detail: {} }] }
  })
}
