/** All that a store keeps, as lines of text that another store can be made of. */

/** Resolves when the next line may come. */
export type WriteLine = (line: string) => Promise<void>

export interface TableReport {
  readonly table: string
  readonly rows: number
  /** Of its rows as they stand in the backup, so that two stores with the same rows have the same one. */
  readonly sha256: string
}

export interface BackupSource {
  /** Writes all tables as they were at one moment. The ledger is `usage_events`. */
  write(write: WriteLine): Promise<readonly TableReport[]>
}

/** The table whose rows are the ledger. */
export const LEDGER_TABLE = 'usage_events'
