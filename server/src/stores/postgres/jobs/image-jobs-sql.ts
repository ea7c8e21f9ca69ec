/**
 * The statements of image jobs. A statement that changes a job names the holder's token: a holder that was replaced changes nothing.
 */
import { CALLER_SILENT_MS, IDEMPOTENCY_MS, JOB_HOLD_MS, RETRY_JOIN_MS } from '#ports/image-jobs.ts'
import { UNKNOWN_POSTED_AFTER_MS } from '#ports/upkeep.ts'

const OPEN = `state IN ('leased', 'dispatched')`
const HELD_UNTIL = `now() + interval '${JOB_HOLD_MS} ms'`

/**
 * Equal requests without an idempotency key begin one after another, until their transaction ends: so a retry sees the request that
 * it retries. With a key, its unique index does that.
 */
export const LOCK_ALIKE = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))'

/** Frees an expired idempotency key. The line of a batch stays the same however late it is. */
export const FREE_OLD_KEY = `
UPDATE image_jobs SET idempotency_key = NULL
WHERE project = $1 AND idempotency_key = $2 AND batch_id IS NULL AND created_at <= now() - interval '${IDEMPOTENCY_MS} ms'`

/** An earlier request: this very job, whose answer was lost, or its idempotency key. */
export const EARLIER = `
SELECT *, ${OPEN} AND token = 1 AND node_id = $4 AS is_ours FROM image_jobs
WHERE job_id = $1 OR (project = $2 AND idempotency_key = $3)
ORDER BY job_id = $1 DESC LIMIT 1`

/**
 * The newest job that a retry joins, or, if there is none, one that it may join soon. $1 is the retry itself, which may have joined
 * the job before, when the answer was lost. Only durations are compared: the clocks of nodes may differ.
 */
export const ALIKE = `
SELECT * FROM (
  SELECT *, caller_id IS NULL OR caller_id = $1 OR caller_seen_at <= now() - interval '${CALLER_SILENT_MS} ms' AS may_join
  FROM image_jobs
  WHERE project = $2 AND key_id = $3 AND digest = ANY ($4::text[]) AND idempotency_key IS NULL
    AND answered_at IS NULL AND NOT freed AND created_at > now() - interval '${RETRY_JOIN_MS} ms'
    AND job_id <> ALL ($5::uuid[])
) AS alike
WHERE may_join OR caller_seen_at <= now() - $6 * interval '1 ms'
ORDER BY may_join DESC, created_at DESC, job_id DESC LIMIT 1`

export const JOIN = 'UPDATE image_jobs SET caller_id = $2, caller_seen_at = now() WHERE job_id = $1'

/** Waits for another transaction that inserts the same key at this moment, and then inserts nothing. */
export const INSERT_JOB = `
INSERT INTO image_jobs (
  job_id, project, key_id, model, digest, idempotency_key, node_id, request_key, request_sealed, state, token, lease_until,
  caller_id, caller_seen_at, holders, batch_id, player_kind, player_name
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'leased', 1, ${HELD_UNTIL},
  CASE WHEN $6::text IS NULL THEN $1::uuid END, now(),
  jsonb_build_array(jsonb_build_object('node', $7::uuid, 'from', now())), $10, $11, $12)
ON CONFLICT DO NOTHING RETURNING 1`

/** A call is written once; the same attempt with another call is not ours, and is not written. */
export const DISPATCHED = `
WITH held AS MATERIALIZED (
  UPDATE image_jobs SET state = 'dispatched' WHERE job_id = $1 AND token = $2 AND ${OPEN} RETURNING job_id
), noted AS (
  INSERT INTO image_job_calls AS calls (job_id, attempt, part, call_id, images, deployment, state)
  SELECT job_id, $3, $4, $5, $6, $7, 'sent' FROM held
  ON CONFLICT (job_id, attempt) DO UPDATE SET call_id = excluded.call_id WHERE calls.call_id = excluded.call_id
  RETURNING 1
)
SELECT (SELECT count(*) FROM held)::integer AS held, (SELECT count(*) FROM noted)::integer AS noted`

const HELD = `
WITH held AS MATERIALIZED (
  SELECT job_id FROM image_jobs WHERE job_id = $1 AND token = $2 AND ${OPEN} FOR UPDATE
), noted AS (`
const COUNTED = `
  FROM held WHERE image_job_calls.job_id = held.job_id AND attempt = $3 RETURNING 1
)
SELECT (SELECT count(*) FROM held)::integer AS held, (SELECT count(*) FROM noted)::integer AS noted`

