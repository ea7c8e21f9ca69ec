/** What deployments cost when, and what has no price. */
import { z } from 'zod'
import { DAY_MS } from '#core/money/id-range.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { time } from '../shared/fields.ts'
import { priceText } from '../shared/price-text.ts'
import { answersOf } from '../shared/rows.ts'

export const priceChange = z
  .object({
    at: time,
    deployment: z.string(),
    before: z.array(priceText),
    after: z.array(priceText),
    by: z.string().describe('A person, a line of torana.yaml, or `catalog`.'),
  })
  .meta({ id: 'PriceChange' })

/** The first price of a deployment is no change. A text without a note has no such field. */
const CHANGES = `
SELECT at, deployment, changed_by AS by,
  (SELECT jsonb_agg('{"note": null}'::jsonb || line) FROM jsonb_array_elements(before->'text') AS line) AS before,
  (SELECT jsonb_agg('{"note": null}'::jsonb || line) FROM jsonb_array_elements(after->'text') AS line) AS after
FROM price_changes WHERE before IS NOT NULL AND at >= $1 AND at < $2 ORDER BY at, deployment LIMIT $3`

const UNPRICED_DAYS = 30
const UNPRICED = `
SELECT deployment, sum(unpriced)::bigint AS requests FROM (
  SELECT deployment COLLATE "C" AS deployment, unpriced FROM usage_days
  WHERE day >= ($1 AT TIME ZONE 'UTC')::date AND day < ($2 AT TIME ZONE 'UTC')::date AND unpriced <> 0
  UNION ALL
  SELECT deployment, unpriced FROM usage_hours WHERE hour >= $2::timestamptz AND unpriced <> 0
) AS rows GROUP BY deployment`

/** Oldest first. */
export function listPriceChanges(
  sql: Sql,
  { fromMs, endMs }: { fromMs: number; endMs: number },
  limit: number,
) {
  const values = [new Date(fromMs), new Date(endMs), limit]
  return answersOf<z.output<typeof priceChange>>(sql, CHANGES, values)
}

/** Calls without a price in the last 30 days, by deployment. */
export async function unpricedRequests(sql: Sql, nowMs: number): Promise<ReadonlyMap<string, number>> {
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS
  const values = [new Date(todayMs - UNPRICED_DAYS * DAY_MS), new Date(todayMs - DAY_MS)]
  const rows = await answersOf<{ deployment: string; requests: number }>(sql, UNPRICED, values)
  return new Map(rows.map(({ deployment, requests }) => [deployment, requests]))
}
