/** Reads files of requests once, isolated from everything else: a file may have millions of lines with any content. */
import type { FileScan } from '#core/files/scan-result.ts'

export interface FileScanning {
  begin(asked: ScanRequest): FileReading
}

export interface ScanRequest {
  /** Projects take turns, one part each. */
  readonly project: string
  /** The first bytes of the file again, as many as were pushed. Called when the state of reading them is lost. */
  readonly again: (bytes: number) => AsyncIterable<Uint8Array>
}

/** One file that is being read. It must be finished or discarded. Rejects with `FileUnreadable`. */
export interface FileReading {
  /** The next bytes of the file, which the sender gives up. One call at a time. */
  push(piece: Uint8Array<ArrayBuffer>): Promise<void>
  finish(): Promise<ReadFile>
  /** Drops the reading. May be called at any time, and more than once. */
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

/** Reading this file took more memory or time than one file is allowed. Other files are not affected. */
export class FileUnreadable extends Error {
  override readonly name = 'FileUnreadable'
}
