/** How many requests ended how, over time, and the values that the filters offer. */
import { z } from 'zod'
import { momentOf } from '#core/money/ledger.ts'
import { OUTCOMES, type Outcome } from '#core/request/request-outcome.ts'
import { KIND_OF_ROUTE } from '#ports/request-reports.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { lowestIdAt } from '#core/money/id-range.ts'
import { time } from '../shared/fields.ts'
import { IS_OUTCOME } from '../shared/request-conditions.ts'
import { isoOf } from '../shared/times.ts'
import { Conditions, type RequestFilter } from './filter-queries.ts'
import { oldestLookedAt } from './queries.ts'

const counts = z.record(z.string(), z.int())

export const histogram = z
  .object({
    slot_seconds: z.int(),
    total: z.int(),
    data: z.array(
      z.object({
        at: time,
        answered: z.int(),
        refused: z.int(),
        limited: z.int(),
        failed: z.int(),
        unknown: z.int(),
      }),
    ),
    facets: z
      .object({
        outcome: counts,
        kind: counts,
        model: counts,
        key: counts,
        fault: counts,
        user: counts,
        tag: counts,
      })
      .nullable()
      .describe('Counts over the whole range, whatever else is filtered.'),
    capped_at: time
      .nullable()
      .describe('There are more requests than are counted: only those from here on are. null: all are.'),
  })
  .meta({ id: 'Histogram' })

type Histogram = z.output<typeof histogram>

/** Rows that the menus of the filters are counted from: they show which values there are, and roughly how many. */
const MAX_FOR_FACETS = 50_000
/** Values of one menu. */
const MAX_VALUES = 100

/** The columns that are counted, besides `user`, which SQL needs quoted. */
const COLUMNS = ['outcome', 'kind', 'model', 'key', 'fault'] as const

const OUTCOME = `CASE ${OUTCOMES.map((outcome) => `WHEN ${IS_OUTCOME[outcome]} THEN '${outcome}'`).join(' ')} END`
const KIND = `CASE route ${Array.from(KIND_OF_ROUTE, ([route, kind]) => `WHEN '${route}' THEN '${kind}'`).join(' ')} END`

export async function requestHistogram(
  sql: Sql,
  filter: RequestFilter,
  options: { readonly slots: number; readonly facets: boolean },
): Promise<Histogram> {
  const [counted, facets] = await Promise.all([
    countsOf(sql, filter, options.slots),
    options.facets ? facetsOf(sql, filter) : null,
  ])
  return { ...counted, facets }
}

async function countsOf(sql: Sql, filter: RequestFilter, count: number): Promise<Omit<Histogram, 'facets'>> {
  const { fromMs, toMs } = filter
  const slotMs = Math.max(1000, Math.ceil((toMs - fromMs) / count / 1000) * 1000)
  const starts = Array.from(
    { length: Math.ceil((toMs - fromMs) / slotMs) },
    (_, slot) => fromMs + slot * slotMs,
  )
  const conditions = new Conditions()
  const indexed = conditions.indexed(filter)
  const other = conditions.other(filter)
  const thresholds = conditions.of(starts.map(lowestIdAt))
  const oldest = await oldestLookedAt(sql, filter)
  const where = [
    indexed,
    ...(other === undefined ? [] : [other]),
    ...(oldest === undefined ? [] : [`request_id >= ${conditions.of(oldest)}::uuid`]),
  ]
  const rows = await sql.query<{ slot: number; outcome: Outcome; requests: number }>(
    `SELECT width_bucket(request_id, ${thresholds}::uuid[]) - 1 AS slot, ${OUTCOME} AS outcome,
       count(*)::integer AS requests
     FROM requests WHERE ${where.join(' AND ')} GROUP BY 1, 2`,
    conditions.values,
  )
  const data = starts.map((ms) => ({
    at: isoOf(ms),
    answered: 0,
    refused: 0,
    limited: 0,
    failed: 0,
    unknown: 0,
  }))
  let total = 0
  for (const { slot, outcome, requests } of rows) {
    const counted = data[slot]
    if (counted !== undefined) counted[outcome] += requests
    total += requests
  }
  const cappedAt = oldest === undefined ? null : isoOf(momentOf(oldest))
  return { slot_seconds: slotMs / 1000, total, data, capped_at: cappedAt }
}

/** Over the whole range: a menu also shows values that are not chosen now. */
async function facetsOf(
  sql: Sql,
  { fromMs, toMs, projects }: RequestFilter,
): Promise<NonNullable<Histogram['facets']>> {
  const conditions = new Conditions()
  const indexed = conditions.indexed({ fromMs, toMs, projects })
  const rows = await sql.query<{ facet: string; value: string | null; requests: number }>(
    `WITH recent AS MATERIALIZED (
       SELECT ${OUTCOME} AS outcome, ${KIND} AS kind, model, key_id AS key, fault, end_user AS "user", tags
       FROM requests WHERE ${indexed} ORDER BY request_id DESC LIMIT ${MAX_FOR_FACETS}
     )
     (SELECT CASE ${COLUMNS.map((column) => `WHEN grouping(${column}) = 0 THEN '${column}'`).join(' ')} ELSE 'user' END AS facet,
        coalesce(${COLUMNS.join(', ')}, "user") AS value, count(*)::integer AS requests
      FROM recent GROUP BY GROUPING SETS (${COLUMNS.map((column) => `(${column})`).join(', ')}, ("user")))
     UNION ALL
     (SELECT 'tag', label.key || ':' || label.value, count(*)::integer
      FROM recent, jsonb_each_text(tags) AS label GROUP BY label.key, label.value ORDER BY count(*) DESC LIMIT ${MAX_VALUES})`,
    conditions.values,
  )
  const found = rows.toSorted((a, b) => b.requests - a.requests)
  const menu = (name: string): Record<string, number> =>
    Object.fromEntries(
      found
        .flatMap(({ facet, value, requests }) =>
          facet === name && value !== null ? [[value, requests] as const] : [],
        )
        .slice(0, MAX_VALUES),
    )
  return {
    outcome: menu('outcome'),
    kind: menu('kind'),
    model: menu('model'),
    key: menu('key'),
    fault: menu('fault'),
    user: menu('user'),
    tag: menu('tag'),
  }
}
