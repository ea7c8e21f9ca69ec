/** The statements of the reconciler. Each reads at one moment, at which ledger, rollups and budgets must agree. */

const LEDGER_SUMS = `count(*) AS entries, count(*) FILTER (WHERE kind = 'post') AS posts,
    coalesce(sum(tokens), 0) AS tokens, sum(images) AS images, coalesce(sum(amount_nano), 0) AS amount_nano,
    coalesce(sum(requests), 0) AS requests, coalesce(sum(hits), 0) AS hits, coalesce(sum(saved_nano), 0) AS saved_nano,
    coalesce(sum(unknown_nano), 0) AS unknown_nano`

const ROLLED_SUMS = `sum(posts) AS posts, sum(tokens) AS tokens, sum(images) AS images, sum(amount_nano) AS amount_nano,
    sum(requests) AS requests, sum(hits) AS hits, sum(saved_nano) AS saved_nano, sum(unknown_nano) AS unknown_nano`

const COMPARED = `coalesce(ledger.posts, 0)::bigint AS posts, coalesce(rolled.posts, 0)::bigint AS rolled_posts,
  coalesce(ledger.tokens, 0)::bigint AS tokens, coalesce(rolled.tokens, 0)::bigint AS rolled_tokens,
  coalesce(ledger.images, 0)::bigint AS images, coalesce(rolled.images, 0)::bigint AS rolled_images,
  coalesce(ledger.amount_nano, 0)::bigint AS amount_nano, coalesce(rolled.amount_nano, 0)::bigint AS rolled_nano,
  coalesce(ledger.requests, 0)::bigint AS requests, coalesce(rolled.requests, 0)::bigint AS rolled_requests,
  coalesce(ledger.hits, 0)::bigint AS hits, coalesce(rolled.hits, 0)::bigint AS rolled_hits,
  coalesce(ledger.saved_nano, 0)::bigint AS saved_nano, coalesce(rolled.saved_nano, 0)::bigint AS rolled_saved_nano,
  coalesce(ledger.unknown_nano, 0)::bigint AS unknown_nano,
  coalesce(rolled.unknown_nano, 0)::bigint AS rolled_unknown_nano`

/** $1, $2: ids from and to; $3, $4: the same as times. One row per project. */
export const COMPARE_LEDGER = `
WITH ledger AS (
  SELECT project, ${LEDGER_SUMS}
  FROM usage_events WHERE request_id >= $1::uuid AND request_id < $2::uuid GROUP BY project
), rolled AS (
  SELECT project, ${ROLLED_SUMS}
  FROM usage_hours WHERE hour >= $3::timestamptz AND hour < $4::timestamptz GROUP BY project
)
SELECT project, coalesce(entries, 0)::bigint AS entries, ${COMPARED}
FROM ledger FULL JOIN rolled USING (project) ORDER BY project`

/**
 * The same by label, for hours that have labels: one row per project and label. A tag whose key is not counted separately is counted
 * under `tag:`, once for each entry.
 */
export const COMPARE_LABELS = `
WITH labelled AS (
  SELECT DISTINCT events.project, request_id, attempt, kind, coalesce(names.label, 'tag:') AS label,
    tokens, images, amount_nano, requests, hits, saved_nano, unknown_nano
  FROM usage_events AS events
  CROSS JOIN LATERAL (
    SELECT 'user' AS label WHERE end_user IS NOT NULL UNION ALL SELECT 'tag:' || jsonb_object_keys(tags)
  ) AS own
  LEFT JOIN usage_labels AS names ON names.project = events.project AND names.label = own.label AND names.value = ''
    AND names.day = (to_timestamp(
      ('x0000' || left(replace(request_id::text, '-', ''), 12))::bit(64)::bigint / 1000
    ) AT TIME ZONE 'UTC')::date
  WHERE request_id >= $1::uuid AND request_id < $2::uuid AND (end_user IS NOT NULL OR tags IS NOT NULL)
), ledger AS (
  SELECT project, label, ${LEDGER_SUMS} FROM labelled GROUP BY project, label
), rolled AS (
  SELECT project, label, ${ROLLED_SUMS} FROM usage_label_hours
  WHERE hour >= $3::timestamptz AND hour < $4::timestamptz GROUP BY project, label
)
SELECT project, label, 0::bigint AS entries, ${COMPARED}
FROM ledger FULL JOIN rolled USING (project, label) ORDER BY project, label`

/** Labels counted together since $1, because there were too many users or tags. $2: maximum of rows. */
export const OVERFLOWS = `
SELECT project, label, min(hour) AS since, sum(amount_nano)::bigint AS nano FROM usage_label_hours
WHERE value = '' AND hour >= $1 GROUP BY project, label ORDER BY nano DESC, project, label LIMIT $2`

/** Budgets whose window ends after $1, and whether they differ from rollups and leases. */
export const COMPARE_BUDGETS = `
WITH looked AS MATERIALIZED (
  SELECT * FROM budgets WHERE window_end > $1::timestamptz
), hours AS (
  SELECT hour, project, key_id, sum(amount_nano) AS nano FROM usage_hours
  WHERE hour >= (SELECT min(window_start) FROM looked) GROUP BY 1, 2, 3
), spent AS (
  SELECT budget_id, window_start, sum(nano) AS nano
  FROM looked JOIN hours ON budget_id = 'project:' || project AND hour >= window_start AND hour < window_end
  GROUP BY 1, 2
  UNION ALL
  SELECT budget_id, window_start, sum(nano)
  FROM looked JOIN hours ON budget_id = 'key:' || key_id AND hour >= window_start AND hour < window_end
  GROUP BY 1, 2
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
  (SELECT min(written_at) FROM open) AS oldest_unknown,
  (SELECT count(*) FROM living WHERE NOT is_silent)::integer AS alive,
  (SELECT count(*) FROM living WHERE is_silent)::integer AS silent,
  (SELECT count(*) FROM (SELECT FROM usage_events_rest LIMIT $2) AS rows)::integer AS ledger_rest,
  (SELECT count(*) FROM (SELECT FROM requests_rest LIMIT $2) AS rows)::integer AS requests_rest,
  (SELECT count(*) FROM projects WHERE deleted_at IS NOT NULL)::integer AS deleted_projects`

/** $1: when a node counts as silent. */
export const LOST_LEASES = `
SELECT node_id, sum(amount_nano)::bigint AS nano FROM leases LEFT JOIN nodes USING (node_id)
WHERE amount_nano > 0 AND coalesce(ended_at IS NOT NULL OR seen_at < now() - $1::interval, true)
GROUP BY node_id ORDER BY node_id`

export const OPEN_BUDGETS = `
SELECT * FROM budgets WHERE window_start <= now() AND window_end > now()
ORDER BY (spent_nano + leased_nano)::numeric / greatest(limit_nano, 1) DESC, budget_id LIMIT $1`
