/** The statements about budgets. Whole days come from the days, the last two from the hours. */
import { IS_OF_CALLERS } from './request-conditions.ts'

/**
 * $1 to $4: the budgets of torana.yaml, which stand before those of the store. $5 to $7: where the day, the week and the
 * month of now begin. $8: from when on hours are read. $9 to $11: projects, scope and id; $12, $13: after which budget.
 */
export const STANDINGS = `
WITH asked AS (
  SELECT budget_id, limit_nano, per, hard, false AS is_stored
  FROM unnest($1::text[], $2::bigint[], $3::text[], $4::boolean[]) AS declared (budget_id, limit_nano, per, hard)
  UNION ALL
  SELECT 'project:' || project, (budget->>'limitNanoUsd')::bigint, budget->>'per', (budget->>'hard')::boolean, true
  FROM projects WHERE budget IS NOT NULL AND deleted_at IS NULL AND 'project:' || project <> ALL($1)
  UNION ALL
  SELECT 'key:' || key_id, (keys.budget->>'limitNanoUsd')::bigint, keys.budget->>'per',
    (keys.budget->>'hard')::boolean, true
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
  -- Of keys there are many, each with few rows; of projects few, each with many.
  SELECT budget_id, own.spent_nano, own.unknown_nano FROM placed CROSS JOIN LATERAL (
    SELECT sum(amount_nano)::bigint AS spent_nano, sum(unknown_nano)::bigint AS unknown_nano FROM (
      SELECT amount_nano, unknown_nano FROM usage_days
      WHERE key_id COLLATE "C" = name AND day >= (window_start AT TIME ZONE 'UTC')::date
        AND day < ($8 AT TIME ZONE 'UTC')::date
      UNION ALL
      SELECT amount_nano, unknown_nano FROM usage_hours
      WHERE key_id = name AND hour >= window_start AND hour >= $8::timestamptz
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
  ) AS rows GROUP BY budget_id
), standing AS (
  SELECT placed.budget_id, placed.limit_nano, per, hard, is_stored, coalesce(sums.spent_nano, 0) AS spent_nano,
    coalesce(sums.unknown_nano, 0) AS unknown_nano, coalesce(budgets.leased_nano, 0) AS leased_nano,
    round(coalesce(sums.spent_nano, 0)::numeric / greatest(placed.limit_nano, 1), 9) AS fullness
  FROM placed LEFT JOIN sums USING (budget_id)
  LEFT JOIN budgets ON budgets.budget_id = placed.budget_id AND budgets.window_start = placed.window_start
)
SELECT * FROM standing
WHERE $12::numeric IS NULL OR fullness < $12 OR (fullness = $12 AND budget_id > $13)
ORDER BY fullness DESC, budget_id LIMIT $14`

/** $1: budgets; $2: from; $3: from when on hours are read; $4: until. */
export const LAST_DAYS = `
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

type Column = 'project' | 'key_id'

/** $1: the name; $2, $4: the window; $3: from when on hours are read. */
export function seriesOf(column: Column, isHourly: boolean): string {
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

/** The same, and $5: how many. */
export function spendersOf(column: Column): string {
  return `
SELECT key_id, sum(nano)::bigint AS nano, array_agg(model ORDER BY nano DESC, model) AS models FROM (
  SELECT key_id, model, sum(amount_nano) AS nano FROM (
    SELECT key_id COLLATE "C" AS key_id, model COLLATE "C" AS model, amount_nano FROM usage_days
    WHERE ${column} = $1 AND day >= ($2 AT TIME ZONE 'UTC')::date AND day < ($3 AT TIME ZONE 'UTC')::date
    UNION ALL
    SELECT key_id, model, amount_nano FROM usage_hours
    WHERE ${column} = $1 AND hour >= $3::timestamptz AND hour < $4::timestamptz
  ) AS rows GROUP BY 1, 2
) AS spent GROUP BY key_id ORDER BY 2 DESC, 1 LIMIT $5`
}

/** $1: the project; $2, $3: the window. What the events are about stands in their payload. */
export const TOLD = `
SELECT payload, url, created_at FROM webhook_events
WHERE project = $1 AND type = 'budget.reached' AND created_at >= $2 AND created_at < $3
ORDER BY created_at LIMIT 1000`

/** $1, $2: ids; $3: the project; $4: the key, or null. Counted as far as a page can wait. */
export const REFUSED = `
SELECT fault, count(*)::integer AS count FROM (
  SELECT fault FROM requests
  WHERE request_id >= $1 AND request_id < $2 AND project = $3 AND ($4::text IS NULL OR key_id = $4)
    AND ${IS_OF_CALLERS} AND status >= 400 AND fault IN ('budget_exhausted', 'budget_reserved', 'model_unpriced')
  LIMIT 100000
) AS refused GROUP BY fault`
