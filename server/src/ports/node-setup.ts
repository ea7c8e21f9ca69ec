/** A node's report of its own setup, sent with each heartbeat so that nodes with different setups can be found. */
export interface NodeSetup {
  /** Digests of the sections of its configuration: equal where two nodes mean the same. */
  readonly configuration: Readonly<Record<string, string>>
  /** Which secret the digests are keyed by. Digests of different secrets can't be compared. */
  readonly keyedBy: string
  /** Where it keeps images and files of batches: equal where two nodes share the place. Null: not known. */
  readonly blobPlace: string | null
  /** Most connections to PostgreSQL that it opens. */
  readonly connections: number
}
