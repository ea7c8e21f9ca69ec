/**
 * Files that callers sent, and files that batches make: what is known of them. Their bytes are blobs, in one or more pieces
 * that are never joined.
 */
import type { FileScan } from '#core/files/scan-result.ts'

/** `batch`: requests that a caller sent. `batch_output`: what came of them. */
type FilePurpose = 'batch' | 'batch_output'

export interface StoredFile {
  /** `file-` and a UUIDv7 without dashes: sorts by time. */
  readonly id: string
  readonly project: string
  readonly keyId: string
  readonly purpose: FilePurpose
  readonly filename: string
  /** Of a file that a batch still writes: so far. */
  readonly bytes: number
  readonly createdAtMs: number
  /** Undefined: never. */
  readonly expiresAtMs: number | undefined
  readonly source: FileSource
}

export type FileSource =
  /** Lower-case hexadecimal. */
  | { readonly kind: 'uploaded'; readonly sha256: string }
  /** The store of batches knows where its bytes lie. */
  | { readonly kind: 'batch'; readonly batchId: string; readonly half: 'output' | 'error' }

/** A file that a batch makes. */
export interface OutputFile extends StoredFile {
  readonly source: Extract<FileSource, { kind: 'batch' }>
}

/** As it stands in a list. */
export type ListedFile = Omit<StoredFile, 'source'>

/** A run of bytes of a file inside one blob. A file is its segments, one after another. */
export interface FileSegment {
  readonly blob: string
  /** Where they begin in the blob. */
  readonly firstByte: number
  readonly bytes: number
}

/** What is written down before the first byte of a file is kept, so that no blob is ever without a row that leads to it. */
export interface BegunFile {
  readonly id: string
  readonly project: string
  readonly keyId: string
  /** The bytes that are to come at least: they count from here on. 0: the sender did not say. */
  readonly announcedBytes: number
}

/** What is known once all bytes of a begun file are kept. */
export interface ArrivedFile {
  readonly purpose: 'batch'
  readonly filename: string
  readonly bytes: number
  readonly sha256: string
  /** At most `MAX_SCAN_BYTES` as JSON; a larger one is refused with a `RangeError`. */
  readonly scan: FileScan
  readonly segments: readonly FileSegment[]
  /** Of all its blobs: its bytes, and the list of its chunks. */
  readonly keptBytes: number
  /** Counted from when it was begun. Undefined: never. */
  readonly expiresAfterMs: number | undefined
}

/** What one project may keep. */
export interface FileBounds {
  /** Files that callers sent. */
  readonly maxFiles: number
  /** Of files that callers sent or are sending, and of the results of batches. */
  readonly maxBytes: number
}

/** What one project keeps, counted as its bounds count it. */
export interface KeptByProject {
  readonly files: number
  readonly bytes: number
}

export interface FileQuery {
  readonly project: string
  readonly purpose?: FilePurpose | undefined
  /** The id of a file: those that come behind it in the order that is asked for. */
  readonly after?: string | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

export interface FileHold {
  /** The id of the batch. */
  readonly holder: string
  readonly untilMs: number
}

/** A file whose bytes must go. */
export interface DueFile extends Pick<StoredFile, 'id' | 'project'> {
  /** Of a file that a batch made. */
  readonly batchId: string | undefined
  /** A caller deleted it, and it was the last file of its batch: the results of the batch must go with it. */
  readonly endsResults: boolean
}

/**
 * Every method is one atomic step and may be repeated after an answer was lost. A file that was deleted or has expired is not
 * found, wherever it is asked for. Trouble with the store rejects with `StoreAway`.
 */
export interface Files {
  /** From here on its bytes may be kept. A file that gets no byte for `ARRIVAL_MS` is due. */
  begin(file: BegunFile, bounds: FileBounds): Promise<'begun' | 'too-many-files' | 'too-many-bytes'>
  /**
   * Takes room for this many more bytes of a file that arrives, before they are kept. Bytes beyond those announced need room within
   * the bounds. `over`: it has arrived, or was given up. A repetition counts them twice, until the file has arrived or is gone.
   */
  receive(
    id: string,
    bytes: number,
    bounds: Pick<FileBounds, 'maxBytes'>,
  ): Promise<'received' | 'too-many-bytes' | 'over'>
  /** Received bytes of a file that arrives are gone again. What was announced still counts. */
  giveBack(id: string, bytes: number): Promise<void>
  kept(project: string): Promise<KeptByProject>
  /** It is there, with all its bytes. Undefined: it was not begun, or was given up meanwhile. */
  arrived(id: string, file: ArrivedFile): Promise<StoredFile | undefined>
  /** It will not arrive: it is due now. */
  giveUp(id: string): Promise<void>
  find(id: string, project: string): Promise<StoredFile | undefined>
  /**
   * What the lines of an uploaded file are. Undefined: there is no such file, or an earlier version stored a scan larger than
   * `MAX_SCAN_BYTES`, which is not read.
   */
  scan(id: string): Promise<FileScan | undefined>
  /** Where the bytes of an uploaded file lie. Also of one that was deleted, as long as it is held. */
  segments(id: string): Promise<readonly FileSegment[]>
  /** Undefined: there is no file `after`. One more than `limit` is never given; `hasMore` says whether there is. */
  list(
    query: FileQuery,
  ): Promise<{ readonly files: readonly ListedFile[]; readonly hasMore: boolean } | undefined>
  /**
   * A batch works with the bytes until then, at the most: they stay, even if the file is deleted or expires meanwhile.
   * Undefined: there is no such file in this project.
   */
  hold(id: string, project: string, hold: FileHold): Promise<StoredFile | undefined>
  /** The work of this holder ended: the bytes need not stay for it any more. */
  release(id: string, holder: string): Promise<void>
  /** Whether there was such a file. Nobody finds it any more; it is due once nobody holds it. */
  delete(id: string, project: string): Promise<boolean>
  /** Files whose bytes must go: deleted, expired or never arrived, not held, and of no batch that is open. They stay due until they are `forgotten`. */
  due(limit: number): Promise<readonly DueFile[]>
  /** Its bytes are gone. */
  forgotten(id: string): Promise<void>
}

/**
 * Longest time without a byte: at the slowest pace that is let through, a piece of 4 MB takes 70 minutes; and an upload whose hour is
 * nearly over may still be completed. Room that a killed node leaves taken comes back after it.
 */
export const ARRIVAL_MS = 2 * 3_600_000
/** Longest arrival in all. */
export const MAX_ARRIVAL_MS = 24 * 3_600_000
