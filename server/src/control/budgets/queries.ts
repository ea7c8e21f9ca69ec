/** How full budgets are. Whole days come from the rollups by day, the last two days from those by hour. */
import { z } from 'zod'
import { windowOf, type Budget, type BudgetPeriod, type BudgetWindow } from '#core/money/budget.ts'
import { DAY_MS, HIGHEST_ID, lowestIdAt } from '#core/money/id-range.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { time, usd } from '../shared/fields.ts'
import { IS_OF_CALLERS } from '../shared/request-conditions.ts'
import { answersOf } from '../shared/rows.ts'
import { HOUR_MS } from '../shared/times.ts'

const forecast = z
  .object({
    used_up_at: time.nullable().describe('null: not in this window.'),
    earliest: time.nullable().describe('At the pace of a busy day: the 80th percentile of the last seven.'),
    latest: time.nullable().describe('At the pace of a quiet day: the 20th percentile.'),
    at_end_usd: usd.nullable().describe('What is spent at the end of the window. null: it has none.'),
  })
  .nullable()
  .describe('From the last seven days, by weekday. null: there are fewer than three days to tell from.')

export const budgetStanding = z
  .object({
    id: z.string().describe('`project:ads` or `key:ads/website`.'),
    scope: z.enum(['project', 'key']),
    name: z.string(),
    managed_by: z.enum(['configuration', 'store', 'built-in']),
    managed_at: z.string().nullable().describe('Such as `torana.yaml:88`.'),
    limit_usd: usd,
    per: z.enum(['day', 'week', 'month', 'total']),
    hard: z.boolean().describe('It refuses what does not fit. A soft one only tells.'),
    window: z.object({ start: time, end: time.nullable() }),
    spent_usd: usd,
    unknown_usd: usd.describe('Of it: reserved for calls with an unknown outcome.'),
    left_usd: usd,
    leased_usd: usd.describe('Of what is left: what nodes may spend without asking.'),
    refuses: z
      .boolean()
      .describe('What is left covered no request that callers sent in the last hour, or not all of them.'),
    forecast,
  })
  .meta({ id: 'BudgetStanding' })

export const refusedRequests = z
  .object({ budget_exhausted: z.int(), budget_reserved: z.int(), model_unpriced: z.int() })
  .describe('Requests of this window that were refused, as far as the request log goes back.')

export const spender = z.object({ key: z.string(), usd, models: z.array(z.string()) })

/** Longest window shown by the hour: two months of hours are more points than a chart has pixels. */
export const HOURLY_DAYS = 62
/** Age of a refusal that still marks a budget: an hour, so that the mark goes soon after the limit was raised. */
const REFUSED_WITHIN_MS = HOUR_MS
/** Days that the request log is kept: a longer window has no older refusals. */
const LOG_DAYS = 31

/**
 * $1 to $4: the budgets of torana.yaml, which replace those of the store. $5 to $7: the starts of the current day, week and
 * month. $8: the first hour that is read. $9 to $11: projects, scope and id; $12, $13: the last budget of the page before. $15: the id
 * of the oldest request that counts as a recent refusal. A refusal is laid to the key's own hard budget where it has one.
 */
