/** A blob store on a server with this node's disk before it: while the server is away, bytes wait here and are read from here. */
import { buffer } from 'node:stream/consumers'
import { isJobBlobName, isPictureName } from '#core/image/blob-names.ts'
import type { BlobStore, ListedBlob, OpenBlob } from '#ports/blobs.ts'

/** Carried over in one go. */
const AT_ONCE = 100

export class SpooledBlobs implements BlobStore {
  readonly #store: BlobStore
  readonly #spool: BlobStore

  constructor(store: BlobStore, spool: BlobStore) {
    this.#store = store
    this.#spool = spool
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.#store.put(name, bytes)
    } catch {
      // Whatever it is, a store that refuses included: what was paid for is kept first, and told of when it is handed over.
      await this.#spool.put(name, bytes)
    }
  }

  async open(name: string, range?: Parameters<BlobStore['open']>[1]): Promise<OpenBlob | undefined> {
    return (await this.#spool.open(name, range)) ?? this.#store.open(name, range)
  }

  async delete(name: string): Promise<void> {
    await this.#spool.delete(name)
    await this.#store.delete(name)
  }

  list(options: Parameters<BlobStore['list']>[0]): Promise<readonly ListedBlob[]> {
    return this.#store.list(options)
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
        const blob = await this.#spool.open(name)
        if (blob !== undefined) await this.#store.put(name, await buffer(blob.bytes))
        await this.#spool.delete(name)
        carried += 1
      }
      if (waiting.length < AT_ONCE) return carried
      after = waiting.at(-1)?.name
    }
  }
}
