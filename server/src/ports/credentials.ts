/** A key that seals credentials. What it sealed carries its id, which says which key opens it. */
import type { Actor } from './audit.ts'

export interface SealingKey {
  /** 8 hex digits. */
  readonly id: string
  /** 32 bytes. */
  readonly key: Uint8Array
}

/** During a rotation of the node's secret, what the previous secret sealed can still be opened. */
export interface SealingKeys {
  readonly current: SealingKey
  readonly previous: SealingKey | undefined
}

/** What may be shown of a credential. */
export interface CredentialRecord {
  readonly upstream: string
  readonly baseUrl: string
  /** False after its base URL was changed or the secret removed. */
  readonly hasSecret: boolean
  readonly updatedAtMs: number
  /** The last characters of the secret. Undefined when there is no secret, or it is too short to show any of it. */
  readonly tail: string | undefined
}

export interface NewCredential {
  readonly upstream: string
  readonly baseUrl: string
  readonly secret: string
}

/** A secret that can't be opened any more: the node's secret that sealed it is gone, or the stored text was changed. */
export class CredentialLost extends Error {
  override readonly name = 'CredentialLost'
}

/**
 * Secrets that Torana presents to upstreams. The store returns one only for the address with which it was stored, so a
 * person who can change an address does not learn the secret by it. An address is the base URL, or the provider and the
 * settings that form its host. Every change is one step with its audit entry and the next version of the directory. Store
 * failures reject with `StoreUnreachable`.
 */
export interface CredentialStore {
  /** Stores the secret in place of any before. It is never shown again. */
  put(credential: NewCredential, actor: Actor): Promise<CredentialRecord>
  /** Undefined when the upstream has none at exactly this address. Rejects with `CredentialLost`. */
  open(upstream: string, address: string): Promise<string | undefined>
  /** Another base URL than before drops the secret. Undefined when nothing is stored for the upstream. */
  setBaseUrl(upstream: string, baseUrl: string, actor: Actor): Promise<CredentialRecord | undefined>
  /** Forgets the secret. Undefined when nothing is stored for the upstream. */
  drop(upstream: string, actor: Actor): Promise<CredentialRecord | undefined>
  /** By upstream. */
  list(): Promise<readonly CredentialRecord[]>
}
