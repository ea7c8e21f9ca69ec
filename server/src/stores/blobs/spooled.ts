/**
 * A blob store on a server with this node's disk in front: while the server is unreachable, bytes are written to and read from this
 * disk.
 */
import { buffer } from 'node:stream/consumers'
import { isJobBlobName, isPictureName } from '#core/image/blob-names.ts'
import type { BlobStore, ListedBlob, OpenBlob } from '#ports/blobs.ts'

/** Blobs handed over in one run. */
const AT_ONCE = 100
/** Limit of the count; a higher number would change nothing about what to do. */
const MAX_COUNTED = 10_000

export class SpooledBlobs implements BlobStore {
  readonly #store: BlobStore
  readonly #spool: BlobStore
  /** The last change of each name with a change in progress. */
  readonly #changes = new Map<string, Promise<unknown>>()

  constructor(store: BlobStore, spool: BlobStore) {
    this.#store = store
    this.#spool = spool
  }

  put(name: string, bytes: Uint8Array): Promise<void> {
    return this.#inTurn(name, async () => {
      try {
        await this.#store.put(name, bytes)
      } catch {
        // Also when the store refuses: the paid image is stored first, and the refusal shows when it is handed over.
        await this.#spool.put(name, bytes)
        return
      }
      // An older one in the spool would be read before the new one, and later overwrite it.
      await this.#spool.delete(name)
    })
  }

  async open(name: string, range?: Parameters<BlobStore['open']>[1]): Promise<OpenBlob | undefined> {
    return (await this.#spool.open(name, range)) ?? this.#store.open(name, range)
  }

  delete(name: string): Promise<void> {
    return this.#inTurn(name, async () => {
      await this.#spool.delete(name)
      await this.#store.delete(name)
    })
  }

  /** Where a name is in both places, the one in the spool is newer. */
  async list(options: Parameters<BlobStore['list']>[0]): Promise<readonly ListedBlob[]> {
    // The spool first: a blob that is handed over meanwhile is seen twice rather than not at all.
    const waiting = await this.#spool.list(options)
    const kept = await this.#store.list(options)
    if (waiting.length === 0) return kept
    const byName = new Map([...kept, ...waiting].map((blob) => [blob.name, blob]))
    return [...byName.values()]
      .toSorted((left, right) => (left.name < right.name ? -1 : 1))
      .slice(0, options.limit)
  }

  /** Blobs in the spool, counted up to `MAX_COUNTED`. */
  async waiting(): Promise<number> {
    return (await this.#spool.list({ prefix: '', limit: MAX_COUNTED })).length
  }

  /** Hands over the spooled blobs. Rejects with `StoreUnreachable` while the store is unreachable; the rest stays. */
  async drain(): Promise<number> {
    let carried = 0
    let after: string | undefined
    for (;;) {
      const waiting = await this.#spool.list({ prefix: '', after, limit: AT_ONCE })
      for (const { name } of waiting) {
        // Not one of our names.
        if (!isPictureName(name) && !isJobBlobName(name)) continue
        if (await this.#inTurn(name, () => this.#carry(name))) carried += 1
      }
      if (waiting.length < AT_ONCE) return carried
      after = waiting.at(-1)?.name
    }
  }

  async #carry(name: string): Promise<boolean> {
    const blob = await this.#spool.open(name)
    if (blob === undefined) return false
    await this.#store.put(name, await buffer(blob.bytes))
    await this.#spool.delete(name)
    return true
  }

  /** Changes of one name run one after another: a blob that is put while an older one is handed over must not be deleted with it. */
  async #inTurn<Result>(name: string, change: () => Promise<Result>): Promise<Result> {
    const before = this.#changes.get(name)
    const turn = before === undefined ? change() : before.then(change, change)
    this.#changes.set(name, turn)
    try {
      return await turn
    } finally {
      if (this.#changes.get(name) === turn) this.#changes.delete(name)
    }
  }
}
