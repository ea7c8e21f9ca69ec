/** Tokens of programs at the control API: named, with a role, and with an end. */
import type { Standing } from '#core/sign-on-rules.ts'
import type { Actor } from './audit.ts'

export interface AdminTokenRecord extends Standing {
  readonly name: string
  /** The last characters, enough for a person to recognise it. */
  readonly tail: string
  readonly isReadOnly: boolean
  readonly createdBy: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly lastUsedAtMs: number | undefined
}

export interface NewAdminToken extends Standing {
  readonly name: string
  readonly digest: Uint8Array
  readonly tail: string
  readonly isReadOnly: boolean
  readonly expiresAtMs: number
}

/** Each change is one step with its audit entry. Trouble with the store rejects with `StoreAway`. */
export interface AdminTokenStore {
  /** By name, those that have ended too. */
  list(): Promise<readonly AdminTokenRecord[]>
  /** Rejects with `ChangeRefused` when the name is taken. */
  create(token: NewAdminToken, actor: Actor): Promise<AdminTokenRecord>
  /** Undefined: there is none, or it has ended. */
  find(digest: Uint8Array): Promise<AdminTokenRecord | undefined>
  /** It is in use. */
  touch(name: string): Promise<void>
  revoke(name: string, actor: Actor): Promise<void>
}
