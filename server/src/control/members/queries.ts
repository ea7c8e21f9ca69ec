/** People who sign in to the console: listed and changed. */
import { z } from 'zod'
import type { Actor } from '#ports/audit.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import { changeAudited } from '#stores/postgres/audit.ts'
import type { Database, Sql } from '#stores/postgres/database.ts'
import { time } from '../shared/fields.ts'
import { isLastAdmin, lockMembers } from '../shared/member-queries.ts'
import { personName, projects, projectsFor, role } from '../shared/people-fields.ts'
import { answersOf } from '../shared/rows.ts'

export const member = z
  .object({
    id: z.uuid(),
    name: z.string(),
    email: z.string(),
    role,
    projects,
    source: z.enum(['local', 'oidc']).describe('Who decides the role: admins, or the rules of the sign-on.'),
    last_seen_at: time.nullable(),
    created_at: time,
    disabled_at: time.nullable(),
  })
  .meta({ id: 'Member' })

export const memberChange = z
  .strictObject({
    name: personName.optional(),
    role: role.optional(),
    projects: projects.optional(),
    disabled: z.boolean().optional().describe('A disabled member has no sessions, and can not sign in.'),
  })
  .meta({ id: 'MemberChange', examples: [{ role: 'operator' }] })

type Member = z.output<typeof member>
type MemberChange = z.output<typeof memberChange>

const COLUMNS = 'member_id AS id, name, email, role, projects, source, last_seen_at, created_at, disabled_at'

interface MemberPage {
  readonly limit: number
  /** The last address of the page before. */
  readonly after?: string | undefined
}

/** By mail address. */
export function listMembers(sql: Sql, { limit, after }: MemberPage) {
  return answersOf<Member>(
    sql,
    `SELECT ${COLUMNS} FROM members WHERE $1::text IS NULL OR email > $1 ORDER BY email LIMIT $2`,
    [after ?? null, limit],
  )
}

/** The last enabled admin stays one. A disabled member has no sessions left. */
export function changeMember(
  database: Database,
  id: string,
  change: MemberChange,
  actor: Actor,
): Promise<Member> {
  return changeAudited(database, async (sql) => {
    await lockMembers(sql)
    const [found] = await answersOf<Member>(sql, `SELECT ${COLUMNS} FROM members WHERE member_id = $1`, [id])
    if (found === undefined) throw new ChangeRefused('missing', `There is no member ${id}.`)
    const { email, source } = found
    if (source === 'oidc' && (change.role !== undefined || change.projects !== undefined))
      throw new ChangeRefused(
        'ruled',
        `${email} signs in by the identity provider, and its rules decide the role. Change the rules in the settings of the sign-on.`,
      )
    const before = changed(found, {})
    const after = changed(found, change)
    if (isAdmin(before) && !isAdmin(after) && (await isLastAdmin(sql, id)))
      throw new ChangeRefused('last-admin', `${email} is the last admin. Make another member an admin first.`)
    const [result] = await answersOf<Member>(
      sql,
      `UPDATE members SET name = $2, role = $3, projects = $4,
         disabled_at = CASE WHEN $5 THEN coalesce(disabled_at, now()) END
       WHERE member_id = $1 RETURNING ${COLUMNS}`,
      [id, after.name, after.role, after.projects, after.disabled],
    )
    if (after.disabled) await sql.query('DELETE FROM sessions WHERE member_id = $1', [id])
    return {
      result: result as Member,
      audit: [{ actor, action: 'member.set', target: email, detail: { before, after } }],
    }
  })
}

type Changed = Pick<Member, 'name' | 'role' | 'projects'> & { readonly disabled: boolean }

function changed(before: Member, change: MemberChange): Changed {
  const newRole = change.role ?? before.role
  const named = change.projects === undefined ? before.projects : change.projects
  return {
    name: change.name ?? before.name,
    role: newRole,
    projects: projectsFor({ role: newRole, projects: named }),
    disabled: change.disabled ?? before.disabled_at !== null,
  }
}

function isAdmin({ role: given, disabled }: Changed): boolean {
  return given === 'admin' && !disabled
}
