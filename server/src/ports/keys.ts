import type { Player } from '#core/access/actor.ts'
import type { Budget } from '#core/money/budget.ts'
import type { KeyStanding } from '#core/access/continuation.ts'
import type { KeyBounds } from '#core/catalog/key-bounds.ts'
import type { RateLimit } from '#core/limits/limit.ts'

/** A key as the journey sees it: the caller, and what it may ask for. */
export interface Key {
  readonly id: string
  readonly name: string
  readonly project: string
  /** Model ids it may use; undefined: all. */
  readonly models: ReadonlySet<string> | undefined
  readonly expiresAtMs: number | undefined
  /** Of the key and of its project. */
  readonly limits: readonly RateLimit[]
  /** At most one of the project and one of the key. */
  readonly budgets: readonly Budget[]
  /** Undefined: no restriction of purpose or network. */
  readonly bounds?: KeyBounds | undefined
  /** The actor whose playground it opens. Undefined: a key with a secret of its own. */
  readonly player?: Player | undefined
}

/** Why a secret no longer opens a key. */
export interface KeyEnd {
  /** The name of the key that it opened. */
  readonly name: string
  readonly how: 'revoked' | 'rotated'
  readonly atMs: number
}

/**
 * Finds the key of a presented secret. The answer is immediate when it is in memory, so that the hot lane does not wait for
 * the event loop. An implementation compares keyed digests, never the secrets themselves. An unreachable store rejects; it
 * never answers "unknown".
 */
export interface KeyDirectory {
  /** `mayAsk` false: only memory counts, and no store is asked. */
  find(secret: string, mayAsk?: boolean): Key | undefined | Promise<Key | undefined>
  /** Why a secret that was just not found has ended, as far as this node knows. It asks no store. */
  endOf?(secret: string): KeyEnd | undefined
}

/** The owner of work that goes on after the request that began it. */
export interface WorkOwner {
  readonly keyId: string
  readonly project: string
  /** The actor in whose playground it began. Undefined: under a key. */
  readonly player: Player | undefined
}

/** A key at this moment. */
export type KeyNow =
  | { readonly standing: 'valid'; readonly key: Key }
  | { readonly standing: Exclude<KeyStanding, 'valid'>; readonly isProjectDeleted: boolean }

/**
 * The terms in force now. Work that goes on after its request asks here before it spends money: each call of a batch, of an
 * image job, of the playground. A node learns of a change of keys, projects and budgets within two seconds, and of
 * torana.yaml with its reload; that is when the change takes effect on it.
 *
 * The answer is immediate for keys that this node knows. While the store is unreachable the last known terms hold for
 * `STALE_KEYS_MS`; after that, and for keys that only the store could know, the standing is `unreachable`. No method
 * rejects because the store is unreachable.
 */
export interface TermsInForce {
  of(owner: WorkOwner): KeyNow | Promise<KeyNow>
  /** The terms of the project alone, under the key's name for the ledger. Undefined when this node cannot know them now. */
  ofProject(owner: WorkOwner): Key | undefined
}
