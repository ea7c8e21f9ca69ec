/** Rows of a query in the form that the control API answers in: the one place that converts money and times. */
import { decimalOf } from '#core/money/price.ts'
import type { Sql } from '#stores/postgres/database.ts'

/**
 * A query names its columns as the schema of its route names its fields, except that
 * - `nano` and `x_nano` hold nano-dollars and become `usd` and `x_usd`, as decimal text;
 * - `"group.field"` becomes a field of an object, which is null when all its columns are null.
 */
export async function answersOf<Answer>(
  sql: Sql,
  text: string,
  values: readonly unknown[] = [],
): Promise<Answer[]> {
  const rows = await sql.query<Row>(text, values)
  return rows.map((row) => answerOf<Answer>(row))
}

type Row = Readonly<Record<string, unknown>>

/** For rows whose amounts a rule needs as the ledger has them. */
export function answerOf<Answer>(row: object): Answer {
  const answer: Record<string, unknown> = {}
  const groups = new Map<string, Record<string, unknown>>()
  for (const [column, value] of Object.entries(row)) {
    const [group = '', field] = column.split('.')
    if (field === undefined) answer[fieldOf(column)] = shownOf(column, value)
    else groups.set(group, { ...groups.get(group), [fieldOf(field)]: shownOf(field, value) })
  }
  for (const [group, fields] of groups)
    answer[group] = Object.values(fields).every((value) => value === null) ? null : fields
  return answer as Answer
}

function fieldOf(column: string): string {
  return column.endsWith('nano') ? column.replace(/nano$/, 'usd') : column
}

function shownOf(column: string, value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'bigint') return value
  if (column.endsWith('nano')) return decimalOf(value)
  if (value > Number.MAX_SAFE_INTEGER) throw new RangeError(`${column} does not fit a JSON number: ${value}`)
  return Number(value)
}
