/** Tables and detail views of answers, declared by their columns. */
import { dollars, nanoUsdOf } from '#core/money/price.ts'
import { table } from '../command/table.ts'

/** A field of the answer, such as `last_hour.p95_ms`, or the text that a function makes of the whole row. */
type Column<Row> = string | ((row: Row) => string | undefined)

/** Columns by title. */
export type Columns<Row> = Readonly<Record<string, Column<Row>>>

/** A line per row below the titles. An empty table is the text `none`, if there is one. */
export function tableOf<Row>(columns: Columns<Row>, rows: readonly Row[], none?: string): string {
  if (rows.length === 0 && none !== undefined) return `${none}\n`
  const cells = rows.map((row) => Object.values(columns).map((column) => cellOf(column, row) ?? '-'))
  return table([Object.keys(columns), ...cells])
}

/** A line per column, for one object. Functions that return undefined get no line. */
export function linesOf<Row>(columns: Columns<Row>, row: Row): string {
  return table(
    Object.entries(columns).flatMap(([title, column]) => {
      const cell = cellOf(column, row)
      return cell === undefined ? [] : [[title, cell]]
    }),
  )
}

function cellOf<Row>(column: Column<Row>, row: Row): string | undefined {
  if (typeof column === 'function') return column(row)
  const value = column
    .split('.')
    .reduce<unknown>((within, name) => (within as Record<string, unknown> | null)?.[name], row)
  return fieldText(column, value as FieldValue)
}

type FieldValue = string | number | boolean | readonly string[] | null | undefined

/** The ending of a field's name says what it is: `_usd` money, `_at` a time, `_ms` a duration. */
function fieldText(field: string, value: FieldValue): string {
  if (value === null || value === undefined) return '-'
  if (typeof value === 'object') return value.join(', ') || '-'
  if (typeof value === 'number') return String(field.endsWith('_ms') ? Math.round(value) : value)
  if (typeof value === 'boolean') return String(value)
  if (/(?:^|_)usd$/.test(field)) return shownUsd(value)
  if (/(?:^|\.)at$/.test(field)) return secondText(value)
  return field.endsWith('_at') ? dayText(value) : value
}

/** Dollars in an answer as people write them: `$12.50`. */
export function shownUsd(usd: string): string {
  return dollars(nanoUsdOf(usd))
}

/** To the minute. */
export function dayText(time: string | null): string {
  return time === null ? '-' : time.slice(0, 16).replace('T', ' ')
}

/** To the second. */
export function secondText(time: string | null): string {
  return time === null ? '-' : time.slice(0, 19).replace('T', ' ')
}
