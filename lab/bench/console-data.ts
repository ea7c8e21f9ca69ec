/**
 * A database as a large install has it after two months: entries of the ledger with their rollups, requests, keys and batches. Made by
 * bulk SQL; rollups are added up from the entries, so that the doctor finds nothing to say.
 */
import { migrate } from '../../server/src/stores/postgres/migrate.ts'
import { makePartitions } from '../../server/src/stores/postgres/ledger/upkeep-partitions.ts'
import { rollUpDays } from '../../server/src/stores/postgres/ledger/roll-up.ts'
import type { Database } from '../../server/src/stores/postgres/database.ts'
import type { Samples } from './console-questions.ts'

export interface ConsoleDataSize {
  /** Entries of the ledger. */
  readonly events: number
  readonly requests: number
  readonly keys: number
}

export const LARGE_INSTALL: ConsoleDataSize = { events: 1_000_000, requests: 200_000, keys: 10_000 }
export const SMALL_INSTALL: ConsoleDataSize = { events: 20_000, requests: 4000, keys: 200 }
/** As many as a test needs to see that everything adds up. */
export const TINY_INSTALL: ConsoleDataSize = { events: 2000, requests: 400, keys: 60 }

const DAY_MS = 86_400_000
const USAGE_DAYS = 60
/** The request log is kept as long. */
const LOG_DAYS = 30
const PROJECTS = 50
/** Rows per statement: a million would exceed the timeout of a connection. */
const PORTION = 50_000
const PORTION_MS = 900_000

/** Half of all traffic comes from a fifth of the keys, as usual. */
const KEY = `floor(power(random(), 2.4) * $3)::integer`
/** A UUIDv7 of a moment in Unix milliseconds. */
const idAt = (moment: string): string => `(
    substr(lpad(to_hex((${moment})::bigint), 12, '0'), 1, 8) || '-' || substr(lpad(to_hex((${moment})::bigint), 12, '0'), 9, 4)
    || '-7' || substr(noise, 1, 3) || '-8' || substr(noise, 4, 3) || '-' || substr(noise, 7, 12))::uuid`

const MODELS = `ARRAY['text-embedding-3-small', 'text-embedding-3-large', 'BAAI/bge-m3', 'voyage-3.5', 'embed-v4.0',
  'gpt-image-2', 'flux-2-pro', 'gemini-3-pro-image', 'Qwen/Qwen3-Embedding-8B', 'mistral-embed']`
const FIRST_IMAGE_MODEL = 6
const LAST_IMAGE_MODEL = 8

/** A key asks for one model nearly always, and sometimes for another. */
const EVENTS = `
WITH noisy AS (
  SELECT md5($1::text || '-' || number::text) AS noise, ${KEY} AS key, random() AS taste,
    $4::bigint - floor(random() * $5::bigint)::bigint AS moment, random() AS luck, 1 + floor(random() * 4000)::integer AS size
  FROM generate_series(1, $2::integer) AS number
), drawn AS (
  SELECT *, 1 + (key + CASE WHEN taste < 0.1 THEN 3 ELSE 0 END) % 10 AS model FROM noisy
)
INSERT INTO usage_events (
  request_id, attempt, kind, call_id, node_id, project, key_id, model, deployment, usage, tokens, images, amount_nano,
  requests, hits, saved_nano, unknown_nano, written_at
)
SELECT ${idAt('moment')}, 0, CASE WHEN luck < 0.0002 THEN 'unknown' ELSE 'post' END, ${idAt('moment + 1')},
  '00000000-0000-7000-8000-000000000001', 'project-' || key % ${PROJECTS}, 'project-' || key % ${PROJECTS} || '/key-' || key,
  (${MODELS})[model], (${MODELS})[model] || CASE WHEN luck < 0.3 THEN '/azure-eu' ELSE '/openai' END, 'upstream',
  CASE WHEN model BETWEEN ${FIRST_IMAGE_MODEL} AND ${LAST_IMAGE_MODEL} THEN NULL ELSE size END,
  CASE WHEN model BETWEEN ${FIRST_IMAGE_MODEL} AND ${LAST_IMAGE_MODEL} THEN 1 ELSE 0 END,
  CASE WHEN luck > 0.999 THEN NULL WHEN model BETWEEN ${FIRST_IMAGE_MODEL} AND ${LAST_IMAGE_MODEL} THEN 40000000 ELSE size * 20 END,
  1, CASE WHEN luck BETWEEN 0.5 AND 0.6 THEN size % 64 END, CASE WHEN luck BETWEEN 0.5 AND 0.6 THEN size * 5 END,
  CASE WHEN luck < 0.0002 THEN
    CASE WHEN model BETWEEN ${FIRST_IMAGE_MODEL} AND ${LAST_IMAGE_MODEL} THEN 40000000 ELSE size * 20 END END,
  to_timestamp(moment / 1000.0)
FROM drawn ON CONFLICT DO NOTHING`

