/** Reading files of requests once, off the event loop: a file may have millions of lines. */
import type { FileScan } from '#core/files/scan-result.ts'

export interface FileScanning {
  begin(): FileReading
}

/** One file that is read. It must be finished or discarded. */
export interface FileReading {
  /** The next bytes of the file. They are handed over: afterwards nobody else has them. One at a time. */
  push(piece: Uint8Array<ArrayBuffer>): Promise<void>
  finish(): Promise<ReadFile>
  /** Forgets it. At any time, and more than once. */
  discard(): Promise<void>
}

export interface ReadFile {
  /** Both in lower-case hexadecimal. */
  readonly sha256: string
  readonly md5: string
  readonly scan: FileScan
  /** The chunks, as `chunksIn` reads them. */
  readonly chunkList: string
}