const STANDINGS = `
WITH asked AS (
  SELECT budget_id, limit_nano, per, hard, 'configuration' AS managed_by
  FROM unnest($1::text[], $2::bigint[], $3::text[], $4::boolean[]) AS declared (budget_id, limit_nano, per, hard)
  UNION ALL
  SELECT 'project:' || project, (budget->>'limitNanoUsd')::bigint, budget->>'per', (budget->>'hard')::boolean, 'store'
  FROM projects WHERE budget IS NOT NULL AND deleted_at IS NULL AND 'project:' || project <> ALL($1)
  UNION ALL
  SELECT 'key:' || key_id, (keys.budget->>'limitNanoUsd')::bigint, keys.budget->>'per',
    (keys.budget->>'hard')::boolean, 'store'
  FROM keys JOIN projects USING (project)
  WHERE keys.budget IS NOT NULL AND revoked_at IS NULL AND deleted_at IS NULL AND 'key:' || key_id <> ALL($1)
), placed AS MATERIALIZED (
  SELECT *, split_part(budget_id, ':', 1) AS scope, substr(budget_id, strpos(budget_id, ':') + 1) AS name,
    CASE per WHEN 'day' THEN $5 WHEN 'week' THEN $6 WHEN 'month' THEN $7 ELSE to_timestamp(0) END::timestamptz
      AS window_start
  FROM asked
  WHERE ($9::text[] IS NULL OR split_part(substr(budget_id, strpos(budget_id, ':') + 1), '/', 1) = ANY($9))
    AND ($10::text IS NULL OR split_part(budget_id, ':', 1) = $10) AND ($11::text IS NULL OR budget_id = $11)
), sums AS (
  -- There are many keys, each with few rows, and few projects, each with many.
  SELECT budget_id, own.spent_nano, own.unknown_nano FROM placed CROSS JOIN LATERAL (
    SELECT sum(amount_nano)::bigint AS spent_nano, sum(unknown_nano)::bigint AS unknown_nano FROM (
      SELECT amount_nano, unknown_nano FROM usage_days
      WHERE key_id COLLATE "C" = name AND day >= (window_start AT TIME ZONE 'UTC')::date
        AND day < ($8 AT TIME ZONE 'UTC')::date
      UNION ALL
      SELECT amount_nano, unknown_nano FROM usage_hours
      WHERE key_id = name AND hour >= window_start AND hour >= $8::timestamptz
      UNION ALL
      SELECT amount_nano, 0 FROM ledger_refused WHERE key_id = name AND hour >= window_start
    ) AS rows
  ) AS own WHERE scope = 'key'
  UNION ALL
  SELECT budget_id, sum(amount_nano)::bigint, sum(unknown_nano)::bigint FROM (
    SELECT budget_id, amount_nano, unknown_nano FROM placed JOIN usage_group_days
      ON project = name AND day >= (window_start AT TIME ZONE 'UTC')::date AND day < ($8 AT TIME ZONE 'UTC')::date
      WHERE scope = 'project'
    UNION ALL
    SELECT budget_id, amount_nano, unknown_nano FROM placed JOIN usage_hours
      ON project = name AND hour >= window_start AND hour >= $8::timestamptz
      WHERE scope = 'project'
    UNION ALL
    SELECT budget_id, amount_nano, 0 FROM placed JOIN ledger_refused ON project = name AND hour >= window_start
      WHERE scope = 'project'
  ) AS rows GROUP BY budget_id
), refused AS MATERIALIZED (
  SELECT DISTINCT project, key_id FROM (
    SELECT project, key_id FROM requests
    WHERE request_id >= $15 AND status >= 400 AND fault = 'budget_exhausted' AND ${IS_OF_CALLERS}
    LIMIT 100000
  ) AS recent
), standing AS (
  SELECT placed.*, coalesce(sums.spent_nano, 0) AS spent_nano,
    coalesce(sums.unknown_nano, 0) AS unknown_nano, coalesce(budgets.leased_nano, 0) AS leased_nano,
    round(coalesce(sums.spent_nano, 0)::numeric / greatest(placed.limit_nano, 1), 9) AS fullness
  FROM placed LEFT JOIN sums USING (budget_id)
  LEFT JOIN budgets ON budgets.budget_id = placed.budget_id AND budgets.window_start = placed.window_start
)
SELECT budget_id AS id, scope, name, managed_by, limit_nano, per, hard, spent_nano, unknown_nano,
  greatest(limit_nano - spent_nano, 0) AS left_nano, leased_nano, fullness,
  hard AND CASE scope
    WHEN 'key' THEN name IN (SELECT key_id FROM refused)
    ELSE name IN (SELECT project FROM refused WHERE 'key:' || key_id NOT IN (SELECT budget_id FROM asked WHERE hard))
  END AS refuses
FROM standing
WHERE $12::numeric IS NULL OR fullness < $12 OR (fullness = $12 AND budget_id > $13)
ORDER BY fullness DESC, budget_id LIMIT $14`

/** $1: budgets; $2: from; $3: the first hour that is read; $4: the end. */
const LAST_DAYS = `
WITH placed AS MATERIALIZED (
  SELECT budget_id, split_part(budget_id, ':', 1) AS scope, substr(budget_id, strpos(budget_id, ':') + 1) AS name
  FROM unnest($1::text[]) AS asked (budget_id)
)
SELECT budget_id, day, sum(amount_nano)::bigint AS nano FROM (
  SELECT budget_id, day::timestamp AT TIME ZONE 'UTC' AS day, amount_nano FROM placed JOIN usage_days
    ON key_id COLLATE "C" = name AND day >= ($2 AT TIME ZONE 'UTC')::date AND day < ($3 AT TIME ZONE 'UTC')::date
    WHERE scope = 'key'
  UNION ALL
  SELECT budget_id, day::timestamp AT TIME ZONE 'UTC', amount_nano FROM placed JOIN usage_group_days
    ON project = name AND day >= ($2 AT TIME ZONE 'UTC')::date AND day < ($3 AT TIME ZONE 'UTC')::date
    WHERE scope = 'project'
  UNION ALL
  SELECT budget_id, date_trunc('day', hour AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', amount_nano
    FROM placed JOIN usage_hours ON key_id = name AND hour >= $3::timestamptz AND hour < $4::timestamptz
    WHERE scope = 'key'
  UNION ALL
  SELECT budget_id, date_trunc('day', hour AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', amount_nano
    FROM placed JOIN usage_hours ON project = name AND hour >= $3::timestamptz AND hour < $4::timestamptz
    WHERE scope = 'project'
) AS rows GROUP BY 1, 2`

