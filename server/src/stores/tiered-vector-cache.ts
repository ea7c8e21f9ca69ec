import type { StoredVector } from '#core/embedding/cached-vector.ts'
import type { Clock } from '#ports/clock.ts'
import type { CachedVector, VectorCache } from '#ports/vector-cache.ts'

/** Returns with each vector how long it may be kept. */
interface SharedVectorCache extends VectorCache {
  getMany(digests: readonly string[]): Promise<readonly (StoredVector | undefined)[]>
}

export interface TieredVectorCacheOptions {
  /** The cache of this node. */
  readonly near: VectorCache
  /** The cache of all nodes. */
  readonly far: SharedVectorCache
  readonly clock: Pick<Clock, 'nowMs'>
}

/** Reads the near cache, then the far one for what is missing, and keeps far vectors near for as long as they live there. */
export class TieredVectorCache implements VectorCache {
  readonly #options: TieredVectorCacheOptions

  constructor(options: TieredVectorCacheOptions) {
    this.#options = options
  }

  async getMany(digests: readonly string[]): Promise<readonly (CachedVector | undefined)[]> {
    const { near, far, clock } = this.#options
    const found = await near.getMany(digests)
    const missing = digests.filter((_, index) => found[index] === undefined)
    if (missing.length === 0) return found
    const fetched = await far.getMany(missing)
    const nowMs = clock.nowMs()
    for (const [index, vector] of fetched.entries()) {
      const digest = missing[index]
      if (vector && digest !== undefined) near.setMany([{ digest, vector }], vector.expiresAtMs - nowMs)
    }
    let next = 0
    return found.map((vector) => vector ?? fetched[next++])
  }

  setMany(
    entries: readonly { readonly digest: string; readonly vector: CachedVector }[],
    ttlMs: number,
  ): void {
    this.#options.near.setMany(entries, ttlMs)
    this.#options.far.setMany(entries, ttlMs)
  }

  /** The size of this node's cache. */
  size(): { readonly entries: number; readonly bytes: number } {
    return this.#options.near.size()
  }

  async close(): Promise<void> {
    await Promise.all([this.#options.near.close(), this.#options.far.close()])
  }
}
