/** The statements of suspect windows. */
export const DUE = `
SELECT window_id, model, deployment, from_at, until_at, found_at FROM suspect_windows
WHERE next_listing_at <= now() ORDER BY next_listing_at LIMIT $1`

/**
 * The hours in which the deployment made something; answers from the cache name no deployment, so up to `$5`, after which no node
 * uses a vector of the window, hours with such answers count too. All others need not be read.
 */
export const HOURS = `
SELECT DISTINCT hour FROM usage_hours
WHERE hour >= date_trunc('hour', $3::timestamptz) AND hour <= $4::timestamptz AND model = $1
  AND (deployment = $2 OR (deployment = $1 || '/cache' AND hour <= $5::timestamptz))
ORDER BY hour`

/**
 * Requests `$3` to `$4` with vectors that the deployment made between `$5` and `$6`: a call counts from its begin, which is in its id,
 * until its entry was written. A call without an answer has no post, and one whose answer was not used has no inputs.
 */
const MADE = `
SELECT request_id, project, key_id, batch_id, sum(vectors)::integer AS inputs FROM (
  SELECT request_id, project, key_id, batch_id,
    CASE WHEN deployment = $2 THEN coalesce(inputs, 1) ELSE (
      SELECT sum((made ->> 'vectors')::integer) FROM jsonb_array_elements(remarks -> 'unconfirmed') AS made
      WHERE made ->> 'deployment' = $2 AND (made ->> 'untilMs')::bigint > extract(epoch FROM $5::timestamptz) * 1000
        AND (made ->> 'fromMs')::bigint <= extract(epoch FROM $6::timestamptz) * 1000
    ) END AS vectors
  FROM usage_events
  WHERE request_id >= $3 AND request_id < $4 AND kind = 'post' AND model = $1 AND project <> 'system'
    AND ((deployment = $2 AND call_id < $7 AND written_at > $5)
      OR (deployment = $1 || '/cache' AND remarks ? 'unconfirmed'))
) AS made WHERE vectors > 0 GROUP BY 1, 2, 3, 4`

/** A request that was refused after its calls were paid has handed out nothing. */
export const LIST_REQUESTS = `
WITH made AS (${MADE})
INSERT INTO suspect_vectors AS there (window_id, request_id, project, key_id, inputs, batch_id)
SELECT $8, request_id, project, key_id, inputs, batch_id FROM made
WHERE CASE WHEN batch_id IS NULL
  THEN NOT EXISTS (SELECT FROM requests WHERE requests.request_id = made.request_id AND status >= 400)
  ELSE NOT EXISTS (SELECT FROM batches WHERE batches.batch_id = made.batch_id) END
ON CONFLICT (window_id, request_id) DO UPDATE SET inputs = excluded.inputs WHERE there.lines IS NULL`

/** The log of a request may come later than its entry in the ledger. */
export const TAKE_OUT_REFUSED = `
DELETE FROM suspect_vectors USING requests
WHERE window_id = $1 AND batch_id IS NULL AND requests.request_id = suspect_vectors.request_id AND status >= 400`

/** Of batches that have ended and are not listed yet: their results never change. */
export const BATCH_REQUESTS = `
SELECT made.batch_id, request_id, inputs FROM (${MADE}) AS made JOIN batches USING (batch_id)
WHERE ended_at IS NOT NULL AND NOT EXISTS (
  SELECT FROM suspect_vectors AS listed WHERE listed.window_id = $8 AND listed.batch_id = made.batch_id)`

export const CHUNKS = `
SELECT chunk, first_byte, bytes, first_line, lines, without, part_token, head_bytes, output_bytes, error_bytes, made
FROM batch_chunks WHERE batch_id = $1 AND part_token IS NOT NULL AND made @> $2::jsonb ORDER BY chunk`

export const LIST_LINES = `
INSERT INTO suspect_vectors (window_id, request_id, project, key_id, inputs, batch_id, lines)
SELECT $1, request_id, project, key_id, inputs, $2, given.lines
FROM unnest($3::uuid[], $4::integer[], $5::jsonb[]) AS given (request_id, inputs, lines)
JOIN batches ON batches.batch_id = $2
ON CONFLICT DO NOTHING`

/**
 * The ledger is read again a minute, ten minutes, an hour, six hours and a day later: a node that could not reach PostgreSQL writes
 * its entries late. A window that ended meanwhile has its own schedule.
 */
export const LISTED = `
UPDATE suspect_windows SET listings = listings + 1,
  next_listing_at = now() + (ARRAY[60, 600, 3600, 21600, 86400])[listings + 1] * interval '1 second'
WHERE window_id = $1 AND until_at IS NOT DISTINCT FROM $2 RETURNING found_at, space`

/** Lines of the runs in `lines`. */
export const LINE_COUNT = `(SELECT coalesce(sum((run ->> 1)::integer - (run ->> 0)::integer + 1), 0)
  FROM jsonb_array_elements(lines) AS run)`

export const BY_PROJECT = `
SELECT project, sum(inputs) AS vectors, count(*) FILTER (WHERE batch_id IS NULL) AS requests,
  coalesce(sum(${LINE_COUNT}), 0)::bigint AS batch_lines
FROM suspect_vectors WHERE window_id = $1 GROUP BY project ORDER BY project`

export const END_GONE = `
UPDATE suspect_windows AS ended SET until_at = now(), next_listing_at = now() + interval '5 seconds', listings = 0
WHERE until_at IS NULL AND NOT EXISTS (
  SELECT FROM unnest($1::text[], $2::text[]) AS present (model, deployment)
  WHERE present.model = ended.model AND present.deployment = ended.deployment)`

export const DELETE_OLD = 'DELETE FROM suspect_windows WHERE until_at < $1'