/** $1: the name; $2, $4: the window; $3: the first hour that is read. */
function seriesOf(column: 'project' | 'key_id', isHourly: boolean): string {
  if (isHourly)
    return `
SELECT hour AS at, sum(amount_nano)::bigint AS nano FROM usage_hours
WHERE ${column} = $1 AND hour >= $2 AND hour < $4 AND $3::timestamptz IS NOT NULL GROUP BY hour ORDER BY hour`
  return `
SELECT day::timestamp AT TIME ZONE 'UTC' AS at, sum(amount_nano)::bigint AS nano FROM (
  SELECT day, amount_nano FROM usage_days
  WHERE ${column} = $1 AND day >= ($2 AT TIME ZONE 'UTC')::date AND day < ($3 AT TIME ZONE 'UTC')::date
  UNION ALL
  SELECT (hour AT TIME ZONE 'UTC')::date, amount_nano FROM usage_hours
  WHERE ${column} = $1 AND hour >= $3::timestamptz AND hour < $4::timestamptz
) AS rows GROUP BY day ORDER BY day`
}

/** The same values, and $5: the number of keys. */
function spendersOf(column: 'project' | 'key_id'): string {
  return `
SELECT key_id AS key, sum(nano)::bigint AS nano, array_agg(model ORDER BY nano DESC, model) AS models FROM (
  SELECT key_id, model, sum(amount_nano) AS nano FROM (
    SELECT key_id COLLATE "C" AS key_id, model COLLATE "C" AS model, amount_nano FROM usage_days
    WHERE ${column} = $1 AND day >= ($2 AT TIME ZONE 'UTC')::date AND day < ($3 AT TIME ZONE 'UTC')::date
    UNION ALL
    SELECT key_id, model, amount_nano FROM usage_hours
    WHERE ${column} = $1 AND hour >= $3::timestamptz AND hour < $4::timestamptz
  ) AS rows GROUP BY 1, 2
) AS spent GROUP BY key_id ORDER BY 2 DESC, 1 LIMIT $5`
}

/** $1: the project; $2, $3: the window; $4: the budget. */
const NOTIFICATIONS = `
SELECT (payload::jsonb #>> '{data,percent}')::integer AS percent, url, created_at AS at FROM webhook_events
WHERE project = $1 AND type = 'budget.reached' AND created_at >= $2 AND created_at < $3
  AND payload::jsonb #>> '{data,budget}' = $4
ORDER BY created_at LIMIT 1000`

/** $1, $2: ids; $3: the project; $4: the key, or null. The limit bounds the time that a page waits. */
const REFUSED = `
SELECT count(*) FILTER (WHERE fault = 'budget_exhausted') AS budget_exhausted,
  count(*) FILTER (WHERE fault = 'budget_reserved') AS budget_reserved,
  count(*) FILTER (WHERE fault = 'model_unpriced') AS model_unpriced
FROM (
  SELECT fault FROM requests
  WHERE request_id >= $1 AND request_id < $2 AND project = $3 AND ($4::text IS NULL OR key_id = $4)
    AND ${IS_OF_CALLERS} AND status >= 400 AND fault IN ('budget_exhausted', 'budget_reserved', 'model_unpriced')
  LIMIT 100000
) AS refused`

/** A budget with its amounts as the ledger has them, for rules. */
export interface SpentBudget {
  readonly id: string
  readonly per: BudgetPeriod
  readonly hard: boolean
  readonly limit_nano: bigint
  readonly spent_nano: bigint
  /** The share that is spent, with nine decimals. */
  readonly fullness: string
}

export interface BudgetQuestion {
  /** Undefined: all. */
  readonly projects?: readonly string[] | undefined
  readonly scope?: 'project' | 'key' | undefined
  readonly id?: string
  readonly limit: number
  /** The last budget of the page before, as `<fullness>~<id>`. */
  readonly after?: string | undefined
}

