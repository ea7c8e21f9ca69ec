/**
 * Files that came with a request, on this node's own disk from their arrival until the request is done with them. A process
 * that dies leaves nothing. Failures of the disk, including a full one and our own limit, reject with `StoreUnreachable`.
 */
export interface Uploads {
  create(): Promise<UploadWriter>
}

export interface UploadWriter {
  /** Resolves when more may be written; until then the bytes must not change. One call at a time. */
  write(chunk: Uint8Array): Promise<void>
  /** Everything is written: from here on the file can be read. */
  finish(): Promise<Upload>
  /** Deletes what was written. May be called at any time, also during a write, and more than once. */
  discard(): Promise<void>
}

export interface Upload {
  /** Lower-case hexadecimal. */
  readonly sha256: string
  readonly size: number
  /** From the beginning, or from `start` to before `end`; any number of readers side by side. */
  open(start?: number, end?: number): AsyncIterable<Uint8Array>
  /** Deletes the file: readers in progress fail. May be called more than once. */
  discard(): Promise<void>
}
