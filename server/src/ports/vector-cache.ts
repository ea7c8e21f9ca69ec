/** Vectors that were made before, so that the same text is not paid for twice. */

/**
 * A full-width vector and what is known of its making. `values` must not be changed by whoever holds it: it may be the
 * cache's own.
 */
export interface CachedVector {
  readonly values: Float32Array
  /** What the upstream counted for this text; where it counted for several at once, this one's share. */
  readonly tokens: number
  /** Who made it: should it turn out to have left its space, what it made since its last good probe is forgotten. */
  readonly deployment: string
  /** Unix milliseconds. */
  readonly madeAtMs: number
}

/**
 * Where vectors are kept for a while. It is a cache and nothing more: whatever goes wrong in it is a miss or is not kept, never
 * a failed request, and is told to whoever made it. A vector comes back bit for bit, or not at all.
 */
export interface VectorCache {
  /** One entry for each digest, in order; undefined where there is none, or it is too old. At most one round trip. */
  getMany(digests: readonly string[]): Promise<readonly (CachedVector | undefined)[]>
  /** Keeps them for so long. Nobody waits for it. */
  setMany(entries: readonly { readonly digest: string; readonly vector: CachedVector }[], ttlMs: number): void
  /** How full it is, for metrics. */
  size(): { readonly entries: number; readonly bytes: number }
  close(): Promise<void>
}
