/**
 * The statements of batches. A statement that changes a chunk names the holder's token: a holder that was replaced changes nothing.
 * Where both locks are needed, the batch is locked before its chunk.
 */
import { CHUNK_HOLD_MS } from '#ports/batches.ts'
import { IDEMPOTENCY_MS, RETRY_JOIN_MS } from '#ports/image-jobs.ts'

/** Tokens and cost from the ledger, next to the row of the batch: a few rows of `batch_usage` each. */
export const USED = ['tokens', 'amount_nano', 'unknown_nano']
  .map(
    (sum) =>
      `(SELECT coalesce(sum(${sum}), 0)::bigint FROM batch_usage WHERE batch_usage.batch_id = batches.batch_id) AS ledger_${sum}`,
  )
  .join(', ')

/** The columns of every statement that returns batches. */
const ROW = `batches.*, ${USED}`

const HELD_UNTIL = `now() + interval '${CHUNK_HOLD_MS} ms'`

/** Frees an expired idempotency key. */
export const FREE_OLD_BATCH_KEY = `
UPDATE batches SET idempotency_key = NULL
WHERE project = $1 AND idempotency_key = $2 AND created_at <= now() - interval '${IDEMPOTENCY_MS} ms'`

/** An earlier request: this very batch, whose answer was lost, or its idempotency key. */
export const EARLIER_BATCH = `
SELECT ${ROW} FROM batches WHERE batch_id = $1 OR (project = $2 AND idempotency_key = $3)
ORDER BY batch_id = $1 DESC LIMIT 1`

export const ALIKE_BATCH = `
SELECT ${ROW} FROM batches
WHERE project = $1 AND key_id = $2 AND digest = $3 AND idempotency_key IS NULL
  AND created_at > now() - interval '${RETRY_JOIN_MS} ms'
ORDER BY created_at DESC, batch_id DESC LIMIT 1`

export const COUNT_OPEN = `SELECT count(*)::integer AS count FROM batches WHERE project = $1 AND ended_at IS NULL`

export const INSERT_BATCH = `
INSERT INTO batches (
  batch_id, project, key_id, terms, endpoint, input_file_id, output_file_id, error_file_id, model, digest, idempotency_key,
  metadata, errors, state, expires_at, ended_at, results_kept_ms, lines, chunks, tags,
  player_kind, player_name
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, now() + $15 * interval '1 ms',
  CASE WHEN $14 = 'failed' THEN now() END, $16, $17, $18, $19, $20, $21)
ON CONFLICT DO NOTHING RETURNING ${ROW}`

export const INSERT_CHUNKS = `
INSERT INTO batch_chunks (batch_id, chunk, first_byte, bytes, first_line, lines, without)
SELECT $1, $2 + place - 1, first_byte, bytes, first_line, lines, without
FROM unnest($3::bigint[], $4::integer[], $5::integer[], $6::integer[], $7::text[])
  WITH ORDINALITY AS given (first_byte, bytes, first_line, lines, without, place)`

export const FIND_BATCH = `SELECT ${ROW} FROM batches WHERE batch_id = $1 AND project = $2`

export const LIST_BATCHES = `
SELECT ${ROW} FROM batches WHERE project = $1 AND ($2::text IS NULL OR batch_id < $2) ORDER BY batch_id DESC LIMIT $3`

export const PARTS = `
SELECT chunk, done_number, part_token, head_bytes, output_bytes, error_bytes, first_line FROM batch_chunks
WHERE batch_id = $1 AND done_number > $2 AND part_token IS NOT NULL ORDER BY done_number LIMIT $3`

/** Locks the batch for the rest of the transaction. */
export const LOCK_BATCH = `SELECT ${ROW} FROM batches WHERE batch_id = $1 FOR UPDATE`

export const CANCEL = `
UPDATE batches SET state = 'cancelling', cancelling_at = now(), pause_code = NULL, paused_at = NULL, cancel_code = $2
WHERE batch_id = $1 RETURNING ${ROW}`

