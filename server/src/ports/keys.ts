import type { Budget } from '#core/budget.ts'
import type { KeyStanding } from '#core/rights/continuation.ts'
import type { KeyBounds } from '#core/key-bounds.ts'
import type { RateLimit } from '#core/limit.ts'

/** A key as the journey sees it: who is asking, and what they may ask for. */
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
  /** Undefined: it may be used for everything, from everywhere. */
  readonly bounds?: KeyBounds | undefined
}

/** How a secret came to open nothing any more. */
export interface KeyEnd {
  /** Of the key that it opened. */
  readonly name: string
  readonly how: 'revoked' | 'rotated'
  readonly atMs: number
}

/**
 * Looks up who presented a secret. The answer is immediate when it is known in memory, so that the hot lane does not
 * wait for the event loop. An implementation compares keyed digests, never the secrets themselves. A store that can't be
 * reached rejects; it never answers "unknown".
 */
export interface KeyDirectory {
  /** `mayAsk` false: only what is known in memory counts, and no store is asked. */
  find(secret: string, mayAsk?: boolean): Key | undefined | Promise<Key | undefined>
  /** How a secret ended that was just not found, as far as this node has heard. It asks nobody. */
  endOf?(secret: string): KeyEnd | undefined
}

/** The owner of work that goes on after the request that began it. */
export interface WorkOwner {
  readonly keyId: string
  readonly project: string
}

/** A key at this moment. */
export type KeyNow =
  | { readonly standing: 'valid'; readonly key: Key }
  | { readonly standing: Exclude<KeyStanding, 'valid'>; readonly isProjectDeleted: boolean }

/**
 * The terms that are in force now. Whatever goes on after its request asks here before it spends money: each call of a batch, of an
 * image job, of the playground. A node hears of a change of keys, projects and budgets within two seconds, and of torana.yaml with
 * its reload; that is when the change takes effect on it.
 *
 * The answer is immediate for keys that this node knows. While the store is away the last known terms hold for `STALE_KEYS_MS`; then,
 * and for keys that only the store could know, the standing is `unreachable`. No method rejects because the store is away.
 */
export interface TermsInForce {
  of(owner: WorkOwner): KeyNow | Promise<KeyNow>
  /** What binds the project alone, under the key's name for the ledger. Undefined: this node cannot know it now. */
  ofProject(owner: WorkOwner): Key | undefined
}