/** Budgets of torana.yaml, which are given, and of the store. The fullest first. */
export function listBudgets(
  sql: Sql,
  declared: readonly Budget[],
  { projects, scope, id, limit, after }: BudgetQuestion,
  nowMs: number,
): Promise<readonly SpentBudget[]> {
  const [fullness = null, last = null] = after?.split('~') ?? []
  return sql.query<SpentBudget>(STANDINGS, [
    declared.map((budget) => budget.id),
    declared.map(({ limitNanoUsd }) => String(limitNanoUsd)),
    declared.map(({ per }) => per),
    declared.map(({ hard }) => hard),
    ...(['day', 'week', 'month'] as const).map((per) => new Date(windowOf(per, nowMs).startMs)),
    firstHour(nowMs),
    projects ?? null,
    scope ?? null,
    id ?? null,
    fullness,
    last,
    limit,
    lowestIdAt(nowMs - REFUSED_WITHIN_MS),
  ])
}

/** Nano-dollars of each of the days before today, the oldest first, of each budget. */
export async function lastDaysOf(
  sql: Sql,
  budgetIds: readonly string[],
  days: number,
  nowMs: number,
): Promise<ReadonlyMap<string, readonly bigint[]>> {
  const todayMs = windowOf('day', nowMs).startMs
  const fromMs = todayMs - days * DAY_MS
  const values = [budgetIds, new Date(fromMs), firstHour(nowMs), new Date(todayMs)]
  const rows = await sql.query<{ budget_id: string; day: Date; nano: bigint }>(LAST_DAYS, values)
  const spent = new Map(budgetIds.map((id) => [id, Array.from({ length: days }, () => 0n)]))
  for (const { budget_id: id, day, nano } of rows) {
    const own = spent.get(id)
    if (own) own[Math.round((day.getTime() - fromMs) / DAY_MS)] = nano
  }
  return spent
}

/** What was spent in an hour or a day. */
export interface SpentSlot {
  readonly at: Date
  readonly nano: bigint
}

/** The hours of a window, or its days where it is longer than `HOURLY_DAYS`. Slots without spending are left out. */
export function spentSlots(sql: Sql, id: string, window: BudgetWindow, nowMs: number) {
  const isHourly = window.endMs - window.startMs <= HOURLY_DAYS * DAY_MS
  return sql.query<SpentSlot>(seriesOf(columnOf(id), isHourly), windowValues(id, window, nowMs))
}

/** The keys that spent most. */
export function listSpenders(sql: Sql, id: string, window: BudgetWindow, limit: number, nowMs: number) {
  const values = [...windowValues(id, window, nowMs), limit]
  return answersOf<z.output<typeof spender>>(sql, spendersOf(columnOf(id)), values)
}

/** A webhook notification of one of the budget's marks. */
export interface Notification {
  readonly percent: number
  readonly url: string
  readonly at: Date
}

export function listNotifications(sql: Sql, id: string, { startMs, endMs }: BudgetWindow) {
  return sql.query<Notification>(NOTIFICATIONS, [projectOf(id), new Date(startMs), new Date(endMs), id])
}

export async function countRefused(sql: Sql, id: string, { startMs }: BudgetWindow, nowMs: number) {
  const fromMs = Math.max(startMs, nowMs - LOG_DAYS * DAY_MS)
  const key = columnOf(id) === 'key_id' ? nameOf(id) : null
  const values = [lowestIdAt(fromMs), HIGHEST_ID, projectOf(id), key]
  const [refused] = await answersOf<z.output<typeof refusedRequests>>(sql, REFUSED, values)
  if (refused === undefined) throw new Error('a count without a row')
  return refused
}

function windowValues(id: string, { startMs, endMs }: BudgetWindow, nowMs: number): unknown[] {
  const hour = firstHour(nowMs)
  return [nameOf(id), new Date(startMs), new Date(Math.max(hour.getTime(), startMs)), new Date(endMs)]
}

/** Days are made of hours every ten minutes: the hours of yesterday and today are read as they are now. */
function firstHour(nowMs: number): Date {
  return new Date(windowOf('day', nowMs).startMs - DAY_MS)
}

function columnOf(id: string): 'project' | 'key_id' {
  return id.startsWith('project:') ? 'project' : 'key_id'
}

function nameOf(id: string): string {
  return id.slice(id.indexOf(':') + 1)
}

export function projectOf(id: string): string {
  return nameOf(id).split('/')[0] ?? ''
}
