/** The statements of usage. */
import type { UsageGroup } from '#ports/usage.ts'
import { OTHER_VALUES } from '../books/label-registry.ts'
import {
  BY_DAY,
  BY_DAY_OF_KEYS,
  COLUMN_OF,
  COUNTED_COLUMNS,
  FILTER,
  KEY_SUMS,
  REST,
  SUMS,
} from './usage-rows.ts'

/** `most`: how many groups are told apart. A group's place is by what it spent, then by what it asked for. */
export function tableOf(by: UsageGroup, source: string, most: string): string {
  return `
WITH cells AS MATERIALIZED (
  SELECT at, ${COLUMN_OF[by]} AS name, ${SUMS} FROM (${source}) AS rows GROUP BY 1, 2
), ${ranked()}
SELECT CASE WHEN place <= ${most} THEN name END AS name, at, ${SUMS}, (SELECT count(*) FROM ranked)::integer AS groups
FROM cells JOIN ranked USING (name) GROUP BY 1, 2 ORDER BY 2`
}

const ranked = (condition = ''): string => `ranked AS MATERIALIZED (
  SELECT name, row_number() OVER (
    ORDER BY sum(amount_nano) DESC, sum(requests) DESC, sum(tokens) DESC, name
  ) AS place FROM cells ${condition} GROUP BY name
)`

/**
 * By a label, at one moment of all tables: calls without it are what the rollups of all calls have beyond those with it. $9, $10: the
 * label and its values, of which null is all; $11: how many are told apart.
 */
export function tableOfLabel(labelled: string, source: string): string {
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

/** $9: how many keys are told apart. */
export const RANKED_KEYS = `
SELECT name, (count(*) OVER ())::integer AS groups FROM (
  SELECT name, sum(amount_nano) AS amount_nano, sum(requests) AS requests, sum(tokens) AS tokens
  FROM (${KEY_SUMS}) AS rows GROUP BY 1
) AS sums ORDER BY amount_nano DESC, requests DESC, tokens DESC, name LIMIT $9`

/**
 * The table for keys, of which there may be ten thousand: the whole is taken from the days without keys, so that only those are
 * added up day by day that are told apart. $9: their names; $10: how many keys there are.
 */
export const TABLE_OF_KEYS = `
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

export function totalsOf(column: string, source: string): string {
  return `SELECT ${column} AS name, ${SUMS} FROM (${source}) AS rows GROUP BY 1`
}

export function wholeOf(source: string): string {
  return `SELECT ${SUMS} FROM (${source}) AS rows`
}

export function spentByDayOf(source: string): string {
  return `SELECT at, sum(amount_nano)::bigint AS nano FROM (${source}) AS rows GROUP BY 1`
}

/** Keys of tags by the row that stands for each of them. */
export const TAG_KEYS = `
SELECT DISTINCT label FROM usage_labels
WHERE day >= ($1::timestamptz AT TIME ZONE 'UTC')::date AND day < ($2::timestamptz AT TIME ZONE 'UTC')::date
  AND ($3::text[] IS NULL OR project = ANY($3)) AND value = '' AND label LIKE 'tag:_%' ORDER BY 1`

/** $9 to $11: after which entry; $13 to $15: its user, or the key and values of a tag. Ids are times, so the span is one of ids. */
export const ENTRIES = `
SELECT request_id, attempt, kind, call_id, project, key_id, model, deployment, usage, tokens, images, amount_nano,
  written_at, end_user, tags
FROM usage_events
WHERE request_id >= $1 AND request_id < $2 AND $3::timestamptz IS NOT NULL AND $4::timestamptz IS NOT NULL AND ${FILTER}
  AND ($9::uuid IS NULL OR (request_id, attempt, kind) > ($9, $10::smallint, $11))
  AND ($13::text[] IS NULL OR end_user = ANY($13)) AND ($14::text IS NULL OR tags ->> $14 = ANY($15::text[]))
ORDER BY request_id, attempt, kind LIMIT $12`
