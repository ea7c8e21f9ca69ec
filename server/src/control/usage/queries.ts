/** What was used and spent, from the rollups. */
import { z } from 'zod'
import { BoundedMap } from '#core/structure/bounded-map.ts'
import { OTHER_TAGS, OTHER_VALUES } from '#stores/postgres/ledger/label-registry.ts'
import { DAY_MS } from '#core/money/id-range.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { usd } from '../shared/fields.ts'
import {
  BY_DAY,
  BY_DAY_OF_KEYS,
  columnOf,
  COUNTED_COLUMNS,
  isUsageLabel,
  KEY_SUMS,
  REST,
  sourceOf,
  spanValues,
  SUMS,
  type Sum,
  type UsageGroup,
  type UsageLabel,
  type UsageSpan,
} from './rollup-queries.ts'

export const usageSum = z
  .object({
    requests: z.int().describe('Requests that were answered or charged for. Refused ones are not counted.'),
    posts: z.int().describe('Calls that were paid, and answers that needed none.'),
    unknowns: z.int().describe('Calls with an unknown outcome.'),
    tokens: z.int(),
    images: z.int(),
    usd: usd.describe('What was spent, with what is unknown.'),
    unknown_usd: usd.describe('Of it: reserved for calls with an unknown outcome.'),
    unpriced: z.int().describe('Calls without a price. They are in no sum of dollars.'),
    hits: z.int().describe('Inputs that needed no call.'),
    saved_usd: usd.describe('What a call for them would have cost.'),
  })
  .meta({ id: 'Sum' })

/** $n of `limit`: the number of groups that are listed separately. Groups rank by spending, then by requests. */
function tableOf(by: UsageGroup, source: string, limit: string): string {
  return `
WITH cells AS MATERIALIZED (
  SELECT at, ${columnOf(by)} AS name, ${SUMS} FROM (${source}) AS rows GROUP BY 1, 2
), ${ranked()}
SELECT CASE WHEN place <= ${limit} THEN name END AS name, at, ${SUMS}, (SELECT count(*) FROM ranked)::integer AS groups
FROM cells JOIN ranked USING (name) GROUP BY 1, 2 ORDER BY 2`
}

const ranked = (condition = ''): string => `ranked AS MATERIALIZED (
  SELECT name, row_number() OVER (
    ORDER BY sum(nano) DESC, sum(requests) DESC, sum(tokens) DESC, name
  ) AS place FROM cells ${condition} GROUP BY name
)`

/**
 * By a label, at one moment of all tables: calls without it are what the rollups of all calls have beyond those with it. $9, $10: the
 * label and its values, of which null is all; $11: the number of values that are listed separately.
 */
function tableOfLabel(labelled: string, source: string): string {
  return `
WITH cells AS MATERIALIZED (
  SELECT at, value AS name, ${SUMS} FROM (${labelled}) AS rows GROUP BY 1, 2
), ${ranked(`WHERE name <> '${OTHER_VALUES}'`)}, named AS (
  SELECT at, ${SUMS} FROM cells GROUP BY 1
), whole AS (
  SELECT at, ${SUMS} FROM (${source}) AS rows WHERE $10 IS NULL GROUP BY 1
)
SELECT 'value' AS kind, CASE WHEN place <= $11 THEN name END AS name, at, ${SUMS},
  (SELECT count(*) FROM ranked)::integer AS groups
FROM cells JOIN ranked USING (name) GROUP BY 1, 2, 3
UNION ALL
SELECT 'overflow', NULL, at, ${COUNTED_COLUMNS}, 0 FROM cells WHERE name = '${OTHER_VALUES}'
UNION ALL
SELECT 'none', NULL, at, ${REST}, 0 FROM whole LEFT JOIN named USING (at)
ORDER BY 3`
}

/** $9: the number of keys that are listed separately. */
const RANKED_KEYS = `
SELECT name, (count(*) OVER ())::integer AS groups FROM (
  SELECT name, sum(amount_nano) AS amount_nano, sum(requests) AS requests, sum(tokens) AS tokens
  FROM (${KEY_SUMS}) AS rows GROUP BY 1
) AS sums ORDER BY amount_nano DESC, requests DESC, tokens DESC, name LIMIT $9`

/**
 * The table of keys, of which there may be ten thousand: the whole comes from the days without keys, so that PostgreSQL adds up day
 * by day only the keys that are listed separately. $9: their names; $10: the number of all keys.
 */
