/** People who sign in to the console. */
import type { Role } from '#core/permission.ts'
import type { Standing } from '#core/sign-on-rules.ts'
import type { Actor } from './audit.ts'

export interface MemberRecord {
  readonly id: string
  readonly name: string
  /** In lower case. */
  readonly email: string
  readonly role: Role
  /** Of a developer. null: all. */
  readonly projects: readonly string[] | null
  /** Who decides role and projects: admins, or the rules of the sign-on at each sign-in. */
  readonly source: 'local' | 'oidc'
  readonly lastSeenAtMs: number | undefined
  readonly createdAtMs: number
  readonly disabledAtMs: number | undefined
}

/** What a sign-in by password needs. */
export interface MemberSecrets {
  readonly member: MemberRecord
  /** Undefined: this member has no password. */
  readonly passwordHash: string | undefined
  /** Where the last sign-in came from. */
  readonly lastAddress: string | undefined
}

export interface MemberChange {
  readonly name?: string | undefined
  readonly role?: Role | undefined
  readonly projects?: readonly string[] | null | undefined
  readonly disabled?: boolean | undefined
}

/** A person as an identity provider tells of it, with the standing that the rules give. */
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

/** Why somebody whom the identity provider knows is not let in. */
export type IdentityRefusal = 'no_role' | 'email_taken' | 'disabled'

export interface Credentials {
  readonly name: string
  readonly passwordHash: string
}

/**
 * Members, the first of whom comes by a link, and others by an identity provider. Each change is one step with its audit
 * entry. Secrets are given as digests only. Trouble with the store rejects with `StoreAway`, a change that can't be made with
 * `ChangeRefused`.
 */
export interface MemberStore {
  /** Whether anybody could sign in. */
  hasMembers(): Promise<boolean>
  /** By mail address. `after` is the address before the page. */
  list(page: {
    readonly limit: number
    readonly after?: string | undefined
  }): Promise<readonly MemberRecord[]>
  byEmail(email: string): Promise<MemberSecrets | undefined>
  /** The last enabled admin stays one. A disabled member has no sessions left. */
  change(id: string, change: MemberChange, actor: Actor): Promise<MemberRecord>
  /** Ends all sessions of the member. */
  setPassword(id: string, passwordHash: string, actor: Actor): Promise<void>

  /** A link for the first admin. Does nothing once there is a member, and then answers false. */
  addFirstRunLink(digest: Uint8Array, lifeMs: number): Promise<boolean>
  /** Whether this link would make the first admin now. */
  isFirstRunLink(digest: Uint8Array): Promise<boolean>
  /** Of many who use links at the same time one becomes the first admin. Undefined: the link is wrong, old or used. */
  firstAdmin(
    digest: Uint8Array,
    credentials: Credentials & { readonly email: string },
    address: string,
  ): Promise<MemberRecord | undefined>

  /**
   * Finds or makes the member, and takes over the standing where the rules decide it. A member that no rule gives a role any
   * more has no sessions left. The last admin stays one, whatever the rules say.
   */
  identified(identity: Identity, address: string): Promise<MemberRecord | IdentityRefusal>
}
