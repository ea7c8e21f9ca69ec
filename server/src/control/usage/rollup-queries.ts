/** Rollups of the ledger as SQL: the rows that questions about usage add up, and the values that select them. */
import { DAY_MS } from '#core/money/id-range.ts'

export const USAGE_GROUPS = ['model', 'deployment', 'project', 'key'] as const
export type UsageGroup = (typeof USAGE_GROUPS)[number]

/** What callers say a request is for: its user, or a tag with this key. */
export type UsageLabel = 'user' | `tag:${string}`

export function isUsageLabel(by: UsageGroup | UsageLabel): by is UsageLabel {
  return by === 'user' || by.startsWith('tag:')
}

export interface UsageFilter {
  /** Undefined: all. */
  readonly projects: readonly string[] | undefined
  /** Names in each of the dimensions that are named. */
  readonly only: Readonly<Partial<Record<UsageGroup, readonly string[]>>>
  /** Calls with one of these values. Labels are counted one by one, so a question names at most one of them. */
  readonly labelled?: { readonly label: UsageLabel; readonly values: readonly string[] } | undefined
}

export interface UsageSpan extends UsageFilter {
  /** Whole hours. From the beginning of a day in UTC on, days answer for all but the last, unfinished one. */
  readonly fromMs: number
  readonly endMs: number
}

/** In the order of the answers' fields. */
export const COUNTED = [
  'requests',
  'posts',
  'unknowns',
  'tokens',
  'images',
  'nano',
  'unknown_nano',
  'unpriced',
  'hits',
  'saved_nano',
] as const

export type Sum = Readonly<Record<(typeof COUNTED)[number], bigint>>

export const COUNTED_COLUMNS = COUNTED.join(', ')
const STORED_COLUMNS = COUNTED_COLUMNS.replace(' nano', ' amount_nano AS nano')

/** A sum has the columns of its rows, so that sums can be added up in turn. */
export const SUMS = COUNTED.map((column) => `coalesce(sum(${column}), 0)::bigint AS ${column}`).join(', ')

/** What is left of the sum `whole` without the sum `named`. */
export const REST = COUNTED.map(
  (column) => `(whole.${column} - coalesce(named.${column}, 0))::bigint AS ${column}`,
).join(', ')

export function columnOf(by: UsageGroup): string {
  return by === 'key' ? 'key_id' : by
}

/** $5 to $8; null: all. */
export const FILTER = `($5::text[] IS NULL OR project = ANY($5)) AND ($6::text[] IS NULL OR model = ANY($6))
    AND ($7::text[] IS NULL OR deployment = ANY($7)) AND ($8::text[] IS NULL OR key_id = ANY($8))`

/** The tables sort names differently; one collation makes their rows comparable. */
const NAMES = `project COLLATE "C" AS project, key_id COLLATE "C" AS key_id, model COLLATE "C" AS model,
    deployment COLLATE "C" AS deployment`

/** Without the keys: $8 must be null. */
const GROUP_NAMES = NAMES.replace('key_id COLLATE "C" AS key_id', `'' COLLATE "C" AS key_id`)
const GROUP_FILTER = FILTER.replace('key_id = ANY($8)', 'false')

/** $1, $2: days; $3, $4: hours. Each may be an empty span. */
const byDay = (
  days: string,
  names: string,
  filter: string,
  more = '',
  [hours, hourNames] = ['usage_hours', NAMES],
): string => `
  SELECT day::timestamp AT TIME ZONE 'UTC' AS at, ${names}, ${STORED_COLUMNS} FROM ${days}
  WHERE day >= $1::date AND day < $2::date AND ${filter} ${more}
  UNION ALL
  SELECT date_trunc('day', hour AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', ${hourNames}, ${STORED_COLUMNS} FROM ${hours}
  WHERE hour >= $3 AND hour < $4 AND ${FILTER} ${more}`

