/** A blob store on a server with this node's disk before it: while the server is away, bytes wait here and are read from here. */
import { buffer } from 'node:stream/consumers'
import { isJobBlobName, isPictureName } from '#core/image/blob-names.ts'
import type { BlobStore, ListedBlob, OpenBlob } from '#ports/blobs.ts'

/** Carried over in one go. */
const AT_ONCE = 100
/** Beyond it, how many more there are makes no difference to what has to be done. */
const MOST_COUNTED = 10_000

export class SpooledBlobs implements BlobStore {
  readonly #store: BlobStore
  readonly #spool: BlobStore
  /** The last change of each name that is being changed. */
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
        // Whatever it is, a store that refuses included: what was paid for is kept first, and told of when it is handed over.
        await this.#spool.put(name, bytes)
        return
      }
      // An older one that waits here would be read before the new one, and then carried over it.
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

  /** Of a name that is in both places, what waits here is the newer one. */
  async list(options: Parameters<BlobStore['list']>[0]): Promise<readonly ListedBlob[]> {
    // The spool first: what is carried over meanwhile is seen twice rather than not at all.
    const waiting = await this.#spool.list(options)
    const kept = await this.#store.list(options)
    if (waiting.length === 0) return kept
    const byName = new Map([...kept, ...waiting].map((blob) => [blob.name, blob]))
    return [...byName.values()]
      .toSorted((left, right) => (left.name < right.name ? -1 : 1))
      .slice(0, options.limit)
  }

  /** How much waits here; counted up to `MOST_COUNTED`. */
  async waiting(): Promise<number> {
    return (await this.#spool.list({ prefix: '', limit: MOST_COUNTED })).length
  }

  /** Hands over what waits. Rejects with `StoreAway` while the store is away; what is left stays. */
  async drain(): Promise<number> {
    let carried = 0
    let after: string | undefined
    for (;;) {
      const waiting = await this.#spool.list({ prefix: '', after, limit: AT_ONCE })
      for (const { name } of waiting) {
        // Somebody else put it there.
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

  /** One change of a name after another: what is put while an older one is carried over must not be deleted with that. */
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