const HOURS = `
INSERT INTO usage_hours (
  hour, project, key_id, model, deployment, shard, posts, unknowns, tokens, images, amount_nano, unpriced, requests, hits,
  saved_nano, unknown_nano
)
SELECT date_trunc('hour', written_at), project, key_id, model, deployment, 0, count(*) FILTER (WHERE kind = 'post'),
  count(*) FILTER (WHERE kind = 'unknown'), coalesce(sum(tokens), 0), sum(images), coalesce(sum(amount_nano), 0),
  count(*) FILTER (WHERE amount_nano IS NULL), sum(requests), coalesce(sum(hits), 0), coalesce(sum(saved_nano), 0),
  coalesce(sum(unknown_nano), 0)
FROM usage_events GROUP BY 1, 2, 3, 4, 5`

const REQUESTS = `
WITH drawn AS (
  SELECT md5('r' || $1::text || '-' || number::text) AS noise, ${KEY} AS key, 1 + floor(random() * 10)::integer AS model,
    $4::bigint - floor(random() * $5::bigint)::bigint AS moment, random() AS luck
  FROM generate_series(1, $2::integer) AS number
)
INSERT INTO requests (
  request_id, route, status, fault, project, key_id, model, deployments, attempts, inputs, tokens, amount_nano, duration_ms,
  node_id, hits, images, own_ms, waited_ms
)
SELECT ${idAt('moment')},
  CASE WHEN model BETWEEN ${FIRST_IMAGE_MODEL} AND ${LAST_IMAGE_MODEL} THEN 'images' ELSE 'embeddings' END,
  CASE WHEN luck < 0.01 THEN 502 WHEN luck < 0.03 THEN 429 WHEN luck < 0.05 THEN 400 ELSE 200 END,
  CASE WHEN luck < 0.01 THEN 'upstream_failed' WHEN luck < 0.03 THEN 'budget_exhausted' WHEN luck < 0.05 THEN 'invalid_input' END,
  'project-' || key % ${PROJECTS}, 'project-' || key % ${PROJECTS} || '/key-' || key, (${MODELS})[model],
  (${MODELS})[model] || '/openai', 1, 1 + floor(random() * 64)::integer, floor(random() * 4000)::integer,
  floor(random() * 80000)::bigint, 40 + random() * 900, '00000000-0000-7000-8000-000000000001', 0,
  CASE WHEN model BETWEEN ${FIRST_IMAGE_MODEL} AND ${LAST_IMAGE_MODEL} THEN 1 ELSE 0 END, 1 + random() * 3, 0
FROM drawn ON CONFLICT DO NOTHING`

/** $1: how many keys; every second one has a budget. */
const KEYS = `
WITH made AS (
  INSERT INTO keys (key_id, project, name, limits, budget, last_used_at, version)
  SELECT 'project-' || key % ${PROJECTS} || '/key-' || key, 'project-' || key % ${PROJECTS}, 'key-' || key, '{}',
    CASE WHEN key % 2 = 0 THEN '{"limitNanoUsd": "50000000000", "per": "month", "hard": true}'::jsonb END,
    now() - random() * interval '90 days', 1
  FROM generate_series(0, $1::integer - 1) AS key RETURNING key_id
)
INSERT INTO key_secrets (digest, key_id, pepper, tail)
SELECT sha256(key_id::bytea), key_id, 'none', right(md5(key_id), 4) FROM made`

