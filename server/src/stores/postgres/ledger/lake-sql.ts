/** The statements of the export of the ledger. */

/** Null in a column of numbers, of which none is that small. */
const NULL_NUMBER = '(-9223372036854775808)'

const long = (column: string): string =>
  `encode(string_agg(int8send(coalesce(${column}, ${NULL_NUMBER})), ''), 'base64')`
const id = (column: string): string => `encode(string_agg(uuid_send(${column}), ''), 'base64')`
const texts = (column: string): string => `json_agg(${column})::text`
/** Few rows have a value: each with the place of its row. */
const sparse = (column: string): string =>
  `(json_agg(json_build_array(place, ${column}::text)) FILTER (WHERE ${column} IS NOT NULL))::text`

/** The rows of each kind. $3: of corrections, the number of their manifest; of entries, null. */
const SOURCES = {
  // Most hours have no correction, and their rows are looked up nowhere else.
  entries: `FROM usage_events WHERE $3::integer IS NULL AND (NOT EXISTS (
      SELECT FROM ledger_corrections WHERE request_id >= $1::uuid AND request_id < $2::uuid
    ) OR NOT EXISTS (
      SELECT FROM ledger_corrections AS late WHERE late.request_id = usage_events.request_id
        AND late.attempt = usage_events.attempt AND late.kind = usage_events.kind
    ))`,
  corrections: `FROM usage_events WHERE EXISTS (
      SELECT FROM ledger_corrections AS late WHERE late.request_id = usage_events.request_id
        AND late.attempt = usage_events.attempt AND late.kind = usage_events.kind AND late.manifest = $3::integer
    )`,
}

/**
 * A page of entries, a column per text: rows one by one would cost five times as much. Numbers and ids are big-endian bytes in
 * base64, texts are JSON. $1, $2: ids from and to; $4 to $6: the last entry of the page before; $7: page size.
 */
export function entryPage(rows: keyof typeof SOURCES): string {
  return `
SELECT count(*)::integer AS rows, ${id('request_id')} AS request_ids, ${texts('kind')} AS kinds, ${id('call_id')} AS call_ids,
  ${id('node_id')} AS node_ids, ${texts('project')} AS projects, ${texts('key_id')} AS key_ids, ${texts('model')} AS models,
  ${texts('deployment')} AS deployments, ${texts('usage')} AS usages, ${long('attempt')} AS attempts, ${long('tokens')} AS tokens,
  ${long('images')} AS images, ${long('amount_nano')} AS amounts, ${long('requests')} AS requests, ${long('inputs')} AS inputs,
  encode(string_agg(timestamptz_send(written_at), ''), 'base64') AS written_at,
  ${sparse('hits')} AS hits, ${sparse('saved_nano')} AS saved, ${sparse('unknown_nano')} AS unknown_amounts,
  ${sparse('batch_id')} AS batch_ids, ${sparse('end_user')} AS end_users, ${sparse('tags')} AS tags, ${sparse('remarks')} AS remarks
FROM (
  SELECT (row_number() OVER () - 1)::integer AS place, page.* FROM (
    SELECT * ${SOURCES[rows]}
      AND request_id >= $1::uuid AND request_id < $2::uuid
      AND (request_id, attempt, kind) > ($4::uuid, $5::smallint, $6::text)
    ORDER BY request_id, attempt, kind LIMIT $7
  ) AS page
) AS placed`
}

/** Pages follow the key. Without statistics of a new day, the planner would sort all of its hour for each page. */
export const BY_KEY = 'SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off'

/** A free or expired place, or one's own. $1: the node; $2: for how many milliseconds. */
export const HOLD = `
UPDATE ledger_lake SET holder = $1, held_until = now() + $2 * interval '1 ms'
WHERE holder IS NOT DISTINCT FROM $1 OR held_until < now() RETURNING 1`

