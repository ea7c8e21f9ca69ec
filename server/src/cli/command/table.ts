import { stripVTControlCharacters } from 'node:util'

/** Rows as lines with aligned columns; the first row is the head. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  )
  const lines = rows.map((row) =>
    row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell))).join('  '),
  )
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

function widthOf(cell: string): number {
  return stripVTControlCharacters(cell).length
}
