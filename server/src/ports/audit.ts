import type { ActorKind } from '#core/access/actor.ts'

/** The author of a change. */
export interface Actor {
  readonly kind: ActorKind
  /** A member's mail address, `token:` and the name of a token, `admin-token`, `local-admin`, or `system`. */
  readonly name: string
  /** Client address of the request, as trusted proxies report it. Absent for changes that came over no network. */
  readonly address?: string | undefined
}

/** The nodes themselves. */
export const SYSTEM: Actor = { kind: 'system', name: 'system' }

/** A change to keys, projects, credentials or the ledger. Never holds a secret. */
export interface AuditAction {
  readonly actor: Actor
  /** `<what>.<verb>`, such as `key.revoke`. */
  readonly action: string
  readonly target: string
  /** What it was before and what it is now, in JSON values. Amounts are text: JSON numbers would round them. */
  readonly detail: Readonly<Record<string, unknown>>
}

export interface AuditEntry extends Omit<AuditAction, 'actor'> {
  /** The name of the actor. */
  readonly actor: string
  /** Undefined for entries older than this field. */
  readonly actorKind: ActorKind | undefined
  readonly address: string | undefined
  /** 1, 2, 3 … without gaps. */
  readonly sequence: bigint
  readonly atMs: number
  /** SHA-256 over what is kept as the hash of the entry before, and this entry, in hex. */
  readonly hash: string
  /** False when this entry was changed, or the one before it was changed or taken out. */
  readonly intact: boolean
  readonly proof: AuditProof
}

/** An entry whose transaction has just been committed. */
export interface CommittedEntry extends AuditEntry {
  /** The `hash` of the entry before. Undefined for the first entry. */
  readonly previousHash: string | undefined
}

/**
 * Whether the hash is signed: with a key of this node, with one that it does not have (any more), or not at all, as before
 * there were keys. A signature vouches for all entries before it.
 */
export type AuditProof = 'keyed' | 'other_key' | 'unkeyed'

/**
 * The audit: each entry is added in the same transaction as the change it describes, so neither exists without the other.
 * Each entry is chained to the previous one by its hash. Reading every page verifies the whole chain; an entry cut off at
 * the very end shows only to readers who remember the last hash.
 */
export interface AuditLog {
  /** Newest first. */
  list(page: AuditPage): Promise<readonly AuditEntry[]>
  /** The state of the whole chain. It remembers what it verified, so frequent calls cost little. */
  chain(): Promise<AuditChainState>
  /**
   * Adds an entry that belongs to no change of a store. Adds nothing when the last entry with the same action and target
   * has the same `digest` in its detail: several nodes may report the same event.
   */
  appendNews(action: AuditAction & { readonly detail: { readonly digest: string } }): Promise<void>
}

/** Every field that is given has to be met. */
export interface AuditFilter {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly target?: string | undefined
  readonly fromMs?: number | undefined
  /** The first moment that is not in it. */
  readonly toMs?: number | undefined
}

export interface AuditPage extends AuditFilter {
  readonly limit: number
  /** The sequence of the last entry of the page before. */
  readonly before?: bigint | undefined
}

export interface AuditChainState {
  /** How many there are. */
  readonly entries: number
  /** How many of them, from the first on, have been verified. Less than all only while there are very many new ones. */
  readonly verified: number
  /** The sequence of the first entry that is not intact, in a list too, or of the last one that is missing at the end. */
  readonly brokenAt: bigint | undefined
  /** In hex; empty while there is no entry. A copy kept elsewhere reveals a truncated end. */
  readonly lastHash: string
}
