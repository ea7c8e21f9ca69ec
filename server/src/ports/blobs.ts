/**
 * Where bytes are kept by name: images under `pictures/<sha256>`, what a call delivered under `jobs/<job>/<attempt>.json`,
 * and the input files of a background job under `inputs/<job>/<sha256>.<part>`. A name is one or more path segments of
 * `[A-Za-z0-9._=-]` separated by `/`, none of them `.` or `..`. Every method may be repeated. Store failures, a full disk
 * included, reject with `StoreUnreachable`.
 */
export interface BlobStore {
  /**
   * Resolves once the bytes are durable: fsynced with their folder on a disk, or acknowledged by a server that reports the
   * right length. Existing bytes are replaced as a whole or not at all, and count as new for `list`. A reader never sees
   * half of them. Once the promise has settled, either way, the store does not read `bytes` again: the caller may release
   * their memory.
   */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** Undefined when there is no such name. The range is in bytes, inclusive at both ends, and must lie within the blob. */
  open(name: string, range?: { readonly first: number; readonly last: number }): Promise<OpenBlob | undefined>
  /** Does nothing when the name does not exist. */
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

/** Owner of the storage place. `own`: every image in it is ours. `shared`: it held images of others before us. */
export type BlobPlace = 'own' | 'shared'