/** Complete days with entries or corrections and without a manifest. A day that has not ended is none, whatever is sealed. */
const DUE = `
  SELECT day FROM (
    SELECT (hour AT TIME ZONE 'UTC')::date AS day FROM sealed_hours
    UNION SELECT (hour AT TIME ZONE 'UTC')::date FROM ledger_corrections
  ) AS days
  WHERE day < (SELECT days_through FROM ledger_seal) AND day < (now() AT TIME ZONE 'UTC')::date AND NOT EXISTS (SELECT FROM ledger_exports WHERE ledger_exports.day = days.day)`

export const DAYS_DUE = `${DUE} ORDER BY day LIMIT $1`

/** Exported days with corrections that an export took for a manifest, and did not live to record it. */
const LEFT_DAYS = `
  SELECT day FROM (SELECT day, max(number) AS number FROM ledger_exports GROUP BY day) AS recorded
  WHERE EXISTS (
    SELECT FROM ledger_corrections WHERE (hour AT TIME ZONE 'UTC')::date = recorded.day AND manifest > recorded.number
  )`

/** $1: the oldest of those that no export took was written before. */
export const CORRECTED_DAYS = `
SELECT day FROM (
  SELECT (hour AT TIME ZONE 'UTC')::date AS day, min(written_at) AS oldest FROM ledger_corrections WHERE manifest IS NULL GROUP BY 1
) AS waiting
WHERE oldest < $1 AND EXISTS (SELECT FROM ledger_exports WHERE ledger_exports.day = waiting.day)
UNION ${LEFT_DAYS}
ORDER BY day LIMIT $2`

/** $1, $2: from and to the end of the day. */
export const HAS_CORRECTIONS = `
SELECT 1 FROM ledger_corrections WHERE hour >= $1 AND hour < $2 AND manifest IS NULL LIMIT 1`

/** $1, $2: from and to the end of the day; $3: the manifest. */
export const CLAIM_CORRECTIONS = `
UPDATE ledger_corrections SET manifest = $3
WHERE hour >= $1 AND hour < $2 AND manifest IS NULL
  AND NOT EXISTS (SELECT FROM ledger_corrections AS own WHERE own.hour >= $1 AND own.hour < $2 AND own.manifest = $3)`

export const COUNT_CLAIMED = `
SELECT count(*)::integer AS count FROM ledger_corrections WHERE hour >= $1 AND hour < $2 AND manifest = $3`

export const SEALED_HOURS = `
SELECT hour, entries, posts, tokens, images, amount_nano, requests, hits, saved_nano, unknown_nano, encode(hash, 'hex') AS hash
FROM sealed_hours WHERE hour >= $1 AND hour < $2 AND entries > 0 ORDER BY hour`

/** $1: the day; $2: the number, or null for the newest. */
export const MANIFEST_OF = `
SELECT manifest AS text, sha256 FROM ledger_exports WHERE day = $1::date AND ($2::integer IS NULL OR number = $2)
ORDER BY number DESC LIMIT 1`

/** Newest manifests of days. $1, $2: the first and the last day; $3: at most. */
export const MANIFESTS = `
SELECT DISTINCT ON (day) manifest AS text, sha256 FROM ledger_exports WHERE day >= $1::date AND day <= $2::date
ORDER BY day, number DESC LIMIT $3`

export const CHAIN = `
SELECT sequence, manifest AS text, sha256 FROM ledger_exports WHERE sequence > $1 ORDER BY sequence LIMIT $2`

export const LAST_MANIFEST = `
SELECT sequence, manifest AS text, sha256 FROM ledger_exports ORDER BY sequence DESC LIMIT 1`

export const RECORD = `
INSERT INTO ledger_exports (sequence, day, number, manifest, sha256, entries, bytes) VALUES ($1, $2::date, $3, $4, $5, $6, $7)
ON CONFLICT (sequence) DO NOTHING`

export const KEPT_FROM = `
SELECT (nullif(entries_kept_from, '-infinity') AT TIME ZONE 'UTC')::date AS day FROM ledger_seal`