export const CONTINUE = `
UPDATE batches SET continued = true, not_before = CASE WHEN paused_at IS NULL THEN now() ELSE not_before END,
  pause_code = NULL
WHERE batch_id = $1 RETURNING ${ROW}`

export const PAUSE_BY = `
UPDATE batches SET paused_at = now(), paused_by = $2, pause_reason = $3, not_before = 'infinity', pause_code = NULL
WHERE batch_id = $1 RETURNING ${ROW}`

export const RESUME_BY = `
UPDATE batches SET paused_at = NULL, not_before = now(), pause_code = NULL WHERE batch_id = $1 RETURNING ${ROW}`

/** Ends the pause of the batch: its lines succeed again. */
export const RESUME = `
UPDATE batches SET not_before = now(), pause_code = NULL
WHERE batch_id = $1 AND pause_code IS NOT NULL AND paused_at IS NULL RETURNING batch_id`

/** Ends the wait of chunks that were given back: they may run now, or only have to end. */
export const END_WAITS = `
UPDATE batch_chunks SET lease_until = now() WHERE batch_id = $1 AND state = 'held' AND node_id IS NULL`

/** The lines of such batches are image jobs. */
const HAS_PICTURES = `endpoint LIKE '/v1/images/%'`

/**
 * A paused batch is tried with one chunk at a time, after each pause: `pause_code` stays until its lines succeed. So one attempt is
 * made, not one per chunk.
 */
const MAY_BEGIN = `paused_at IS NULL AND not_before <= now() AND (pause_code IS NULL OR NOT EXISTS (
    SELECT FROM batch_chunks AS tried WHERE tried.batch_id = batches.batch_id AND tried.state = 'held'
      AND tried.node_id IS NOT NULL AND tried.lease_until > now()))`

/** Late lines do not run; they only get an error. */
const IS_LATE = 'expires_at <= now()'

/** Rows that others are taking or changing at this moment are skipped. A paused batch gives one chunk. */
export const TAKE_LOST = `
WITH lost AS MATERIALIZED (
  SELECT lost.batch_id, chunk FROM batch_chunks AS lost JOIN batches USING (batch_id)
  WHERE lost.state = 'held' AND lease_until <= now() AND ${HAS_PICTURES} = $3 AND project <> ALL ($4::text[])
    AND lost.batch_id <> ALL ($5::text[])
    AND (batches.state <> 'in_progress' OR ${IS_LATE} OR (${MAY_BEGIN} AND (pause_code IS NULL OR chunk = (
      SELECT min(chunk) FROM batch_chunks AS first
      WHERE first.batch_id = batches.batch_id AND first.state = 'held' AND first.lease_until <= now()))))
  ORDER BY lease_until LIMIT $2 FOR UPDATE OF lost SKIP LOCKED
)
UPDATE batch_chunks AS chunks SET node_id = $1, token = token + 1, lease_until = ${HELD_UNTIL}
FROM lost WHERE chunks.batch_id = lost.batch_id AND chunks.chunk = lost.chunk RETURNING chunks.*`

export const OPEN_BATCHES = `
SELECT key_id, project, player_kind, player_name, continued, array_agg(batch_id ORDER BY batch_id) AS ids FROM batches
WHERE ended_at IS NULL AND state = 'in_progress' GROUP BY key_id, project, player_kind, player_name, continued`

/** Equals a condition on `state`, but the index of open batches uses it, and a million batches may have ended. */
const IS_OPEN = 'ended_at IS NULL'

/**
 * One batch per project: by turns the most urgent, and the one that has waited longest, so that a small batch does not wait for a
 * large one. Of these, the one whose project has waited longest.
 */
