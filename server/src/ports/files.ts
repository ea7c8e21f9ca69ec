/**
 * Files that callers sent and files that batches make: their records. Their bytes are blobs, in one or more parts that are
 * never joined.
 */
import type { FileScan } from '#core/files/scan-result.ts'

/** `batch`: requests that a caller sent. `batch_output`: their results. */
type FilePurpose = 'batch' | 'batch_output'

export interface StoredFile {
  /** `file-` and a UUIDv7 without dashes: sorts by time. */
  readonly id: string
  readonly project: string
  readonly keyId: string
  readonly purpose: FilePurpose
  readonly filename: string
  /** Size so far while a batch still writes the file. */
  readonly bytes: number
  readonly createdAtMs: number
  /** Undefined: never. */
  readonly expiresAtMs: number | undefined
  readonly source: FileSource
}

export type FileSource =
  /** Lower-case hexadecimal. */
  | { readonly kind: 'uploaded'; readonly sha256: string }
  /** The store of batches knows the location of its bytes. */
  | { readonly kind: 'batch'; readonly batchId: string; readonly half: 'output' | 'error' }

/** A file that a batch makes. */
export interface OutputFile extends StoredFile {
  readonly source: Extract<FileSource, { kind: 'batch' }>
}

/** A file as listed. */
export type ListedFile = Omit<StoredFile, 'source'>

/** A run of bytes of a file inside one blob. A file is the sequence of its segments. */
export interface FileSegment {
  readonly blob: string
  /** Offset in the blob. */
  readonly firstByte: number
  readonly bytes: number
}

/** The record written before the first byte of a file is kept, so that every blob has a row that leads to it. */
export interface BegunFile {
  readonly id: string
  readonly project: string
  readonly keyId: string
  /** Announced minimum size: it counts from the start. 0 when the sender did not say. */
  readonly announcedBytes: number
}

/** The record completed once all bytes of a begun file are kept. */
export interface ArrivedFile {
  readonly purpose: 'batch'
  readonly filename: string
  readonly bytes: number
  readonly sha256: string
  /** At most `MAX_SCAN_BYTES` as JSON; a larger one is refused with a `RangeError`. */
  readonly scan: FileScan
  readonly segments: readonly FileSegment[]
  /** Size of all its blobs: its bytes and the list of its chunks. */
  readonly keptBytes: number
  /** Retention, counted from the moment it was begun. Undefined: for ever. */
  readonly expiresAfterMs: number | undefined
}

/** Storage quota of one project. */
export interface FileBounds {
  /** Number of files that callers sent. */
  readonly maxFiles: number
  /** Bytes of files that callers sent or are sending, and of the results of batches. */
  readonly maxBytes: number
}

/** Storage used by one project, counted as its quota counts it. */
export interface KeptByProject {
  readonly files: number
  readonly bytes: number
}

export interface FileQuery {
  readonly project: string
  readonly purpose?: FilePurpose | undefined
  /** The id of a file: the list continues after it in the requested order. */
  readonly after?: string | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

export interface FileHold {
  /** The id of the batch. */
  readonly holder: string
  readonly untilMs: number
}

/** A file whose bytes must be deleted. */
export interface DueFile extends Pick<StoredFile, 'id' | 'project'> {
  /** Set for a file that a batch made. */
  readonly batchId: string | undefined
  /** A caller deleted it, and it was the last file of its batch: the results of the batch must be deleted with it. */
  readonly endsResults: boolean
}

/**
 * Every method is one atomic step and may be repeated after a lost answer. A deleted or expired file is never found. Store
 * failures reject with `StoreUnreachable`.
 */
export interface Files {
  /** From here on its bytes may be kept. A file that receives no byte for `ARRIVAL_MS` is due for deletion. */
  begin(file: BegunFile, bounds: FileBounds): Promise<'begun' | 'too-many-files' | 'too-many-bytes'>
  /**
   * Reserves space for this many more bytes of an arriving file, before they are kept. Bytes beyond the announced size need
   * space within the quota. `over`: the file has arrived, or was given up. A repetition counts them twice, until the file
   * has arrived or is deleted.
   */
  receive(
    id: string,
    bytes: number,
    bounds: Pick<FileBounds, 'maxBytes'>,
  ): Promise<'received' | 'too-many-bytes' | 'over'>
  /** Received bytes of an arriving file were deleted again. The announced size still counts. */
  giveBack(id: string, bytes: number): Promise<void>
  kept(project: string): Promise<KeptByProject>
  /** Marks the file as arrived with all its bytes. Undefined when it was not begun, or was given up. */
  arrived(id: string, file: ArrivedFile): Promise<StoredFile | undefined>
  /** The file will not arrive: it is due for deletion now. */
  giveUp(id: string): Promise<void>
  find(id: string, project: string): Promise<StoredFile | undefined>
  /** The scan of an uploaded file's lines. Undefined when the file was deleted since. */
  scan(id: string): Promise<FileScan | undefined>
  /** The segments of an uploaded file, also of a deleted one while it is held. */
  segments(id: string): Promise<readonly FileSegment[]>
  /** Undefined when there is no file `after`. Never returns more than `limit`; `hasMore` says whether there are more. */
  list(
    query: FileQuery,
  ): Promise<{ readonly files: readonly ListedFile[]; readonly hasMore: boolean } | undefined>
  /**
   * A batch works with the bytes at most until then: they stay, even if the file is deleted or expires before. Undefined
   * when the project has no such file.
   */
  hold(id: string, project: string, hold: FileHold): Promise<StoredFile | undefined>
  /** The work of this holder ended: the bytes need not stay for it. */
  release(id: string, holder: string): Promise<void>
  /** Whether there was such a file. It can no longer be found, and is due for deletion once no batch holds it. */
  delete(id: string, project: string): Promise<boolean>
  /**
   * Files whose bytes must be deleted: deleted, expired or never arrived, not held, and of no open batch. They stay due
   * until `forgotten`.
   */
  due(limit: number): Promise<readonly DueFile[]>
  /** Its bytes are deleted. */
  forgotten(id: string): Promise<void>
}

/**
 * Longest time without a byte: at the slowest permitted rate, a part of 4 MB takes 70 minutes; and an upload whose hour is
 * nearly over may still be completed. Space that a killed node left reserved is released after it.
 */
export const ARRIVAL_MS = 2 * 3_600_000
/** Longest arrival in total. */
export const MAX_ARRIVAL_MS = 24 * 3_600_000