const TABLE_OF_KEYS = `
WITH cells AS MATERIALIZED (
  SELECT key_id AS name, at, ${SUMS} FROM (${BY_DAY_OF_KEYS}) AS rows GROUP BY 1, 2
), named AS (
  SELECT at, ${SUMS} FROM cells GROUP BY 1
), whole AS (
  SELECT at, ${SUMS} FROM (${BY_DAY}) AS rows GROUP BY 1
)
SELECT name, at, ${COUNTED_COLUMNS}, $10::integer AS groups FROM cells
UNION ALL
SELECT NULL, at, ${REST}, $10 FROM whole LEFT JOIN named USING (at) WHERE $10 > cardinality($9)
ORDER BY 2`

/** Each key of a tag has one row without a value. */
const TAG_KEYS = `
SELECT DISTINCT label FROM usage_labels
WHERE day >= ($1::timestamptz AT TIME ZONE 'UTC')::date AND day < ($2::timestamptz AT TIME ZONE 'UTC')::date
  AND ($3::text[] IS NULL OR project = ANY($3)) AND value = '' AND label LIKE 'tag:_%' ORDER BY 1`

/**
 * How long a node remembers which of many keys are listed separately. To rank them, PostgreSQL adds up every key, and a page asks
 * the same question at each visit. The sums themselves are always new.
 */
const RANKING_KEPT_MS = 60_000
/** Rankings that a node remembers: those of some people, each with some spans and filters. */
const MAX_RANKINGS = 100

interface Ranking {
  readonly names: readonly string[]
  /** The number of all keys. */
  readonly groups: number
  readonly untilMs: number
}

export type Rankings = BoundedMap<string, Ranking>

export function emptyRankings(): Rankings {
  return new BoundedMap(MAX_RANKINGS)
}

export interface UsageQuestion extends UsageSpan {
  /** A label is the one of `labelled`, if there is one. */
  readonly by: UsageGroup | UsageLabel
  readonly slot: 'hour' | 'day'
  /** Groups listed separately, by spending; all others are one. */
  readonly groups: number
}

export interface UsageCell extends Sum {
  /** null: all groups that are not listed separately. */
  readonly name: string | null
  readonly at: Date
}

export interface UsageTable {
  readonly cells: readonly UsageCell[]
  /** The number of all groups. */
  readonly groups: number
  /** By a label, every call is in one value of it, or in one of these: together they are all calls of the ledger. */
  readonly beside?: {
    /** Values beyond the first `MAX_LABEL_VALUES` of their project and day. */
    readonly overflow: readonly UsageCell[]
    /** Calls without the label. */
    readonly none: readonly UsageCell[]
  }
}

interface CellRow extends UsageCell {
  readonly kind?: 'value' | 'overflow' | 'none'
  readonly groups: number
}

export async function usageTable(
  sql: Sql,
  { by, slot, groups, ...span }: UsageQuestion,
  nowMs: number,
  rankings: Rankings,
): Promise<UsageTable> {
  const values = spanValues(span, nowMs, slot)
  const source = sourceOf(span, slot, by)
  if (isUsageLabel(by)) {
    const all = sourceOf({ ...span, labelled: undefined }, slot)
    const statement = tableOfLabel(source.text, all.text)
    const rows = await sql.query<CellRow>(statement, [...values, ...source.values, groups])
    const { value = [], overflow = [], none = [] } = Object.groupBy(rows, ({ kind = 'value' }) => kind)
    return { cells: value, groups: value[0]?.groups ?? 0, beside: { overflow, none } }
  }
  const isOfAllKeys = slot === 'day' && by === 'key' && !span.only.key && !span.labelled
  const statement = tableOf(by, source.text, `$${9 + source.values.length}`)
  const cells = isOfAllKeys
    ? await cellsOfKeys(sql, values, groups, nowMs, rankings)
    : await sql.query<CellRow>(statement, [...values, ...source.values, groups])
  return { cells, groups: cells[0]?.groups ?? 0 }
}

async function cellsOfKeys(
  sql: Sql,
  values: readonly unknown[],
  limit: number,
  nowMs: number,
  rankings: Rankings,
): Promise<readonly CellRow[]> {
  const question = JSON.stringify([...values, limit])
  let ranking = rankings.get(question)
  if (ranking === undefined || ranking.untilMs <= nowMs) {
    const rows = await sql.query<{ name: string; groups: number }>(RANKED_KEYS, [...values, limit])
    const names = rows.map(({ name }) => name)
    ranking = { names, groups: rows[0]?.groups ?? 0, untilMs: nowMs + RANKING_KEPT_MS }
    // Where all keys are listed separately, a new one has its own line at once.
    if (ranking.groups > limit) rankings.set(question, ranking)
  }
  return sql.query<CellRow>(TABLE_OF_KEYS, [...values, ranking.names, ranking.groups])
}