export const SUBMITTED = `${HELD}
  UPDATE image_job_calls SET submitted_key = $4, submitted_sealed = $5${COUNTED}`

export const CALL_ENDED = `${HELD}
  UPDATE image_job_calls SET state = $4${COUNTED}`

/** Deletes the texts that were only needed to run it. */
export const END = `
WITH ended AS (
  UPDATE image_jobs SET state = $3, ended_at = now(), result_key = $4, result_sealed = $5,
    request_key = NULL, request_sealed = NULL, node_id = NULL, freed = $6,
    idempotency_key = CASE WHEN $6 THEN NULL ELSE idempotency_key END
  WHERE job_id = $1 AND token = $2 AND ${OPEN}
  RETURNING *
), forgotten AS (
  UPDATE image_job_calls SET submitted_key = NULL, submitted_sealed = NULL
  FROM ended WHERE image_job_calls.job_id = ended.job_id
)
SELECT * FROM ended`

/** Whether this holder has ended it in this state before, and only the answer was lost. */
export const HAS_ENDED = 'SELECT 1 FROM image_jobs WHERE job_id = $1 AND token = $2 AND state = $3'

export const ANSWERED = 'UPDATE image_jobs SET answered_at = now() WHERE job_id = $1 AND answered_at IS NULL'

export const RENEW = `
UPDATE image_jobs SET lease_until = ${HELD_UNTIL} WHERE job_id = ANY ($2::uuid[]) AND node_id = $1 AND ${OPEN}`

export const RENEW_CALLERS = `
UPDATE image_jobs SET caller_seen_at = now() WHERE job_id = ANY ($1::uuid[]) AND caller_id = ANY ($2::uuid[])`

export const CALLER_LEFT = 'UPDATE image_jobs SET caller_id = NULL WHERE job_id = $1 AND caller_id = $2'

/**
 * A node that has ended can do nothing more, so its jobs need not wait. Rows that others are taking or changing at this moment are
 * skipped.
 */
export const TAKE_OVER = `
WITH due AS MATERIALIZED (
  SELECT job_id FROM image_jobs
  WHERE ${OPEN} AND (lease_until <= now()
    OR EXISTS (SELECT FROM nodes WHERE nodes.node_id = image_jobs.node_id AND ended_at IS NOT NULL))
  ORDER BY created_at, job_id LIMIT $2 FOR UPDATE SKIP LOCKED
), taken AS (
  UPDATE image_jobs SET node_id = $1, token = token + 1, lease_until = ${HELD_UNTIL},
    holders = coalesce(holders, '[]') || jsonb_build_object('node', $1::uuid, 'from', now())
  FROM due WHERE image_jobs.job_id = due.job_id RETURNING image_jobs.*
)
SELECT * FROM taken ORDER BY created_at, job_id`

export const CALLS = 'SELECT * FROM image_job_calls WHERE job_id = ANY ($1::uuid[]) ORDER BY attempt'

export const RELEASE = `UPDATE image_jobs SET node_id = NULL, lease_until = now() WHERE node_id = $1 AND ${OPEN}`

/** Rows that one statement deletes: a fraction of a second. */
export const PAGE_ROWS = 1000

/**
 * An unknown is open as long as the ledger says so, and for its week anyway: the entry may still be on a node's disk. Jobs of a batch
 * are kept with it, as their images are.
 */
export const DELETE_OLD = `
DELETE FROM image_jobs WHERE job_id IN (
  SELECT job_id FROM image_jobs
  WHERE ended_at < now() - $1 * interval '1 ms'
    AND NOT EXISTS (SELECT FROM batches WHERE batches.batch_id = image_jobs.batch_id)
    AND (state <> 'unknown' OR ended_at < now() - interval '${UNKNOWN_POSTED_AFTER_MS} ms' AND NOT EXISTS (
      SELECT FROM usage_events AS entry
      WHERE entry.request_id = job_id AND entry.kind = 'unknown' AND NOT EXISTS (
        SELECT FROM usage_events AS resolution
        WHERE resolution.request_id = entry.request_id AND resolution.attempt = entry.attempt
          AND resolution.kind IN ('post', 'void')
      )
    ))
  LIMIT ${PAGE_ROWS}
) RETURNING 1`
