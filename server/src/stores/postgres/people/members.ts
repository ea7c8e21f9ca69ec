import { randomUUID } from 'node:crypto'
import type { Actor } from '#ports/audit.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import type {
  Credentials,
  Identity,
  IdentityRefusal,
  MemberChange,
  MemberRecord,
  MemberSecrets,
  MemberStore,
} from '#ports/members.ts'
import { reachable } from '../away.ts'
import type { Database, Sql } from '../database.ts'
import { changePeople, memberOf, secondsOf, type MemberRow } from './rows.ts'

/** Any number that nothing else in the database locks by: who is the first, and who is the last admin, is decided one at a time. */
const MEMBERS_LOCK = 0x70_72_61_6f

export class PostgresMembers implements MemberStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async hasMembers(): Promise<boolean> {
    const rows = await reachable(this.#database.query('SELECT 1 FROM members LIMIT 1'))
    return rows.length > 0
  }

  async list({ limit, after }: Parameters<MemberStore['list']>[0]): Promise<readonly MemberRecord[]> {
    const rows = await reachable(
      this.#database.query<MemberRow>(
        'SELECT * FROM members WHERE $1::text IS NULL OR email > $1 ORDER BY email LIMIT $2',
        [after ?? null, limit],
      ),
    )
    return rows.map(memberOf)
  }

  async byEmail(email: string): Promise<MemberSecrets | undefined> {
    const [row] = await reachable(
      this.#database.query<MemberRow>('SELECT * FROM members WHERE email = $1', [email]),
    )
    return (
      row && {
        member: memberOf(row),
        passwordHash: row.password_hash ?? undefined,
        lastAddress: row.last_address ?? undefined,
      }
    )
  }

  change(id: string, change: MemberChange, actor: Actor): Promise<MemberRecord> {
    return changePeople(this.#database, async (sql) => {
      await lock(sql)
      const before = await memberIn(sql, id)
      if (before.source === 'oidc' && (change.role !== undefined || change.projects !== undefined))
        throw new ChangeRefused(
          'ruled',
          `${before.email} signs in by the identity provider, and its rules decide the role. Change the rules in the settings of the sign-on.`,
        )
      const after = changed(before, change)
      if (isAdmin(before) && !isAdmin(after)) await keepAnAdmin(sql, before)
      const [row] = await sql.query<MemberRow>(
        `UPDATE members SET name = $2, role = $3, projects = $4,
           disabled_at = CASE WHEN $5 THEN coalesce(disabled_at, now()) END
         WHERE member_id = $1 RETURNING *`,
        [id, after.name, after.role, after.projects, after.isDisabled],
      )
      if (after.isDisabled) await sql.query('DELETE FROM sessions WHERE member_id = $1', [id])
      const shown = ({ name, role, projects, isDisabled }: Changed) => ({
        name,
        role,
        projects,
        disabled: isDisabled,
      })
      const detail = { before: shown(changed(before, {})), after: shown(after) }
      return {
        result: memberOf(row as MemberRow),
        audit: [{ actor, action: 'member.set', target: before.email, detail }],
      }
    })
  }

  setPassword(id: string, passwordHash: string, actor: Actor): Promise<void> {
    return changePeople(this.#database, async (sql) => {
      const { email } = await memberIn(sql, id)
      await sql.query('UPDATE members SET password_hash = $2 WHERE member_id = $1', [id, passwordHash])
      await sql.query('DELETE FROM sessions WHERE member_id = $1', [id])
      return {
        result: undefined,
        audit: [{ actor, action: 'member.password', target: email, detail: {} }],
      }
    })
  }

  async addFirstRunLink(digest: Uint8Array, lifeMs: number): Promise<boolean> {
    await reachable(this.#database.query('DELETE FROM first_run_links WHERE expires_at < now()'))
    const rows = await reachable(
      this.#database.query(
        `INSERT INTO first_run_links (digest, expires_at)
         SELECT $1, now() + make_interval(secs => $2) WHERE NOT EXISTS (SELECT 1 FROM members) RETURNING 1`,
        [digest, secondsOf(lifeMs)],
      ),
    )
    return rows.length > 0
  }

  async isFirstRunLink(digest: Uint8Array): Promise<boolean> {
    const rows = await reachable(
      this.#database.query(
        `SELECT 1 FROM first_run_links WHERE digest = $1 AND expires_at > now()
         AND NOT EXISTS (SELECT 1 FROM members)`,
        [digest],
      ),
    )
    return rows.length > 0
  }

  firstAdmin(
    digest: Uint8Array,
    { name, email, passwordHash }: Credentials & { readonly email: string },
    address: string,
  ): Promise<MemberRecord | undefined> {
    return changePeople(this.#database, async (sql) => {
      await lock(sql)
      const members = await sql.query('SELECT 1 FROM members LIMIT 1')
      const links = await sql.query(
        'SELECT 1 FROM first_run_links WHERE digest = $1 AND expires_at > now()',
        [digest],
      )
      if (members.length > 0 || links.length === 0) return { result: undefined, audit: [] }
      await sql.query('DELETE FROM first_run_links')
      const [row] = await sql.query<MemberRow>(
        `INSERT INTO members (member_id, name, email, role, source, password_hash, last_address)
         VALUES ($1, $2, $3, 'admin', 'local', $4, $5) RETURNING *`,
        [randomUUID(), name, email, passwordHash, address],
      )
      const detail = { role: 'admin' }
      return {
        result: memberOf(row as MemberRow),
        audit: [{ actor: { name: email, address }, action: 'member.first', target: email, detail }],
      }
    })
  }

  identified(identity: Identity, address: string): Promise<MemberRecord | IdentityRefusal> {
    return changePeople<MemberRecord | IdentityRefusal>(this.#database, async (sql) => {
      await lock(sql)
      const { issuer, subject, email, emailVerified } = identity
      const [known] = await sql.query<MemberRow>('SELECT * FROM members WHERE issuer = $1 AND subject = $2', [
        issuer,
        subject,
      ])
      if (known) return identifiedAgain(sql, known, identity, address)
      const [sameEmail] = await sql.query<MemberRow>('SELECT * FROM members WHERE email = $1', [email])
      if (!sameEmail) return newlyIdentified(sql, identity, address)
      // An address that nobody vouches for must not open the account of another person.
      if (!emailVerified || sameEmail.issuer !== null) return { result: 'email_taken', audit: [] }
      if (sameEmail.disabled_at !== null) return { result: 'disabled', audit: [] }
      const [row] = await sql.query<MemberRow>(
        'UPDATE members SET issuer = $2, subject = $3, last_address = $4 WHERE member_id = $1 RETURNING *',
        [sameEmail.member_id, issuer, subject, address],
      )
      const detail = { issuer }
      return {
        result: memberOf(row as MemberRow),
        audit: [{ actor: { name: email, address }, action: 'member.link', target: email, detail }],
      }
    })
  }
}

