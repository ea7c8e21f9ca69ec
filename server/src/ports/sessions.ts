/** Sessions of members. A cookie is never kept: only its digest is. */
import type { Actor } from './audit.ts'
import type { MemberRecord } from './members.ts'

export interface SessionRecord {
  readonly id: string
  readonly member: MemberRecord
  readonly seenAtMs: number
  /** When it ends if nobody uses it, and at the latest. */
  readonly expiresAtMs: number
}

export interface NewSession {
  readonly memberId: string
  readonly digest: Uint8Array
  readonly address: string
}

/**
 * Sessions are read from the store, so that what ends one ends it on every node. One that nobody used for `idleMs` has ended.
 * Members who are disabled have none. Trouble with the store rejects with `StoreAway`.
 */
export interface SessionStore {
  begin(session: NewSession): Promise<SessionRecord>
  /** Undefined: there is none, or it has ended. */
  find(digest: Uint8Array): Promise<SessionRecord | undefined>
  /** It is in use. */
  touch(id: string): Promise<void>
  end(id: string, actor: Actor): Promise<void>
  endAllOf(memberId: string, actor: Actor): Promise<number>
  /** Those that have ended by themselves are forgotten. */
  sweep(): Promise<void>
}
