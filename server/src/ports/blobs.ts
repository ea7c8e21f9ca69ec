/**
 * Where bytes are kept by name: pictures under `pictures/<sha256>`, what a call delivered under `jobs/<job>/<attempt>.json`,
 * and the files of a job that nobody waits for under `inputs/<job>/<sha256>.<piece>`.
 * A name is one or more segments of `[A-Za-z0-9._-]` parted by `/`, none of them `.` or `..`. Every method may be repeated.
 * Trouble with the store rejects with `StoreAway`, a full disk included.
 */
export interface BlobStore {
  /**
   * Resolves once the bytes are durable: fsynced with their folder on a disk, acknowledged and found to have the right length on
   * a server. Bytes that are there already are replaced whole or not at all, and count as new for `list`. A reader never sees
   * half of them. Once it has settled, either way, the store does not look at `bytes` again: their memory may be given back.
   */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** Undefined when there is no such name. The range is in bytes, both ends included, and must lie within the blob. */
  open(name: string, range?: { readonly first: number; readonly last: number }): Promise<OpenBlob | undefined>
  /** Forgets it; nothing happens when it is not there. */
  delete(name: string): Promise<void>
  /** Names that begin with the prefix, in order of their bytes, `after` the given one; at most `limit`. */
  list(options: {
    readonly prefix: string
    readonly after?: string | undefined
    readonly limit: number
  }): Promise<readonly ListedBlob[]>
}

export interface OpenBlob {
  /** Of the whole blob, whatever range was asked for. */
  readonly size: number
  readonly bytes: AsyncIterable<Uint8Array>
}

export interface ListedBlob {
  readonly name: string
  readonly size: number
  /** Unix milliseconds of the last `put`. */
  readonly modifiedMs: number
}

/** Whose the place is that blobs are kept in. `own`: every picture in it is ours. `shared`: others had pictures there before us. */
export type BlobPlace = 'own' | 'shared'