async function identifiedAgain(sql: Sql, known: MemberRow, { name, standing }: Identity, address: string) {
  if (known.disabled_at !== null) return { result: 'disabled' as const, audit: [] }
  const actor = { name: known.email, address }
  // A role that admins gave is kept. So is that of the last admin: without one, the rules themselves could not be changed.
  const own = { role: known.role, projects: known.projects }
  const isKept =
    known.source === 'local' ||
    (isAdmin(known) && standing?.role !== 'admin' && (await isLastAdmin(sql, known)))
  const given = isKept ? own : standing
  if (given === undefined) {
    const ended = await sql.query('DELETE FROM sessions WHERE member_id = $1 RETURNING 1', [known.member_id])
    const entry = {
      actor,
      action: 'session.end_all',
      target: known.email,
      detail: { sessions: ended.length, reason: 'no_role' },
    }
    return { result: 'no_role' as const, audit: ended.length > 0 ? [entry] : [] }
  }
  const [row] = await sql.query<MemberRow>(
    'UPDATE members SET name = $2, role = $3, projects = $4, last_address = $5 WHERE member_id = $1 RETURNING *',
    [known.member_id, name, given.role, given.projects, address],
  )
  const isSame =
    given.role === known.role && JSON.stringify(given.projects) === JSON.stringify(known.projects)
  const detail = { before: { role: known.role, projects: known.projects }, after: given }
  const audit = isSame ? [] : [{ actor, action: 'member.set', target: known.email, detail }]
  return { result: memberOf(row as MemberRow), audit }
}

async function newlyIdentified(sql: Sql, identity: Identity, address: string) {
  const { issuer, subject, name, email, standing } = identity
  if (standing === undefined) return { result: 'no_role' as const, audit: [] }
  const [row] = await sql.query<MemberRow>(
    `INSERT INTO members (member_id, name, email, role, projects, source, issuer, subject, last_address)
     VALUES ($1, $2, $3, $4, $5, 'oidc', $6, $7, $8) RETURNING *`,
    [randomUUID(), name, email, standing.role, standing.projects, issuer, subject, address],
  )
  const detail = { ...standing, issuer }
  return {
    result: memberOf(row as MemberRow),
    audit: [{ actor: { name: email, address }, action: 'member.join', target: email, detail }],
  }
}

interface Changed extends Pick<MemberRow, 'name' | 'role' | 'projects'> {
  readonly isDisabled: boolean
}

function changed(before: MemberRow, { name, role, projects, disabled }: MemberChange): Changed {
  const newRole = role ?? before.role
  const given = projects === undefined ? before.projects : projects
  return {
    name: name ?? before.name,
    role: newRole,
    // Only developers are members of projects; the others see all.
    projects: newRole === 'developer' ? (given ?? []) : null,
    isDisabled: disabled ?? before.disabled_at !== null,
  }
}

function isAdmin(member: MemberRow | Changed): boolean {
  const isDisabled = 'isDisabled' in member ? member.isDisabled : member.disabled_at !== null
  return member.role === 'admin' && !isDisabled
}

async function keepAnAdmin(sql: Sql, member: MemberRow): Promise<void> {
  if (await isLastAdmin(sql, member))
    throw new ChangeRefused(
      'last-admin',
      `${member.email} is the last admin. Make another member an admin first.`,
    )
}

async function isLastAdmin(sql: Sql, { member_id: id }: MemberRow): Promise<boolean> {
  const others = await sql.query(
    `SELECT 1 FROM members WHERE role = 'admin' AND disabled_at IS NULL AND member_id <> $1 LIMIT 1`,
    [id],
  )
  return others.length === 0
}

async function memberIn(sql: Sql, id: string): Promise<MemberRow> {
  const [row] = await sql.query<MemberRow>('SELECT * FROM members WHERE member_id = $1', [id])
  if (row === undefined) throw new ChangeRefused('missing', `There is no member ${id}.`)
  return row
}

async function lock(sql: Sql): Promise<void> {
  await sql.query('SELECT pg_advisory_xact_lock($1)', [MEMBERS_LOCK])
}
