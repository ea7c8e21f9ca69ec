/**
 * Sums of days from sums of hours. A day is rolled up while it is open, once more when its last hour is sealed, and then only when a
 * correction names it.
 */
import type { Database, Sql } from '../database.ts'
import { SUM_MS, timeText } from './hour-sums.ts'
import { DAY_MS } from '#core/money/id-range.ts'

/** Unknowns are resolved within their week, which a journal that is read a day late makes eight; and today. */
const RECENT_DAYS = 9
/** Corrected days that one round rolls up: each is a day of hours. */
const MAX_CORRECTED_DAYS = 31
/**
 * One node at a time rolls up days, and looks after it has its turn: an earlier look would write sums without a correction that
 * another has marked. An arbitrary number that no other lock of the database uses.
 */
const LOCK = 'SELECT pg_advisory_xact_lock(7061714)'

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

interface RollUp {
  readonly days: string
  readonly names: string
  /** The source of the days, with a column `day` and the names by which they are grouped. */
  readonly rows: string
  /** Whether the sums are added to those of the day; otherwise they replace them. */
  readonly isAdded?: boolean
  /** What else the statement does at the same moment. */
  readonly with?: string
}

function rollUp({ days, names, rows, isAdded = false, with: beside = '' }: RollUp): string {
  const columns = COUNTED.join(', ')
  const places = `1, ${names
    .split(', ')
    .map((_, index) => index + 2)
    .join(', ')}`
  const of = (row: string): string => COUNTED.map((column) => `${row}.${column}`).join(', ')
  return `${beside}
INSERT INTO ${days} AS days (day, ${names}, ${columns})
SELECT day, ${names}, ${COUNTED.map((column) => `sum(${column})`).join(', ')}
FROM (${rows}) AS rows GROUP BY ${places} ORDER BY ${places}
ON CONFLICT (day, ${names}) DO UPDATE SET
  ${COUNTED.map((column) => `${column} = ${isAdded ? `days.${column} + ` : ''}excluded.${column}`).join(', ')}
WHERE ${isAdded} OR (${of('days')}) IS DISTINCT FROM (${of('excluded')})`
}

const ofHours = (hours: string): string => `
  SELECT *, (hour AT TIME ZONE 'UTC')::date AS day FROM ${hours}
  WHERE hour >= $1 AND hour < $2 AND ($3::text IS NULL OR project = $3)`

/** Corrections that the hours contain at this moment are in the sums of the days from then on. */
const ROLL_UP = rollUp({
  days: 'usage_days',
  names: 'project, key_id, model, deployment',
  rows: ofHours('usage_hours'),
  with: `
WITH marked AS (
  UPDATE ledger_corrections SET in_day = true
  WHERE NOT in_day AND hour >= $1 AND hour < $2 AND ($3::text IS NULL OR project = $3)
)`,
})

const ROLL_UP_LABELS = rollUp({
  days: 'usage_label_days',
  names: 'project, label, value, key_id, model, deployment',
  rows: ofHours('usage_label_hours'),
})

/** The same days without their keys. */
const ROLL_UP_GROUPS = rollUp({
  days: 'usage_group_days',
  names: 'project, model, deployment',
  rows: `SELECT * FROM usage_days
  WHERE day >= ($1::timestamptz AT TIME ZONE 'UTC')::date
    AND ($2::text = 'infinity' OR day < ($2::text::timestamptz AT TIME ZONE 'UTC')::date)
    AND ($3::text IS NULL OR project = $3)`,
})

const ofMoved = `SELECT *, (hour AT TIME ZONE 'UTC')::date AS day FROM moved`
const moved = (hours: string): string => `
WITH moved AS (DELETE FROM ${hours} WHERE hour < $1::timestamptz RETURNING *)`

/** Sums of late entries whose hours were dropped are added to their days. $1: since when hours are kept. */
const FOLD = [
  rollUp({
    days: 'usage_days',
    names: 'project, key_id, model, deployment',
    rows: ofMoved,
    isAdded: true,
    with: `${moved('usage_hours')}, marked AS (
  UPDATE ledger_corrections SET in_day = true WHERE NOT in_day AND hour < $1::timestamptz
)`,
  }),
  rollUp({
    days: 'usage_label_days',
    names: 'project, label, value, key_id, model, deployment',
    rows: ofMoved,
    isAdded: true,
    with: moved('usage_label_hours'),
  }),
]

/** So that no append adds to them between the look at the corrections and the move. */
const LOCK_LATE = ['usage_hours', 'usage_label_hours'].map(
  (hours) => `SELECT hour FROM ${hours} WHERE hour < $1::timestamptz ORDER BY hour FOR UPDATE`,
)

const PROGRESS = `
SELECT (extract(epoch FROM coalesce(sealing, through)) * 1000)::float8 AS sealed_ms,
  (extract(epoch FROM days_through) * 1000)::float8 AS days_ms,
  (extract(epoch FROM hours_kept_from) * 1000)::float8 AS kept_ms
FROM ledger_seal`

