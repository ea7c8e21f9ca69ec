/** A key that seals credentials. Its id stands in what it sealed, so that it is known which key opens it. */
import type { Actor } from './audit.ts'

export interface SealingKey {
  /** 8 hex digits. */
  readonly id: string
  /** 32 bytes. */
  readonly key: Uint8Array
}

/** While the node's secret is rotated, what the previous one sealed is still opened. */
export interface SealingKeys {
  readonly current: SealingKey
  readonly previous: SealingKey | undefined
}

/** What may be shown of a credential. */
export interface CredentialRecord {
  readonly upstream: string
  readonly baseUrl: string
  /** False after its base URL was changed, or the secret taken away. */
  readonly hasSecret: boolean
  readonly updatedAtMs: number
  /** The last characters of the secret. Undefined: there is none, or it is too short to show any of it. */
  readonly tail: string | undefined
}

export interface NewCredential {
  readonly upstream: string
  readonly baseUrl: string
  readonly secret: string
}

/** A secret that can't be opened any more: it was sealed with a secret of the node that is gone, or has been changed. */
export class CredentialLost extends Error {
  override readonly name = 'CredentialLost'
}

/**
 * Secrets that Torana presents to upstreams. The store gives one out only for the address that it was stored with, so that
 * a person who can change an address does not learn the secret by it. An address is the base URL, or the provider and the
 * settings that form its host. Every change is one step with its audit entry and the next version of the directory. Trouble
 * with the store rejects with `StoreAway`.
 */
export interface CredentialStore {
  /** Stores the secret in place of any before. It is never shown again. */
  put(credential: NewCredential, actor: Actor): Promise<CredentialRecord>
  /** Undefined when there is none for this upstream at exactly one of these addresses. Rejects with `CredentialLost`. */
  open(upstream: string, addresses: readonly string[]): Promise<string | undefined>
  /** Another base URL than before drops the secret. Undefined when nothing is stored for the upstream. */
  setBaseUrl(upstream: string, baseUrl: string, actor: Actor): Promise<CredentialRecord | undefined>
  /** Forgets the secret. Undefined when nothing is stored for the upstream. */
  drop(upstream: string, actor: Actor): Promise<CredentialRecord | undefined>
  /** By upstream. */
  list(): Promise<readonly CredentialRecord[]>
}
