/** The statements that seal hours. */
import { LATE_SHARDS } from './ledger-sql.ts'
import { SUM_COLUMNS } from './hour-sums.ts'

/** Of sealed hours: the sums of all writers. */
const SEALED_SHARD = -1

/** Times as Unix milliseconds, so that an infinite one is a number too. */
export const SEAL = `
SELECT (extract(epoch FROM through) * 1000)::float8 AS through_ms, (extract(epoch FROM sealing) * 1000)::float8 AS sealing_ms,
  (extract(epoch FROM days_through) * 1000)::float8 AS days_through_ms,
  (extract(epoch FROM hours_kept_from) * 1000)::float8 AS hours_kept_from_ms,
  (extract(epoch FROM entries_kept_from) * 1000)::float8 AS entries_kept_from_ms,
  (extract(epoch FROM compared_through) * 1000)::float8 AS compared_through_ms
FROM ledger_seal`

export interface SealRow {
  readonly through_ms: number
  readonly sealing_ms: number | null
  readonly days_through_ms: number
  readonly hours_kept_from_ms: number
  readonly entries_kept_from_ms: number
  readonly compared_through_ms: number
}

export const BEGIN_SEALING = 'UPDATE ledger_seal SET sealing = $1::timestamptz, through = $2::timestamptz'
export const END_SEALING = 'UPDATE ledger_seal SET sealing = NULL, sealed_at = clock_timestamp()'

/** The first entry from the id $1 on, and the first rollup from the time $2 on. */
export const FIRST_SINCE = `
SELECT (SELECT request_id FROM usage_events WHERE request_id >= $1::uuid ORDER BY request_id LIMIT 1) AS id,
  (SELECT hour FROM usage_hours WHERE hour >= $2::timestamptz ORDER BY hour LIMIT 1) AS hour`

/** Nodes that would not write a late entry as a correction. $1: those that ended since, too. */
export const EARLIER_NODES = `
SELECT node_id FROM nodes WHERE NOT seals AND (ended_at IS NULL OR ended_at >= $1::timestamptz)`

/**
 * Transactions that may have decided before now that an entry is not late: a statement takes this lock before it looks. So every
 * later one sees what is committed now.
 */
export const WRITERS = `
SELECT DISTINCT virtualtransaction AS writer FROM pg_locks
WHERE locktype = 'relation' AND relation = 'usage_events'::regclass AND mode = 'RowExclusiveLock' AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid()
  AND ($1::text[] IS NULL OR virtualtransaction = ANY ($1))`

export const SEAL_HOUR = `
INSERT INTO sealed_hours (hour, ${SUM_COLUMNS}, hash, barrier_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

const COUNTED =
  `posts, unknowns, tokens, images, amount_nano, unpriced, requests, hits, saved_nano, unknown_nano`.split(
    ', ',
  )

/** Moves rollups of the hours $1 to $2 from the shards that match to another one. */
function moveShards(hours: string, names: string, which: string, shard: string): string {
  return `
WITH moved AS (
  DELETE FROM ${hours} WHERE hour >= $1::timestamptz AND hour < $2::timestamptz AND ${which} RETURNING *
)
INSERT INTO ${hours} AS sealed (hour, ${names}, shard, ${COUNTED.join(', ')})
SELECT hour, ${names}, ${shard}, ${COUNTED.map((column) => `sum(${column})`).join(', ')}
FROM moved GROUP BY hour, ${names}
ON CONFLICT (hour, ${names}, shard) DO UPDATE SET
  ${COUNTED.map((column) => `${column} = sealed.${column} + excluded.${column}`).join(', ')}`
}

const TABLES = [
  ['usage_hours', 'project, key_id, model, deployment'],
  ['usage_label_hours', 'project, label, value, key_id, model, deployment'],
] as const
const OF_WRITERS = `shard >= 0 AND shard < ${LATE_SHARDS}`

/** One row instead of one for each writer. */
export const MERGE_SHARDS = TABLES.map(([hours, names]) =>
  moveShards(hours, names, OF_WRITERS, `${SEALED_SHARD}`),
)
/** Among the corrections. */
export const MOVE_LATE = TABLES.map(([hours, names]) =>
  moveShards(hours, names, OF_WRITERS, `${LATE_SHARDS}`),
)

/** Sealed hours that a node of an earlier version has written to. */
export const WRITTEN_LATE = `
SELECT DISTINCT hour FROM usage_hours
WHERE hour >= $1::timestamptz AND hour < $2::timestamptz AND ${OF_WRITERS} ORDER BY hour`

/** $1, $2: the ids of the hour $3. */
export const ADOPT = `
INSERT INTO ledger_corrections (
  hour, request_id, attempt, kind, project, key_id, tokens, images, amount_nano, requests, hits, saved_nano, unknown_nano
)
SELECT $3::timestamptz, request_id, attempt, kind, project, key_id, tokens, images, amount_nano, requests, hits, saved_nano,
  unknown_nano
FROM usage_events
WHERE request_id >= $1::uuid AND request_id < $2::uuid
  AND written_at >= coalesce((SELECT barrier_at FROM sealed_hours WHERE hour = $3::timestamptz), '-infinity')
ON CONFLICT DO NOTHING RETURNING 1`

/** $1: the hour; $2: how many of its sums differ. */
export const NOTE_DIFFERENCES = `
INSERT INTO ledger_differences (hour, differences) VALUES ($1, $2)
ON CONFLICT (hour) DO UPDATE SET differences = excluded.differences, found_at = now()`
export const NO_DIFFERENCES = 'DELETE FROM ledger_differences WHERE hour = $1'
