/** How much a database holds. */
export interface TableFigures {
  /** Partitions count to their table. */
  readonly table: string
  /** As the database itself estimates it. */
  readonly rows: number
  /** With its indexes. */
  readonly bytes: number
}

export interface StorageFigures {
  tables(): Promise<readonly TableFigures[]>
}
