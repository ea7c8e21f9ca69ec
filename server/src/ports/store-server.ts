/** How the server of the store is set up. Rejects with `StoreAway`. */
export interface StoreServer {
  settings(): Promise<ServerSettings>
}

export interface ServerSettings {
  /** Whether commits reach the disk at all. */
  readonly fsync: boolean
  /** `off`: the server acknowledges commits of the ledger that a crash can still lose. */
  readonly synchronousCommit: string
  /** Open to ordinary users. */
  readonly maxConnections: number
}
