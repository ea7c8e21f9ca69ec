/** Invitations of people by a link, which an admin hands over. */
import type { Standing } from '#core/sign-on-rules.ts'
import type { Actor } from './audit.ts'
import type { Credentials, MemberRecord } from './members.ts'

export interface Invitation extends Standing {
  readonly email: string
  readonly expiresAtMs: number
}

export interface NewInvitation extends Standing {
  readonly email: string
  readonly digest: Uint8Array
  readonly lifeMs: number
}

/** Each change is one step with its audit entry. The link itself is never kept. Trouble rejects with `StoreAway`. */
export interface InvitationStore {
  /** Takes the place of an invitation before to the same address. To a member with a password it is the way to a new one. */
  invite(invitation: NewInvitation, actor: Actor): Promise<Invitation>
  /** By address, those that are too old too. */
  list(): Promise<readonly Invitation[]>
  /** Undefined: there is none, or it is too old. */
  find(digest: Uint8Array): Promise<Invitation | undefined>
  /** Once. Ends all sessions that the member had. Undefined: the link is wrong, old or used. */
  accept(digest: Uint8Array, credentials: Credentials, address: string): Promise<MemberRecord | undefined>
  withdraw(email: string, actor: Actor): Promise<void>
}