/** $1: how many batches, all of which have ended. */
const BATCHES = `
INSERT INTO batches (
  batch_id, project, key_id, terms, endpoint, input_file_id, output_file_id, error_file_id, model, digest, errors, state,
  created_at, expires_at, ended_at, results_kept_ms, lines, chunks, next_chunk, done_chunks, completed, failed, tokens,
  cost_nano_usd, output_bytes
)
SELECT 'batch_' || md5(number::text), 'project-' || number % ${PROJECTS}, 'project-' || number % ${PROJECTS} || '/key-' || number,
  '{}', '/v1/embeddings', 'file-in', 'file-out-' || number, 'file-err-' || number, 'text-embedding-3-small', number, '[]',
  'completed', made, made + interval '1 day', made + interval '2 hours', 90 * 86400000::bigint, 1000, 1, 1, 1, 990, 10, 40000,
  800000, 8000000
FROM generate_series(1, $1::integer) AS number, LATERAL (SELECT now() - random() * interval '25 days' AS made) AS begun`

/** One of them is large. $1: its chunks of a thousand lines. */
const LARGE_BATCH = `
INSERT INTO batch_chunks (batch_id, chunk, first_byte, bytes, first_line, lines, state, token, done_number, done_at, faults)
SELECT batch_id, chunk, chunk * 100000::bigint, 100000, chunk * 1000 + 1, 1000, 'done', 1, chunk + 1,
  created_at + chunk * (interval '2 hours' / $1::integer), CASE WHEN chunk % 10 = 0 THEN '{"input_too_long": 7}'::jsonb END
FROM batches, generate_series(0, $1::integer - 1) AS chunk WHERE batch_id = 'batch_' || md5('1')`

/** Before the first node starts: its chores would write beside us. */
export async function fillConsoleData(
  database: Database,
  { events, requests, keys }: ConsoleDataSize,
  nowMs: number,
): Promise<void> {
  await migrate(database)
  // Each time makes those of that day and of the three after it.
  for (let daysAgo = 0; daysAgo <= USAGE_DAYS; daysAgo += 3)
    await makePartitions(database, nowMs - daysAgo * DAY_MS)
  await database.session(async (sql) => {
    await sql.query(
      `INSERT INTO projects (project, budget, version)
       SELECT 'project-' || number, '{"limitNanoUsd": "900000000000", "per": "month", "hard": false}', 1
       FROM generate_series(0, ${PROJECTS - 1}) AS number`,
    )
    await sql.query(KEYS, [keys])
    await sql.query(BATCHES, [keys])
    await sql.query(LARGE_BATCH, [keys])
    const fill = async (statement: string, rows: number, days: number): Promise<void> => {
      for (let portion = 0; portion * PORTION < rows; portion += 1) {
        const size = Math.min(PORTION, rows - portion * PORTION)
        await sql.query(statement, [portion, size, keys, nowMs, days * DAY_MS])
      }
    }
    await fill(EVENTS, events, USAGE_DAYS)
    await sql.query(HOURS)
    await fill(REQUESTS, requests, LOG_DAYS)
    await rollUpDays(sql, new Date(nowMs - (USAGE_DAYS + 1) * DAY_MS), 'infinity')
    // Nodes write each hour when it is over, so its rows lie side by side.
    await sql.query('CLUSTER usage_hours USING usage_hours_pkey')
    await sql.query('CLUSTER usage_days USING usage_days_pkey')
    await sql.query('ANALYZE')
  }, PORTION_MS)
}

/** Sample ids from the filled database, for the questions. */
export async function samplesIn(
  database: Database,
  nowMs: number,
): Promise<Omit<Samples, 'model' | 'deployment'>> {
  const [request] = await database.query<{ request_id: string }>('SELECT request_id FROM requests LIMIT 1')
  const [chunk] = await database.query<{ batch_id: string }>('SELECT batch_id FROM batch_chunks LIMIT 1')
  return {
    nowMs,
    project: 'project-0',
    key: 'key-0',
    requestId: request?.request_id ?? '',
    batchId: chunk?.batch_id ?? '',
  }
}