export const NEXT_BATCH = `
SELECT batch_id FROM (
  SELECT DISTINCT ON (project) batch_id, project FROM (
    SELECT batch_id, project, expires_at, claimed_at, sum(next_chunk) OVER (PARTITION BY project) AS turns FROM batches
    WHERE ${IS_OPEN} AND state = 'in_progress' AND next_chunk < chunks AND (${IS_LATE} OR (${MAY_BEGIN}))
      AND ${HAS_PICTURES} = $1 AND project <> ALL ($2::text[]) AND batch_id <> ALL ($3::text[])
  ) AS ready
  ORDER BY project, CASE WHEN turns % 2 = 1 THEN coalesce(claimed_at, '-infinity') END, expires_at, batch_id
) AS urgent
ORDER BY (
  SELECT max(claimed_at) FROM batches AS others WHERE others.project = urgent.project AND ${IS_OPEN}
    AND state = 'in_progress' AND ${HAS_PICTURES} = $1
) NULLS FIRST, batch_id
LIMIT 1`

export const TAKE_NEXT = `
WITH moved AS (
  UPDATE batches SET next_chunk = next_chunk + 1, claimed_at = clock_timestamp()
  WHERE batch_id = $1 AND state = 'in_progress' AND next_chunk < chunks
  RETURNING batch_id, next_chunk - 1 AS chunk
)
UPDATE batch_chunks AS chunks SET state = 'held', node_id = $2, token = token + 1,
  lease_until = ${HELD_UNTIL}
FROM moved WHERE chunks.batch_id = moved.batch_id AND chunks.chunk = moved.chunk RETURNING chunks.*`

export const BATCHES_OF = `SELECT ${ROW}, ${IS_LATE} AS is_late FROM batches WHERE batch_id = ANY ($1::text[])`

export const RENEW_CHUNKS = `
UPDATE batch_chunks AS chunks SET lease_until = ${HELD_UNTIL}
FROM unnest($1::text[], $2::integer[], $3::integer[]) AS given (batch_id, chunk, token), batches
WHERE chunks.batch_id = given.batch_id AND chunks.chunk = given.chunk AND chunks.token = given.token
  AND chunks.state = 'held' AND batches.batch_id = chunks.batch_id
RETURNING chunks.batch_id, chunks.chunk,
  batches.state = 'cancelling' OR (paused_at IS NOT NULL AND NOT ${IS_LATE}) AS must_end`

/**
 * `$8` to `$12`: the lines that have ended; null for all of them. `$16`: the bytes kept of it; null if unknown, but at least `$17`.
 * Returns the growth of the kept bytes.
 */
export const FINISH_CHUNK = `
WITH before AS (SELECT kept_bytes FROM batch_chunks WHERE batch_id = $1 AND chunk = $2)
UPDATE batch_chunks SET state = 'done', node_id = NULL, lease_until = NULL, part_token = $4, head_bytes = $5,
  output_bytes = $6, error_bytes = $7, first_byte = coalesce($8, first_byte), bytes = coalesce($9, bytes),
  first_line = coalesce($10, first_line), lines = coalesce($11, lines),
  without = CASE WHEN $8::bigint IS NULL THEN without ELSE $12 END,
  done_number = $13, done_at = now(), faults = $14, made = $15,
  kept_bytes = coalesce($16::bigint, greatest(kept_bytes, $17::bigint))
WHERE batch_id = $1 AND chunk = $2 AND token = $3 AND state = 'held'
RETURNING kept_bytes - (SELECT kept_bytes FROM before) AS grown_bytes`

/** Whether this holder has ended it before, and only the answer was lost. */
export const HAS_FINISHED = `
SELECT 1 FROM batch_chunks WHERE batch_id = $1 AND chunk = $2 AND token = $3 AND state = 'done'`

export const COUNT_CHUNK = `
UPDATE batches SET done_chunks = done_chunks + 1, chunks = chunks + $2, completed = completed + $3, failed = failed + $4,
  expired = expired + $5, tokens = tokens + $6, cost_nano_usd = cost_nano_usd + $7, output_bytes = output_bytes + $8,
  error_bytes = error_bytes + $9, output_tokens = output_tokens + $10, kept_bytes = kept_bytes + $12,
  spaces = ARRAY(SELECT DISTINCT unnest(spaces || $11::text[]) ORDER BY 1)
WHERE batch_id = $1 RETURNING ${ROW}, now() AS counted_at`

