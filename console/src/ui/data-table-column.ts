import type { ReactNode } from 'react'

export interface Column<Row> {
  readonly id: string
  readonly head: ReactNode
  /** In pixels. Columns without one share what is left. */
  readonly width?: number
  readonly align?: 'right'
  /** The server's name of the order: a click on the head sorts by it. */
  readonly sort?: string
  /** Pure: rows are memoised on the row object. */
  readonly cell: (row: Row) => ReactNode
  readonly className?: string
}

export interface Group {
  readonly key: string
  readonly head: ReactNode
}
