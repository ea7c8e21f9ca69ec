import type { ReactNode } from 'react'

export interface Column<Row> {
  readonly id: string
  readonly head: ReactNode
  /** In pixels. Columns without one share what is left. */
  readonly width?: number
  /** The least width of a column that shares what is left. */
  readonly least?: number
  /** Its place among the columns that leave when the table is too narrow: 1 leaves first. Without one it stays. */
  readonly drop?: number
  readonly align?: 'right'
  /** The server's name of the order: a click on the head sorts by it. */
  readonly sort?: string
  /** Pure: rows are memoised on the row object. */
  readonly cell: (row: Row) => ReactNode
  readonly className?: string
}

/** Unless a column says otherwise: a short name fits. */
const LEAST_WIDTH = 140

export function widthOf(columns: readonly Column<never>[]): number {
  return columns.reduce((sum, { width, least = LEAST_WIDTH }) => sum + (width ?? least), 0)
}

/** The columns for which there is room, and those that always stay. */
export function fittingColumns<Row>(
  columns: readonly Column<Row>[],
  roomWidth: number,
): readonly Column<Row>[] {
  const leaving = columns
    .filter(({ drop }) => drop !== undefined)
    .toSorted((left, right) => (right.drop ?? 0) - (left.drop ?? 0))
  let shown = columns
  while (widthOf(shown) > roomWidth && leaving.length > 0) {
    const next = leaving.pop()
    shown = shown.filter((column) => column !== next)
  }
  return shown
}

export interface Group {
  readonly key: string
  readonly head: ReactNode
}
