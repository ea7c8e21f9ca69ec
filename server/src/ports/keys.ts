import type { Budget } from '#core/budget.ts'
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
