/** Files of ledger entries, as the lake has them: Parquet, written and read outside the thread that answers callers. */
import type { LedgerTotals } from '#core/money/lake.ts'

/** Entries one after another, in the order of their ids: a text per column, as the store sends them. */
export interface EntryPage {
  readonly rows: number
  /** Ids in base64, 16 bytes each. */
  readonly request_ids: string | null
  readonly call_ids: string | null
  readonly node_ids: string | null
  /** Texts as JSON, one for each row. */
  readonly kinds: string | null
  readonly projects: string | null
  readonly key_ids: string | null
  readonly models: string | null
  readonly deployments: string | null
  readonly usages: string | null
  /** Numbers in base64, big-endian with eight bytes each. The smallest possible number is null. */
  readonly attempts: string | null
  readonly tokens: string | null
  readonly images: string | null
  readonly amounts: string | null
  readonly requests: string | null
  readonly inputs: string | null
  /** Microseconds since 2000. */
  readonly written_at: string | null
  /** JSON: rows that have a value, as [place in the page, value]. Null: no row has one. */
  readonly hits: string | null
  readonly saved: string | null
  readonly unknown_amounts: string | null
  readonly batch_ids: string | null
  readonly end_users: string | null
  readonly tags: string | null
  readonly remarks: string | null
}

/** A written file, and what is in it. */
export interface LedgerFile {
  readonly bytes: Uint8Array
  readonly sha256: string
  readonly rows: number
  /** The ids of its first and its last request. */
  readonly firstId: string
  readonly lastId: string
}

/** The files of one day, or of its corrections, while they are written. */
export interface LedgerFileWriter {
  /** Takes the next entries. A file that has become full is returned. */
  take(page: EntryPage): Promise<LedgerFile | undefined>
  /** The last file, if it has entries, and the totals of all. */
  end(): Promise<{ readonly file: LedgerFile | undefined; readonly totals: LedgerTotals }>
  discard(): Promise<void>
}

/** One entry of a file. */
export interface StoredEntry {
  readonly request_id: string
  readonly attempt: number
  readonly kind: string
  readonly call_id: string
  readonly node_id: string
  readonly project: string
  readonly key_id: string
  readonly model: string
  readonly deployment: string
  readonly usage: string
  readonly tokens: bigint | null
  readonly images: number
  readonly amount_nano: bigint | null
  readonly requests: number | null
  readonly inputs: number | null
  /** Unix microseconds. */
  readonly written_at: bigint
  readonly hits: number | null
  readonly saved_nano: bigint | null
  readonly unknown_nano: bigint | null
  readonly batch_id: string | null
  readonly end_user: string | null
  /** JSON. */
  readonly tags: string | null
  readonly remarks: string | null
}

/** The bytes of a file, wherever they are. */
export interface LedgerFileSource {
  readonly size: number
  /** From the first byte, included, to the last, excluded. */
  read(first: number, end: number): Promise<Uint8Array>
}

export interface LedgerFiles {
  write(): LedgerFileWriter
  /** What the entries of files add up to. The files must be given in the order of their ids; their bytes are transferred. */
  totals(files: AsyncIterable<Uint8Array>): Promise<LedgerTotals>
  /** The entries of a file with an id in the span, in order, a row group at a time. Only the groups that it needs are read. */
  entries(file: LedgerFileSource, fromId: string, endId: string): AsyncIterable<readonly StoredEntry[]>
}
