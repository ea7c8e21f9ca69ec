/**
 * Files that came with a request, on this node's own disk from the moment they arrive until the request is done with them. Of
 * a process that dies, nothing is left. Trouble with the disk, a full one and one that is full by our own limit included,
 * rejects with `StoreAway`.
 */
export interface Uploads {
  create(): Promise<UploadWriter>
}

export interface UploadWriter {
  /** Resolves when more may be written; until then the bytes must not change. One at a time. */
  write(chunk: Uint8Array): Promise<void>
  /** Everything is written: from here on the file can be read. */
  finish(): Promise<Upload>
  /** Forgets what was written. At any time, also while a write is under way, and more than once. */
  discard(): Promise<void>
}

export interface Upload {
  /** Lower-case hexadecimal. */
  readonly sha256: string
  readonly size: number
  /** From the beginning; any number of readers side by side. */
  open(): AsyncIterable<Uint8Array>
  /** Forgets it: readers that are under way fail. More than once does no harm. */
  discard(): Promise<void>
}
