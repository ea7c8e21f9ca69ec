/** Sums of days from sums of hours. */
import type { Sql } from '../database.ts'

const COUNTED = [
  'posts',
  'unknowns',
  'tokens',
  'images',
  'amount_nano',
  'unpriced',
  'requests',
  'hits',
  'saved_nano',
  'unknown_nano',
]

/** `rows`: the source of the days, with a column `day` and the names by which they are grouped. */
function rollUp(days: string, names: string, rows: string): string {
  const columns = COUNTED.join(', ')
  const places = `1, ${names
    .split(', ')
    .map((_, index) => index + 2)
    .join(', ')}`
  const of = (row: string): string => COUNTED.map((column) => `${row}.${column}`).join(', ')
  return `
INSERT INTO ${days} AS days (day, ${names}, ${columns})
SELECT day, ${names}, ${COUNTED.map((column) => `sum(${column})`).join(', ')}
FROM (${rows}) AS rows GROUP BY ${places} ORDER BY ${places}
ON CONFLICT (day, ${names}) DO UPDATE SET
  ${COUNTED.map((column) => `${column} = excluded.${column}`).join(', ')}
WHERE (${of('days')}) IS DISTINCT FROM (${of('excluded')})`
}

const ofHours = (hours: string): string => `
  SELECT *, (hour AT TIME ZONE 'UTC')::date AS day FROM ${hours}
  WHERE hour >= $1 AND hour < $2 AND ($3::text IS NULL OR project = $3)`

const ROLL_UP = rollUp('usage_days', 'project, key_id, model, deployment', ofHours('usage_hours'))

const ROLL_UP_LABELS = rollUp(
  'usage_label_days',
  'project, label, value, key_id, model, deployment',
  ofHours('usage_label_hours'),
)

/** The same days without their keys. */
const ROLL_UP_GROUPS = rollUp(
  'usage_group_days',
  'project, model, deployment',
  `SELECT * FROM usage_days
  WHERE day >= ($1::timestamptz AT TIME ZONE 'UTC')::date
    AND ($2::text = 'infinity' OR day < ($2::text::timestamptz AT TIME ZONE 'UTC')::date)
    AND ($3::text IS NULL OR project = $3)`,
)

/** For one project, or for all. Repeating it changes nothing. */
export async function rollUpDays(
  sql: Sql,
  from: Date,
  end: Date | 'infinity',
  project?: string,
): Promise<void> {
  await sql.query(ROLL_UP, [from, end, project ?? null])
  await sql.query(ROLL_UP_LABELS, [from, end, project ?? null])
  const endText = end === 'infinity' ? end : end.toISOString()
  await sql.query(ROLL_UP_GROUPS, [from, endText, project ?? null])
}
