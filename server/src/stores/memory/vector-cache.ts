import { LRUCache } from 'lru-cache'
import type { Clock } from '#ports/clock.ts'
import type { CachedVector, VectorCache } from '#ports/vector-cache.ts'

/**
 * What an entry takes besides its values: its objects, the buffer's keeping, the digest, its place in the map. Measured: 480 on
 * the heap, 860 to 1,170 of the process with what allocators round up.
 */
export const ENTRY_OVERHEAD_BYTES = 1000

export interface MemoryVectorCacheOptions {
  /** The sum over entries of values and overhead. Beyond it, the entries used longest ago are forgotten. */
  readonly maxBytes: number
  readonly clock: Pick<Clock, 'monotonicMs'>
}

interface Entry {
  readonly vector: CachedVector
  readonly expiresMonotonicMs: number
}

/** Vectors in this process. */
export class MemoryVectorCache implements VectorCache {
  readonly #clock: MemoryVectorCacheOptions['clock']
  readonly #entries: LRUCache<string, Entry>

  constructor({ maxBytes, clock }: MemoryVectorCacheOptions) {
    this.#clock = clock
    this.#entries = new LRUCache({
      // Zero would mean no limit to the library. No entry fits into one byte.
      maxSize: Math.max(1, maxBytes),
      sizeCalculation: bytesOf,
    })
  }

  async getMany(digests: readonly string[]): Promise<readonly (CachedVector | undefined)[]> {
    const nowMs = this.#clock.monotonicMs()
    return digests.map((digest) => {
      const entry = this.#entries.get(digest)
      if (entry === undefined || entry.expiresMonotonicMs > nowMs) return entry?.vector
      this.#entries.delete(digest)
      return undefined
    })
  }

  setMany(
    entries: readonly { readonly digest: string; readonly vector: CachedVector }[],
    ttlMs: number,
  ): void {
    if (!(ttlMs > 0)) return
    const expiresMonotonicMs = this.#clock.monotonicMs() + ttlMs
    for (const { digest, vector } of entries) {
      const { values, tokens, deployment, madeAtMs } = vector
      // The values given may be a small part of a large answer, which would be kept with them.
      const own = { values: new Float32Array(values), tokens, deployment, madeAtMs }
      this.#entries.set(digest, { vector: own, expiresMonotonicMs })
    }
  }

  size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries.size, bytes: this.#entries.calculatedSize }
  }

  async close(): Promise<void> {
    this.#entries.clear()
  }
}

function bytesOf({ vector }: Entry): number {
  return vector.values.byteLength + ENTRY_OVERHEAD_BYTES
}