export const STATUS = `
WITH days AS (
  SELECT DISTINCT ON (day) day, entries, bytes FROM ledger_exports ORDER BY day, number DESC
)
SELECT nullif(coalesce(sealing, through), '-infinity') AS sealed_through,
  (coalesce((SELECT min(day) FROM (${DUE}) AS due), (SELECT max(day) + 1 FROM days)))::text AS exported_through,
  (nullif(entries_kept_from, '-infinity') AT TIME ZONE 'UTC')::date::text AS kept_from,
  (SELECT count(*)::integer FROM days) AS days, (SELECT coalesce(sum(entries), 0)::bigint FROM days) AS entries,
  (SELECT coalesce(sum(bytes), 0)::bigint FROM days) AS bytes, (SELECT count(*)::integer FROM (${DUE}) AS due) AS waiting,
  problem, problem_at
FROM ledger_seal CROSS JOIN ledger_lake`

/** Parts of the ledger that hold rows, oldest first, with the bounds of their ids. */
export const PARTITIONS = `
SELECT relid::regclass::text AS name, pg_get_expr(relpartbound, oid) AS bounds
FROM pg_partition_tree('usage_events') JOIN pg_class ON oid = relid
WHERE isleaf AND relid::regclass::text <> 'usage_events_rest' ORDER BY bounds`

/** Corrections since the last export, or a node that writes none. $1, $2: from and to the end of the partition. */
export const MAY_HAVE_OTHERS = `
SELECT 1 FROM ledger_corrections WHERE hour >= $1 AND hour < $2 AND manifest IS NULL
UNION ALL SELECT 1 FROM nodes WHERE ended_at IS NULL AND NOT seals LIMIT 1`

/** $1, $2: ids from and to. */
export const HAS_OPEN_UNKNOWN = `
SELECT 1 FROM usage_events AS entry
WHERE kind = 'unknown' AND request_id >= $1::uuid AND request_id < $2::uuid AND NOT EXISTS (
  SELECT FROM usage_events AS resolution
  WHERE resolution.request_id = entry.request_id AND resolution.attempt = entry.attempt AND resolution.kind IN ('post', 'void')
) LIMIT 1`

const COMPARED = [
  'posts',
  'tokens',
  'images',
  'amount_nano',
  'requests',
  'hits',
  'saved_nano',
  'unknown_nano',
]
const summed = (table: string): string =>
  COMPARED.map((name) => `coalesce(sum(${table}.${name}), 0) AS ${name}`).join(', ')

/** $1: at most. */
export const COLD_DIFFERENCES = `
WITH corrections AS (
  SELECT hour, CASE kind WHEN 'post' THEN 1 ELSE 0 END AS posts, tokens, images, amount_nano, requests, hits, saved_nano, unknown_nano
  FROM ledger_corrections WHERE in_day
), hours AS (
  SELECT hour, ${COMPARED.join(', ')} FROM sealed_hours UNION ALL SELECT hour, ${COMPARED.join(', ')} FROM corrections
), by_hour AS (
  SELECT (hour AT TIME ZONE 'UTC')::date AS day, ${summed('hours')} FROM hours
  WHERE hour < (SELECT entries_kept_from FROM ledger_seal) GROUP BY 1
), by_day AS (
  SELECT day, ${summed('usage_days')} FROM usage_days
  WHERE day < (SELECT (nullif(entries_kept_from, '-infinity') AT TIME ZONE 'UTC')::date FROM ledger_seal) GROUP BY 1
)
SELECT day::text AS day, array_remove(ARRAY[${COMPARED.map(
  (name) => `CASE WHEN by_hour.${name} IS DISTINCT FROM by_day.${name} THEN '${name}' END`,
).join(', ')}], NULL) AS differing
FROM by_hour FULL JOIN by_day USING (day)
WHERE ${COMPARED.map((name) => `by_hour.${name} IS DISTINCT FROM by_day.${name}`).join(' OR ')}
ORDER BY day LIMIT $1`