export interface UsageTotals {
  /** Of the groups that were asked for. A group without any use is left out. */
  readonly groups: ReadonlyMap<string, Sum>
  /** Of all groups. */
  readonly whole: Sum
  /** By a label: of all calls that have it, and of values that are not counted separately. */
  readonly label?: { readonly labelled: Sum; readonly overflow: Sum | undefined }
}

/** The sums of these groups, and of all. */
export async function usageTotals(
  sql: Sql,
  { by, names, ...span }: UsageSpan & Pick<UsageQuestion, 'by'> & { readonly names: readonly string[] },
  nowMs: number,
): Promise<UsageTotals> {
  if (!isUsageLabel(by)) {
    const named = { ...span, only: { ...span.only, [by]: names } }
    const [groups, whole] = await Promise.all([
      sumsByName(sql, columnOf(by), named, nowMs, by),
      wholeOf(sql, span, nowMs),
    ])
    return { groups, whole }
  }
  const { labelled: only, ...all } = span
  const named = { ...all, labelled: { label: by, values: [...names, OTHER_VALUES] } }
  const [groups, labelled, whole] = await Promise.all([
    sumsByName(sql, 'value', named, nowMs, by),
    wholeOf(sql, span, nowMs, by),
    wholeOf(sql, all, nowMs),
  ])
  const overflow = groups.get(OTHER_VALUES)
  groups.delete(OTHER_VALUES)
  return { groups, whole: only === undefined ? whole : labelled, label: { labelled, overflow } }
}

async function sumsByName(
  sql: Sql,
  column: string,
  span: UsageSpan,
  nowMs: number,
  by: UsageGroup | UsageLabel,
): Promise<Map<string, Sum>> {
  const { text, values } = ofSpan(span, nowMs, by)
  const statement = `SELECT ${column} AS name, ${SUMS} FROM (${text}) AS rows GROUP BY 1`
  const rows = await sql.query<Sum & { readonly name: string }>(statement, values)
  return new Map(rows.map((row) => [row.name, row]))
}

async function wholeOf(sql: Sql, span: UsageSpan, nowMs: number, by?: UsageLabel): Promise<Sum> {
  const { text, values } = ofSpan(span, nowMs, by)
  const [sum] = await sql.query<Sum>(`SELECT ${SUMS} FROM (${text}) AS rows`, values)
  if (sum === undefined) throw new Error('a sum without a row')
  return sum
}

/** Rows of a span, and all values of the statement. */
function ofSpan(span: UsageSpan, nowMs: number, by?: UsageGroup | UsageLabel) {
  const slot = span.fromMs % DAY_MS === 0 ? 'day' : 'hour'
  const { text, values } = sourceOf(span, slot, by)
  return { text, values: [...spanValues(span, nowMs, slot), ...values] }
}

/** Calls with a tag whose key is beyond the first `MAX_TAG_KEYS` of their project and day: sums by that tag do not include them. */
export function leftOutTags(sql: Sql, span: UsageSpan, nowMs: number): Promise<Sum> {
  return wholeOf(sql, { ...span, labelled: { label: OTHER_TAGS, values: [OTHER_VALUES] } }, nowMs)
}

/** Keys of tags that were used, in order. */
export async function tagKeys(sql: Sql, { fromMs, endMs, projects }: UsageSpan): Promise<string[]> {
  const values = [new Date(fromMs), new Date(endMs), projects ?? null]
  const rows = await sql.query<{ label: string }>(TAG_KEYS, values)
  return rows.map(({ label }) => label.slice(OTHER_TAGS.length))
}

/** Nano-dollars of each day from the first on. The span is of whole days. */
export async function spentByDay(sql: Sql, span: UsageSpan, nowMs: number): Promise<readonly bigint[]> {
  const { text, values } = ofSpan(span, nowMs)
  const statement = `SELECT at, sum(nano)::bigint AS nano FROM (${text}) AS rows GROUP BY 1`
  const rows = await sql.query<{ at: Date; nano: bigint }>(statement, values)
  const byDay = new Map(rows.map(({ at, nano }) => [at.getTime(), nano]))
  const days = Math.round((span.endMs - span.fromMs) / DAY_MS)
  return Array.from({ length: days }, (_, index) => byDay.get(span.fromMs + index * DAY_MS) ?? 0n)
}
