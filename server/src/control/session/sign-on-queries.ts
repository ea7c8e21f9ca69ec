/** What a sign-in by the identity provider reads and writes. */
import { randomUUID } from 'node:crypto'
import type { Standing } from '#core/access/sign-on-rules.ts'
import type { SealingKeys } from '#ports/credentials.ts'
import type { SignOnSettings } from '#ports/sign-on.ts'
import { openSecret } from '#stores/envelope.ts'
import { changeAudited, type AuditedChange } from '#stores/postgres/audit.ts'
import type { Database, Sql } from '#stores/postgres/database.ts'
import { isLastAdmin, lockMembers } from '../shared/member-queries.ts'
import { readSignOn, type KeptSignOn } from '../shared/sign-on-queries.ts'

/** With the secret opened. Undefined: there is no sign-on. Rejects with `CredentialLost`. */
export async function openSignOn(
  sql: Sql,
  keys: SealingKeys,
): Promise<(SignOnSettings & Pick<KeptSignOn, 'rules'>) | undefined> {
  const kept = await readSignOn(sql)
  if (!kept) return undefined
  const { sign_on_id: id, issuer, client_id: clientId, sealed_key: sealedKey, rules } = kept
  const settings = { issuer, clientId, clientSecret: undefined, rules }
  if (sealedKey === null || kept.sealed_secret === null) return settings
  const { secret, renewedKey } = openSecret({ sealedKey, sealedSecret: kept.sealed_secret }, id, keys)
  if (renewedKey)
    await sql.query('UPDATE sign_on SET sealed_key = $2 WHERE sign_on_id = $1', [id, renewedKey])
  return { ...settings, clientSecret: secret }
}

/** A person as an identity provider describes them, with the standing that the rules give. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
  readonly name: string
  readonly email: string
  /** The provider vouches for the address. */
  readonly emailVerified: boolean
  /** Undefined: no rule gives a role. */
  readonly standing: Standing | undefined
}

type Outcome =
  | { readonly memberId: string }
  /** Why a person known to the identity provider is not let in. */
  | { readonly problem: 'no_role' | 'email_taken' | 'disabled' }

interface KnownMember extends Standing {
  readonly id: string
  readonly email: string
  readonly source: 'local' | 'oidc'
  readonly is_linked: boolean
  readonly is_disabled: boolean
}

const KNOWN = `SELECT member_id AS id, email, role, projects, source, issuer IS NOT NULL AS is_linked,
  disabled_at IS NOT NULL AS is_disabled FROM members`

/**
 * Finds or makes the member, and takes over the standing where the rules decide it. A member without a role by the rules has
 * no sessions left. The last admin stays one, whatever the rules say.
 */
export function identifyMember(database: Database, identity: Identity, address: string): Promise<Outcome> {
  return changeAudited(database, async (sql): Promise<AuditedChange<Outcome>> => {
    await lockMembers(sql)
    const { issuer, subject, email, emailVerified } = identity
    const [known] = await sql.query<KnownMember>(`${KNOWN} WHERE issuer = $1 AND subject = $2`, [
      issuer,
      subject,
    ])
    if (known) return identifiedAgain(sql, known, identity, address)
    const [sameEmail] = await sql.query<KnownMember>(`${KNOWN} WHERE email = $1`, [email])
    if (!sameEmail) return newlyIdentified(sql, identity, address)
    // An address that the provider does not vouch for must not open the account of another person.
    if (!emailVerified || sameEmail.is_linked) return refused('email_taken')
    if (sameEmail.is_disabled) return refused('disabled')
    await sql.query('UPDATE members SET issuer = $2, subject = $3, last_address = $4 WHERE member_id = $1', [
      sameEmail.id,
      issuer,
      subject,
      address,
    ])
    return {
      result: { memberId: sameEmail.id },
      audit: [
        {
          actor: { kind: 'member', name: email, address },
          action: 'member.link',
          target: email,
          detail: { issuer },
        },
      ],
    }
  })
}

async function identifiedAgain(
  sql: Sql,
  known: KnownMember,
  { name, standing }: Identity,
  address: string,
): Promise<AuditedChange<Outcome>> {
  const { id, email, role, projects } = known
  if (known.is_disabled) return refused('disabled')
  const actor = { kind: 'member', name: email, address } as const
  // A role that admins gave is kept. So is that of the last admin: without one, the rules themselves could not be changed.
  const isKept =
    known.source === 'local' ||
    (role === 'admin' && standing?.role !== 'admin' && (await isLastAdmin(sql, id)))
  const before = { role, projects }
  const after = isKept ? before : standing
  if (after === undefined) {
    const ended = await sql.query('DELETE FROM sessions WHERE member_id = $1 RETURNING 1', [id])
    const detail = { sessions: ended.length, reason: 'no_role' }
    const entry = { actor, action: 'session.end_all', target: email, detail }
    return { ...refused('no_role'), audit: ended.length > 0 ? [entry] : [] }
  }
  await sql.query(
    'UPDATE members SET name = $2, role = $3, projects = $4, last_address = $5 WHERE member_id = $1',
    [id, name, after.role, after.projects, address],
  )
  const isSame = after.role === role && JSON.stringify(after.projects) === JSON.stringify(projects)
  const entry = { actor, action: 'member.set', target: email, detail: { before, after } }
  return { result: { memberId: id }, audit: isSame ? [] : [entry] }
}

async function newlyIdentified(
  sql: Sql,
  { issuer, subject, name, email, standing }: Identity,
  address: string,
): Promise<AuditedChange<Outcome>> {
  if (standing === undefined) return refused('no_role')
  const id = randomUUID()
  await sql.query(
    `INSERT INTO members (member_id, name, email, role, projects, source, issuer, subject, last_address)
     VALUES ($1, $2, $3, $4, $5, 'oidc', $6, $7, $8)`,
    [id, name, email, standing.role, standing.projects, issuer, subject, address],
  )
  const detail = { ...standing, issuer }
  return {
    result: { memberId: id },
    audit: [
      { actor: { kind: 'member', name: email, address }, action: 'member.join', target: email, detail },
    ],
  }
}

function refused(problem: Extract<Outcome, { problem: string }>['problem']): AuditedChange<Outcome> {
  return { result: { problem }, audit: [] }
}
