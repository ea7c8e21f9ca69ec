/** The statements of the reconciler. Each reads at one moment, at which rollups and budgets must agree. */
import { COUNTED_DAYS, FINAL_DAYS } from './budgets.ts'

/** Hours with sums, and sealed ones with entries. Entries of earlier ones are checked where they were exported to. */
export const HOURS = `
SELECT hour FROM usage_hours
UNION SELECT hour FROM sealed_hours WHERE hour >= (SELECT entries_kept_from FROM ledger_seal)
UNION SELECT hour FROM ledger_corrections WHERE hour >= (SELECT entries_kept_from FROM ledger_seal)
ORDER BY hour`

/** Labels counted together since $1, because there were too many users or tags. $2: maximum of rows. */
export const OVERFLOWS = `
SELECT project, label, min(hour) AS since, sum(amount_nano)::bigint AS nano FROM usage_label_hours
WHERE value = '' AND hour >= $1 GROUP BY project, label ORDER BY nano DESC, project, label LIMIT $2`

/** The parts of what each budget of one kind has spent. */
const spentBy = (column: 'project' | 'key_id', prefix: 'project:' | 'key:'): string => `
  SELECT budget_id, window_start, sum(nano) AS nano
  FROM looked JOIN recent ON budget_id = '${prefix}' || ${column} AND at >= window_start AND at < window_end
  GROUP BY 1, 2
  UNION ALL
  SELECT budget_id, window_start, days.nano FROM looked CROSS JOIN LATERAL (
    SELECT sum(amount_nano) AS nano FROM ${FINAL_DAYS[column]}
    WHERE ${column} COLLATE "C" = substr(budget_id, ${prefix.length + 1}) AND day >= (window_start AT TIME ZONE 'UTC')::date
      AND day < least((window_end AT TIME ZONE 'UTC')::date, (SELECT day FROM counted))
  ) AS days
  WHERE budget_id LIKE '${prefix}%' AND window_start < (SELECT day FROM counted)::timestamp AT TIME ZONE 'UTC'`

/**
 * Budgets whose window ends after $1, and whether they differ from rollups and leases. Final days are read by the index of each
 * budget; what is not in them, hours, corrections and entries set aside, once for all budgets.
 */
export const COMPARE_BUDGETS = `
WITH looked AS MATERIALIZED (
  SELECT * FROM budgets WHERE window_end > $1::timestamptz
), counted (day) AS MATERIALIZED (${COUNTED_DAYS}
), recent AS MATERIALIZED (
  SELECT hour AS at, project, key_id, sum(amount_nano) AS nano FROM usage_hours
  WHERE hour >= (SELECT min(window_start) FROM looked) AND hour >= (SELECT day FROM counted)::timestamp AT TIME ZONE 'UTC'
  GROUP BY 1, 2, 3
  UNION ALL
  SELECT hour, project, key_id, sum(amount_nano) FROM ledger_corrections
  WHERE NOT in_day AND hour < (SELECT day FROM counted)::timestamp AT TIME ZONE 'UTC' GROUP BY 1, 2, 3
  UNION ALL
  SELECT hour, project, key_id, sum(amount_nano) FROM ledger_refused GROUP BY 1, 2, 3
), spent AS (
  SELECT budget_id, window_start, sum(nano) AS nano FROM (${spentBy('project', 'project:')}
  UNION ALL${spentBy('key_id', 'key:')}
  ) AS parts GROUP BY 1, 2
), held AS (
  SELECT budget_id, window_start, sum(amount_nano) AS nano FROM leases GROUP BY 1, 2
)
SELECT looked.*, spent_nano <> coalesce(spent.nano, 0) OR leased_nano <> coalesce(held.nano, 0) AS differs
FROM looked LEFT JOIN spent USING (budget_id, window_start) LEFT JOIN held USING (budget_id, window_start)
ORDER BY 1, 2`

/** $1: when a node counts as silent; $2: how far rows are counted. */
export const FIGURES = `
WITH open AS MATERIALIZED (
  SELECT amount_nano, written_at FROM usage_events AS entry
  WHERE kind = 'unknown' AND NOT EXISTS (
    SELECT FROM usage_events AS resolution
    WHERE resolution.request_id = entry.request_id AND resolution.attempt = entry.attempt
      AND resolution.kind IN ('post', 'void')
  )
), living AS MATERIALIZED (
  SELECT seen_at < now() - $1::interval AS is_silent FROM nodes WHERE ended_at IS NULL
)
SELECT
  (SELECT count(*) FROM open)::integer AS unknowns,
  (SELECT coalesce(sum(amount_nano), 0) FROM open)::bigint AS unknown_nano,
  (SELECT count(*) FROM ledger_refused)::integer AS refused,
  (SELECT coalesce(sum(amount_nano), 0) FROM ledger_refused)::bigint AS refused_nano,
  (SELECT min(written_at) FROM open) AS oldest_unknown,
  (SELECT count(*) FROM living WHERE NOT is_silent)::integer AS alive,
  (SELECT count(*) FROM living WHERE is_silent)::integer AS silent,
  (SELECT count(*) FROM (SELECT FROM usage_events_rest LIMIT $2) AS rows)::integer AS ledger_rest,
  (SELECT count(*) FROM (SELECT FROM requests_rest LIMIT $2) AS rows)::integer AS requests_rest,
  (SELECT count(*) FROM projects WHERE deleted_at IS NOT NULL)::integer AS deleted_projects,
  (SELECT coalesce(sum(differences), 0) FROM ledger_differences)::integer AS differences`

/** How far the ledger is compared and sealed, and when it last moved. */
export const SEAL_FIGURES = `
SELECT (extract(epoch FROM coalesce(sealing, through)) * 1000)::float8 AS sealed_ms,
  (extract(epoch FROM compared_through) * 1000)::float8 AS compared_ms,
  (extract(epoch FROM greatest(through, compared_through, days_through::timestamp AT TIME ZONE 'UTC', hours_kept_from,
    entries_kept_from)) * 1000)::float8 AS latest_ms,
  (extract(epoch FROM sealed_at) * 1000)::float8 AS sealed_at_ms,
  (extract(epoch FROM compared_at) * 1000)::float8 AS compared_at_ms,
  (SELECT count(*) FROM nodes WHERE NOT seals AND ended_at IS NULL)::integer AS earlier_nodes
FROM ledger_seal`

/** $1: when a node counts as silent. */
export const LOST_LEASES = `
SELECT node_id, sum(amount_nano)::bigint AS nano FROM leases LEFT JOIN nodes USING (node_id)
WHERE amount_nano > 0 AND coalesce(ended_at IS NOT NULL OR seen_at < now() - $1::interval, true)
GROUP BY node_id ORDER BY node_id`

export const OPEN_BUDGETS = `
SELECT * FROM budgets WHERE window_start <= now() AND window_end > now()
ORDER BY (spent_nano + leased_nano)::numeric / greatest(limit_nano, 1) DESC, budget_id LIMIT $1`
