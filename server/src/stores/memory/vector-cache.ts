import { append, emptyList, unlink } from '#core/linked-list.ts'
import type { Linked } from '#core/linked-list.ts'
import type { Clock } from '#ports/clock.ts'
import type { CachedVector, VectorCache } from '#ports/vector-cache.ts'

/**
 * What an entry takes besides its values: its objects, the buffer's keeping, the digest, its place in the map. Measured: 480 on
 * the heap, 860 to 1,170 of the process with what allocators round up.
 */
export const ENTRY_OVERHEAD_BYTES = 1000

export interface MemoryVectorCacheOptions {
  /** The sum over entries of values and overhead; beyond it those used longest ago are forgotten. */
  readonly maxBytes: number
  readonly clock: Pick<Clock, 'monotonicMs'>
}

interface Entry extends Linked<Entry> {
  readonly digest: string
  readonly vector: CachedVector
  readonly expiresMonotonicMs: number
}

/** Vectors in this process. */
export class MemoryVectorCache implements VectorCache {
  readonly #options: MemoryVectorCacheOptions
  readonly #entries = new Map<string, Entry>()
  /** The one used longest ago first. A list, because the front of a map that was much deleted from is slow to find. */
  readonly #byUse = emptyList<Entry>()
  #bytes = 0

  constructor(options: MemoryVectorCacheOptions) {
    this.#options = options
  }

  async getMany(digests: readonly string[]): Promise<readonly (CachedVector | undefined)[]> {
    const nowMs = this.#options.clock.monotonicMs()
    return digests.map((digest) => this.#get(digest, nowMs))
  }

  setMany(
    entries: readonly { readonly digest: string; readonly vector: CachedVector }[],
    ttlMs: number,
  ): void {
    if (!(ttlMs > 0)) return
    const expiresMonotonicMs = this.#options.clock.monotonicMs() + ttlMs
    for (const { digest, vector } of entries) {
      this.#forget(this.#entries.get(digest))
      if (bytesOf(vector) <= this.#options.maxBytes) this.#keep(digest, vector, expiresMonotonicMs)
    }
  }

  size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#byUse.length, bytes: this.#bytes }
  }

  async close(): Promise<void> {
    for (const entry of this.#entries.values()) this.#forget(entry)
  }

  #get(digest: string, nowMs: number): CachedVector | undefined {
    const entry = this.#entries.get(digest)
    if (entry === undefined) return undefined
    if (entry.expiresMonotonicMs <= nowMs) {
      this.#forget(entry)
      return undefined
    }
    unlink(this.#byUse, entry)
    append(this.#byUse, entry)
    return entry.vector
  }

  /** With values of its own: those given may be a small part of a large answer, which would be kept with them. */
  #keep(digest: string, vector: CachedVector, expiresMonotonicMs: number): void {
    const { values, tokens, deployment, madeAtMs } = vector
    const own = { values: new Float32Array(values), tokens, deployment, madeAtMs }
    const entry: Entry = { digest, vector: own, expiresMonotonicMs, before: undefined, after: undefined }
    this.#entries.set(digest, entry)
    append(this.#byUse, entry)
    this.#bytes += bytesOf(own)
    while (this.#bytes > this.#options.maxBytes) this.#forget(this.#byUse.first)
  }

  #forget(entry: Entry | undefined): void {
    if (entry === undefined) return
    this.#entries.delete(entry.digest)
    unlink(this.#byUse, entry)
    this.#bytes -= bytesOf(entry.vector)
  }
}

function bytesOf({ values }: CachedVector): number {
  return values.byteLength + ENTRY_OVERHEAD_BYTES
}