interface ProgressRow {
  readonly sealed_ms: number
  readonly days_ms: number
  readonly kept_ms: number
}

const FIRST_HOUR = 'SELECT hour FROM usage_hours WHERE hour >= $1::timestamptz ORDER BY hour LIMIT 1'

const CORRECTED_DAYS = `
SELECT DISTINCT (hour AT TIME ZONE 'UTC')::date::text AS day FROM ledger_corrections
WHERE NOT in_day AND hour < $1::timestamptz ORDER BY 1 LIMIT ${MAX_CORRECTED_DAYS}`

/** Waits until no one else rolls up days, in a transaction. */
export async function lockDays(sql: Sql): Promise<void> {
  await sql.query(LOCK)
}

/** For one project, or for all. Repeating it changes nothing. In a transaction of its own. */
export async function rollUpDays(
  sql: Sql,
  from: Date,
  end: Date | 'infinity',
  project?: string,
): Promise<void> {
  await lockDays(sql)
  await sql.query(ROLL_UP, [from, end, project ?? null])
  await sql.query(ROLL_UP_LABELS, [from, end, project ?? null])
  const endText = end === 'infinity' ? end : end.toISOString()
  await sql.query(ROLL_UP_GROUPS, [from, endText, project ?? null])
}

/** One day. Where its hours were dropped, what came since is added to it. */
export async function rollUpDay(database: Database, dayMs: number, project?: string): Promise<void> {
  const { kept_ms: keptMs } = await progressOf(database)
  if (dayMs < keptMs) return inTransaction(database, (sql) => fold(sql, keptMs))
  const work = (sql: Sql): Promise<void> =>
    rollUpDays(sql, new Date(dayMs), new Date(dayMs + DAY_MS), project)
  await (project === undefined ? inTransaction(database, work) : database.transaction(work))
}

/** The days that are not final, and final ones that have corrections. */
export async function rollUpOpenDays(database: Database, nowMs: number): Promise<void> {
  const { days_ms: finalMs } = await progressOf(database)
  const recentMs = (Math.floor(nowMs / DAY_MS) + 1 - RECENT_DAYS) * DAY_MS
  const from = new Date(Math.max(recentMs, finalMs))
  await inTransaction(database, (sql) => rollUpDays(sql, from, 'infinity'))
  const corrected = await database.query<{ day: string }>(CORRECTED_DAYS, [timeText(finalMs, '-infinity')])
  for (const { day } of corrected) await rollUpDay(database, Date.parse(day))
}

/** Days whose hours are all sealed get their final sums, the oldest first, until `isOver`. */
export async function completeDays(database: Database, isOver: () => boolean): Promise<void> {
  do {
    const { sealed_ms: sealedMs, days_ms: finalMs } = await progressOf(database)
    const sealedDaysMs = Math.floor(sealedMs / DAY_MS) * DAY_MS
    if (!(finalMs < sealedDaysMs)) return
    const [first] = await database.query<{ hour: Date }>(FIRST_HOUR, [timeText(finalMs, '-infinity')])
    const dayMs = Math.floor((first?.hour.getTime() ?? Infinity) / DAY_MS) * DAY_MS
    const endMs = Math.min(dayMs + DAY_MS, sealedDaysMs)
    await inTransaction(database, async (sql) => {
      if (dayMs < endMs) await rollUpDays(sql, new Date(dayMs), new Date(endMs))
      await sql.query('UPDATE ledger_seal SET days_through = greatest(days_through, $1::date)', [
        new Date(endMs).toISOString().slice(0, 10),
      ])
    })
  } while (!isOver())
}

/** In a transaction. */
export async function fold(sql: Sql, keptMs: number): Promise<void> {
  await lockDays(sql)
  const kept = timeText(keptMs, '-infinity')
  const late: { hour: Date }[] = []
  for (const statement of LOCK_LATE) late.push(...(await sql.query<{ hour: Date }>(statement, [kept])))
  for (const statement of FOLD) await sql.query(statement, [kept])
  for (const dayMs of new Set(late.map(({ hour }) => Math.floor(hour.getTime() / DAY_MS) * DAY_MS)))
    await sql.query(ROLL_UP_GROUPS, [new Date(dayMs), new Date(dayMs + DAY_MS).toISOString(), null])
}

async function progressOf(sql: Sql): Promise<ProgressRow> {
  const [row] = await sql.query<ProgressRow>(PROGRESS)
  return row as ProgressRow
}

/** A day of many keys takes longer than a statement may, by default. */
async function inTransaction(database: Database, work: (sql: Sql) => Promise<void>): Promise<void> {
  await database.session(async (sql) => {
    await sql.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    await work(sql)
    await sql.query('COMMIT')
  }, SUM_MS)
}