export const MADE_CHUNKS = `
SELECT chunk, first_byte, bytes, first_line, lines, without, output_bytes, error_bytes, faults, made FROM batch_chunks
WHERE batch_id = $1 AND chunk > $2 AND made IS NOT NULL ORDER BY chunk LIMIT $3`

/** Since its last chunk was done. */
export const WAITED_MS = `
SELECT coalesce(extract(epoch FROM now() - max(done_at)) * 1000, 0)::double precision AS waited_ms
FROM batch_chunks WHERE batch_id = $1`

/** Of those that wait, the others follow in the next look. */
export const DONE_BATCHES = `
SELECT batch_id FROM batches
WHERE ${IS_OPEN} AND state IN ('in_progress', 'cancelling')
  AND done_chunks = CASE state WHEN 'cancelling' THEN next_chunk ELSE chunks END
ORDER BY batch_id LIMIT $1`

/** They keep their number, as the blobs of their results do, and stay done. */
export const DROP_PARTS = `
UPDATE batch_chunks SET part_token = NULL, output_bytes = 0, error_bytes = 0, made = NULL, faults = NULL, done_at = NULL
WHERE batch_id = $1 AND chunk = ANY ($2::integer[])`

/** What was paid stays paid: tokens and cost are not reset. */
export const DROP_COUNTS = `
UPDATE batches SET chunks = chunks + $2, spaces = $3::text[], dropped_lines = dropped_lines + $4, completed = completed - $5,
  failed = failed - $6, expired = expired - $7, output_bytes = output_bytes - $8, error_bytes = error_bytes - $9,
  not_before = least(now() + $10 * interval '1 ms', greatest(now(), expires_at)),
  pause_code = CASE WHEN $10 > 0 THEN 'space_left' END
WHERE batch_id = $1 RETURNING ${ROW}`

export const RESIZE_OUTPUT = `
UPDATE files SET bytes = CASE half WHEN 'output' THEN batches.output_bytes ELSE batches.error_bytes END
FROM batches WHERE files.batch_id = $1 AND batches.batch_id = $1`

export const END_BATCH = `
UPDATE batches SET state = $2, ended_at = now(), pause_code = NULL, paused_at = NULL WHERE batch_id = $1 RETURNING ${ROW}`

/** Releases the bytes of its input. */
export const RELEASE_INPUT = 'DELETE FROM file_holds WHERE holder = $1'

/** Locked, so that a batch that is cancelled at this moment does not wait for its chunk. */
export const GIVE_BACK = `
WITH batch AS MATERIALIZED (SELECT batch_id, state FROM batches WHERE batch_id = $1 FOR UPDATE),
before AS (SELECT kept_bytes FROM batch_chunks WHERE batch_id = $1 AND chunk = $2),
given AS (
  UPDATE batch_chunks AS chunks SET node_id = NULL, kept_bytes = 0,
    lease_until = now() + CASE batch.state WHEN 'in_progress' THEN $4::double precision ELSE 0 END * interval '1 ms'
  FROM batch WHERE chunks.batch_id = batch.batch_id AND chunk = $2 AND token = $3 AND chunks.state = 'held'
  RETURNING (SELECT kept_bytes FROM before) AS kept_bytes
)
UPDATE batches SET kept_bytes = batches.kept_bytes - given.kept_bytes FROM given
WHERE batches.batch_id = $1 AND given.kept_bytes > 0`

export const PAUSE = `
UPDATE batches SET not_before = now() + $3 * interval '1 ms', pause_code = $2
WHERE batch_id = $1 AND state = 'in_progress' AND paused_at IS NULL`

export const DUE_BATCHES = `
SELECT batch_id FROM batches WHERE ended_at < now() - results_kept_ms * interval '1 ms' ORDER BY ended_at LIMIT $1`

export const FORGET_BATCH = `
WITH forgotten AS (DELETE FROM batches WHERE batch_id = $1 AND ended_at IS NOT NULL RETURNING batch_id)
DELETE FROM batch_usage USING forgotten WHERE batch_usage.batch_id = forgotten.batch_id`
