/** Sums of rollups as SQL and as rows. */
import type { UsageFilter, UsageGroup, UsageLabel, UsageSpan, UsageSum } from '#ports/usage.ts'
import { DAY_MS } from '../books/upkeep-ids.ts'

const COUNTED = [
  'requests',
  'posts',
  'unknowns',
  'tokens',
  'images',
  'amount_nano',
  'unknown_nano',
  'unpriced',
  'hits',
  'saved_nano',
] as const

/** Reads as well as one column, and adds up as one. */
export const SUMS = COUNTED.map((column) => `sum(${column})::bigint AS ${column}`).join(', ')

export type SumsRow = Readonly<Record<(typeof COUNTED)[number], bigint | null>>

export function sumOf(row: SumsRow): UsageSum {
  const count = (column: keyof SumsRow): number => Number(row[column] ?? 0n)
  return {
    requests: count('requests'),
    posts: count('posts'),
    unknowns: count('unknowns'),
    tokens: count('tokens'),
    images: count('images'),
    amountNanoUsd: row.amount_nano ?? 0n,
    unknownNanoUsd: row.unknown_nano ?? 0n,
    unpriced: count('unpriced'),
    hits: count('hits'),
    savedNanoUsd: row.saved_nano ?? 0n,
  }
}

/** Of two sums, what is left of the first. */
export const REST = COUNTED.map(
  (column) => `(whole.${column} - coalesce(named.${column}, 0))::bigint AS ${column}`,
).join(', ')

export const COUNTED_COLUMNS = COUNTED.join(', ')

export const COLUMN_OF: Readonly<Record<UsageGroup, string>> = {
  model: 'model',
  deployment: 'deployment',
  project: 'project',
  key: 'key_id',
}

/** $5 to $8; null: all. */
export const FILTER = `($5::text[] IS NULL OR project = ANY($5)) AND ($6::text[] IS NULL OR model = ANY($6))
    AND ($7::text[] IS NULL OR deployment = ANY($7)) AND ($8::text[] IS NULL OR key_id = ANY($8))`

/** In both tables names sort byte by byte, or they could not be put together. */
const NAMES = `project COLLATE "C" AS project, key_id COLLATE "C" AS key_id, model COLLATE "C" AS model,
    deployment COLLATE "C" AS deployment`

/** Without the keys: $8 must be null. */
const GROUP_NAMES = NAMES.replace('key_id COLLATE "C" AS key_id', `'' COLLATE "C" AS key_id`)
const GROUP_FILTER = FILTER.replace('key_id = ANY($8)', 'false')

/** $1, $2: days; $3, $4: hours. Either may be an empty stretch. */
const byDay = (
  days: string,
  names: string,
  filter: string,
  more = '',
  [hours, hourNames] = ['usage_hours', NAMES],
): string => `
  SELECT day::timestamp AT TIME ZONE 'UTC' AS at, ${names}, ${COUNTED_COLUMNS} FROM ${days}
  WHERE day >= $1::date AND day < $2::date AND ${filter} ${more}
  UNION ALL
  SELECT date_trunc('day', hour AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', ${hourNames}, ${COUNTED_COLUMNS} FROM ${hours}
  WHERE hour >= $3 AND hour < $4 AND ${FILTER} ${more}`

/** $9: the label; $10: its values, or null for all. */
const OF_LABEL = 'AND label = $9 AND ($10::text[] IS NULL OR value = ANY($10))'
const LABEL_NAMES = `${NAMES}, value COLLATE "C" AS value`
/** The calls that have a label. */
export const LABELLED_BY_DAY = byDay('usage_label_days', LABEL_NAMES, FILTER, OF_LABEL, [
  'usage_label_hours',
  LABEL_NAMES,
])
export const BY_DAY_AND_KEY = byDay('usage_days', NAMES, FILTER)
export const BY_DAY = byDay('usage_group_days', GROUP_NAMES, GROUP_FILTER)
/** $9: the keys. */
export const BY_DAY_OF_KEYS = byDay('usage_days', NAMES, FILTER, 'AND key_id COLLATE "C" = ANY ($9::text[])')

const RANKING_SUMS = ['amount_nano', 'requests', 'tokens']
  .map((column) => `sum(${column})::bigint AS ${column}`)
  .join(', ')

/** Each table adds up its own: when rows of both are put together first, PostgreSQL takes twice as long. */
export const KEY_SUMS = `
  SELECT key_id COLLATE "C" AS name, ${RANKING_SUMS} FROM usage_days
  WHERE day >= $1::date AND day < $2::date AND ${FILTER} GROUP BY 1
  UNION ALL
  SELECT key_id COLLATE "C", ${RANKING_SUMS} FROM usage_hours WHERE hour >= $3 AND hour < $4 AND ${FILTER} GROUP BY 1`

/** Whether a question names keys. */
export function asksForKeys({ only }: UsageFilter, by?: UsageGroup | UsageLabel): boolean {
  return by === 'key' || only.key !== undefined
}

export const BY_HOUR = `
  SELECT hour AS at, ${NAMES}, ${COUNTED.join(', ')} FROM usage_hours
  WHERE hour >= $3 AND hour < $4 AND $1::date IS NOT NULL AND $2::date IS NOT NULL AND ${FILTER}`

export const LABELLED_BY_HOUR = `
  SELECT hour AS at, ${LABEL_NAMES}, ${COUNTED.join(', ')} FROM usage_label_hours
  WHERE hour >= $3 AND hour < $4 AND $1::date IS NOT NULL AND $2::date IS NOT NULL AND ${FILTER} ${OF_LABEL}`

/** Days are made of hours every ten minutes: those of yesterday and today are read as they are now. */
const FRESH_DAYS = 2

/** The values of $1 to $8. */
export function spanValues(
  { fromMs, endMs, ...filter }: UsageSpan,
  nowMs: number,
  slot: 'hour' | 'day',
): unknown[] {
  const freshMs = (Math.floor(nowMs / DAY_MS) + 1 - FRESH_DAYS) * DAY_MS
  const splitMs = slot === 'hour' ? fromMs : Math.min(Math.max(freshMs, fromMs), endMs)
  return [dayText(fromMs), dayText(splitMs), new Date(splitMs), new Date(endMs), ...filterValues(filter)]
}

function filterValues({ projects, only }: UsageFilter): unknown[] {
  const wanted = only.project
  const seen = wanted && projects ? wanted.filter((name) => projects.includes(name)) : (wanted ?? projects)
  return [seen ?? null, only.model ?? null, only.deployment ?? null, only.key ?? null]
}

function dayText(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 10)
}