/** $9: the label; $10: its values, or null for all. */
const OF_LABEL = 'AND label = $9 AND ($10::text[] IS NULL OR value = ANY($10))'
const LABEL_NAMES = `${NAMES}, value COLLATE "C" AS value`
const LABELLED_BY_DAY = byDay('usage_label_days', LABEL_NAMES, FILTER, OF_LABEL, [
  'usage_label_hours',
  LABEL_NAMES,
])
const BY_DAY_AND_KEY = byDay('usage_days', NAMES, FILTER)
export const BY_DAY = byDay('usage_group_days', GROUP_NAMES, GROUP_FILTER)
/** $9: the keys. */
export const BY_DAY_OF_KEYS = byDay('usage_days', NAMES, FILTER, 'AND key_id COLLATE "C" = ANY ($9::text[])')

const byHour = (hours: string, names: string, more = ''): string => `
  SELECT hour AS at, ${names}, ${STORED_COLUMNS} FROM ${hours}
  WHERE hour >= $3 AND hour < $4 AND $1::date IS NOT NULL AND $2::date IS NOT NULL AND ${FILTER} ${more}`

const BY_HOUR = byHour('usage_hours', NAMES)
const LABELLED_BY_HOUR = byHour('usage_label_hours', LABEL_NAMES, OF_LABEL)

const RANKING_SUMS = ['amount_nano', 'requests', 'tokens']
  .map((column) => `sum(${column})::bigint AS ${column}`)
  .join(', ')

/** Each table adds up its own rows: PostgreSQL takes twice as long for the rows of both together. */
export const KEY_SUMS = `
  SELECT key_id COLLATE "C" AS name, ${RANKING_SUMS} FROM usage_days
  WHERE day >= $1::date AND day < $2::date AND ${FILTER} GROUP BY 1
  UNION ALL
  SELECT key_id COLLATE "C", ${RANKING_SUMS} FROM usage_hours WHERE hour >= $3 AND hour < $4 AND ${FILTER} GROUP BY 1`

/** Rows of rollups, and the values of the statement from $9 on. */
interface Source {
  readonly text: string
  readonly values: readonly unknown[]
}

export function sourceOf(
  { labelled, only }: UsageFilter,
  slot: 'hour' | 'day',
  by?: UsageGroup | UsageLabel,
): Source {
  const label = labelled?.label ?? (by !== undefined && isUsageLabel(by) ? by : undefined)
  if (label !== undefined)
    return {
      text: slot === 'hour' ? LABELLED_BY_HOUR : LABELLED_BY_DAY,
      values: [label, labelled?.values ?? null],
    }
  const days = by === 'key' || only.key !== undefined ? BY_DAY_AND_KEY : BY_DAY
  return { text: slot === 'hour' ? BY_HOUR : days, values: [] }
}

/** Days are made of hours every ten minutes: the hours of yesterday and today are read as they are now. */
const FRESH_DAYS = 2

/** The values of $1 to $8. */
export function spanValues(
  { fromMs, endMs, ...filter }: UsageSpan,
  nowMs: number,
  slot: 'hour' | 'day',
): unknown[] {
  const freshMs = (Math.floor(nowMs / DAY_MS) + 1 - FRESH_DAYS) * DAY_MS
  const lastDayMs = Math.floor(endMs / DAY_MS) * DAY_MS
  const splitMs = slot === 'hour' ? fromMs : Math.min(Math.max(freshMs, fromMs), lastDayMs)
  return [dayText(fromMs), dayText(splitMs), new Date(splitMs), new Date(endMs), ...filterValues(filter)]
}

/** The values of $5 to $8. */
export function filterValues({ projects, only }: UsageFilter): unknown[] {
  const wanted = only.project
  const seen = wanted && projects ? wanted.filter((name) => projects.includes(name)) : (wanted ?? projects)
  return [seen ?? null, only.model ?? null, only.deployment ?? null, only.key ?? null]
}

function dayText(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 10)
}
