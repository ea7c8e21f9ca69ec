/** All rows of a store, as lines of text from which another store can be restored. */

/** Resolves when the next line may be written. */
export type WriteLine = (line: string) => Promise<void>

export interface TableReport {
  readonly table: string
  readonly rows: number
  /** Digest of the rows as written in the backup: two stores with the same rows have the same digest. */
  readonly sha256: string
  /** Of the ledger: entries of days before it are files of the lake, not rows. Absent: all entries are rows. */
  readonly inFilesBefore?: string | undefined
}

export interface WrittenBackup {
  readonly tables: readonly TableReport[]
  /** Images and files. */
  readonly pictures: number
  /** Of the bytes of the file. */
  readonly sha256: string
}

/** The table whose rows are the ledger. */
export const LEDGER_TABLE = 'usage_events'
