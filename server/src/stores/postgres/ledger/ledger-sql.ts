/** The statements of the ledger, written by hand: they are the product's promises P2 and P3. */

/** The sums of rollups, over entries that are counted. */
const SUMS = {
  posts: `count(*) FILTER (WHERE kind = 'post')`,
  unknowns: 'sum(unknowns)',
  tokens: 'coalesce(sum(tokens), 0)',
  images: 'sum(images)',
  amount_nano: 'coalesce(sum(amount_nano), 0)',
  unpriced: 'count(*) FILTER (WHERE amount_nano IS NULL)',
  requests: 'coalesce(sum(requests), 0)',
  hits: 'coalesce(sum(hits), 0)',
  saved_nano: 'coalesce(sum(saved_nano), 0)',
  unknown_nano: 'coalesce(sum(unknown_nano), 0)',
} as const
const SUM_NAMES = Object.keys(SUMS).join(', ')

const ADDED_UP = Object.keys(SUMS)
  .map((name) => `${name} = hours.${name} + excluded.${name}`)
  .join(', ')

export interface AppendForm {
  /**
   * As is usual, no entry is in the ledger already, and none is late: no row has to be confirmed after it was written, and none has
   * to be found among those given. If an entry is in the ledger, the statement fails with a unique violation; if one is late, it
   * writes nothing and answers `is_late`. Then it must be sent in the other form.
   */
  readonly isUsual: boolean
  /** Only entries of a node that has not been ended are accepted. */
  readonly isFenced: boolean
  /** Entries have labels. Most batches have none, and pay nothing for those that do. */
  readonly isLabelled: boolean
  /** Entries are lines of batches. Opening this part of the statement costs others as much as writing a row. */
  readonly isBatched: boolean
}

/** Concurrent writers, nodes and lanes of a node, count in separate rollup rows; more than this many share. */
export const SHARDS = 16
/** Added to the shard of a late entry, whose hour is sealed: the sums of the hour stay as they were sealed. */
export const LATE_SHARDS = 100

/** `hour`: Unix seconds of the hour of a `counted` entry. */
const IS_LATE = '(SELECT through FROM seal) > to_timestamp(hour)'
/** Whether any of the `given` entries is late. */
const HAS_LATE = '(SELECT through FROM seal) > (SELECT to_timestamp(min(hour)) FROM given)'
const SHARD = `($2::integer + CASE WHEN ${IS_LATE} THEN ${LATE_SHARDS} ELSE 0 END)::smallint`

const NAMES = 'project, key_id, model, deployment'
const LABEL_NAMES = 'project, label, value, key_id, model, deployment'

/** A late entry is a correction. */
const CORRECTED = `, corrected AS (
  INSERT INTO ledger_corrections (
    hour, request_id, attempt, kind, project, key_id, tokens, images, amount_nano, requests, hits, saved_nano, unknown_nano
  )
  SELECT to_timestamp(hour), request_id, attempt, kind, project, key_id, tokens, images, amount_nano, requests, hits, saved_nano,
    unknown_nano
  FROM counted WHERE ${IS_LATE}
)`

const BATCHED = `, batched AS (
  INSERT INTO batch_usage AS batches (batch_id, shard, tokens, amount_nano, unknown_nano)
  SELECT batch_id, $2::smallint, coalesce(sum(tokens), 0), coalesce(sum(amount_nano), 0), coalesce(sum(unknown_nano), 0)
  FROM counted WHERE batch_id IS NOT NULL GROUP BY batch_id ORDER BY batch_id
  ON CONFLICT (batch_id, shard) DO UPDATE SET
    tokens = batches.tokens + excluded.tokens,
    amount_nano = batches.amount_nano + excluded.amount_nano,
    unknown_nano = batches.unknown_nano + excluded.unknown_nano
)`

/** The sums of some `entries` in rollup rows with these names. */
function rolledUp(hours: string, names: string, entries: string): string {
  const key = `hour, ${names}, shard`
  return `, ${hours}_rolled AS (
  INSERT INTO ${hours} AS hours (${key}, ${SUM_NAMES})
  SELECT to_timestamp(hour), ${names}, ${SHARD}, ${Object.values(SUMS).join(', ')}
  FROM ${entries} GROUP BY hour, ${names} ORDER BY hour, ${names}
  ON CONFLICT (${key}) DO UPDATE SET ${ADDED_UP}
)`
}

/**
 * The entry's index among those given, its label and the value under which it is counted. Declared before the other rollups, so that
 * it runs after them: PostgreSQL runs the parts of a statement that no other part reads from the last to the first.
 */
const LABELLED = `, labelled AS MATERIALIZED (
  SELECT place, label, value FROM unnest($28::integer[], $29::text[], $30::text[]) AS labelled (place, label, value)
)${rolledUp('usage_label_hours', LABEL_NAMES, 'counted JOIN labelled USING (place)')}`

/** Moves the budgets, and the leases of node $1, by what is `counted`. */
export const CHARGED = `due AS MATERIALIZED (
  SELECT sums.budget_id, sums.window_start, spent, least(covered, coalesce(leases.amount_nano, 0)) AS covered
  FROM (
    SELECT budget_id, window_start, coalesce(sum(amount_nano), 0)::bigint AS spent, sum(covered)::bigint AS covered
    FROM (
      SELECT budget_id, window_start, amount_nano, project_lease AS covered FROM counted JOIN budgets
        ON budget_id = 'project:' || project AND to_timestamp(hour) >= window_start AND to_timestamp(hour) < window_end
      UNION ALL
      SELECT budget_id, window_start, amount_nano, key_lease FROM counted JOIN budgets
        ON budget_id = 'key:' || key_id AND to_timestamp(hour) >= window_start AND to_timestamp(hour) < window_end
    ) AS charges
    GROUP BY 1, 2
  ) AS sums
  LEFT JOIN leases ON leases.budget_id = sums.budget_id AND leases.window_start = sums.window_start
    AND leases.node_id = $1
), locked AS MATERIALIZED (
  SELECT budget_id, window_start FROM budgets
  WHERE (budget_id, window_start) IN (SELECT budget_id, window_start FROM due)
  ORDER BY 1, 2 FOR UPDATE
), spent AS (
  UPDATE budgets SET spent_nano = spent_nano + due.spent, leased_nano = leased_nano - due.covered
  FROM due JOIN locked USING (budget_id, window_start)
  WHERE budgets.budget_id = due.budget_id AND budgets.window_start = due.window_start
  RETURNING budgets.budget_id, budgets.window_start, due.covered
), used AS (
  UPDATE leases SET amount_nano = amount_nano - spent.covered
  FROM spent
  WHERE leases.budget_id = spent.budget_id AND leases.window_start = spent.window_start AND leases.node_id = $1
    AND spent.covered <> 0
)`

/**
 * Appends entries and moves everything that follows from them: rollups, sums of batches, budgets, leases. All of it only for rows
 * really inserted, so that a batch that is sent twice counts once. Rows are locked in one order (node, entries, budgets, leases,
 * rollups, rollups of labels, sums of batches), each kind sorted: unsorted, two nodes deadlock within seconds. An entry uses at most
 * what the node holds of a lease: nothing of a returned one, nor of another window's. Columns in which every entry has the usual
 * value come empty: reading an array takes as long as writing its contents. A late entry is a correction and counts in shards of its
 * own; the snapshot of the one statement decides for all of its parts.
 */
export function appendStatement({ isUsual, isFenced, isLabelled, isBatched }: AppendForm): string {
  return `
WITH fence AS MATERIALIZED (
  SELECT 1 FROM nodes WHERE node_id = $1 AND ended_at IS NULL FOR KEY SHARE
), seal AS MATERIALIZED (
  SELECT through FROM ledger_seal
), given AS MATERIALIZED (
  SELECT request_id, coalesce(attempt, 0) AS attempt, coalesce(kind, 'post') AS kind, call_id, project, key_id, model, deployment,
    coalesce(usage, 'upstream') AS usage, tokens, coalesce(images, 0) AS images, amount_nano,
    coalesce(project_lease, 0) AS project_lease, coalesce(key_lease, 0) AS key_lease, hour,
    coalesce(unknowns, 0) AS unknowns, requests, hits, saved_nano, unknown_nano, remarks, batch_id, inputs${isLabelled ? ", nullif(end_user, '') AS end_user, nullif(tags, '')::jsonb AS tags, place" : ''}
  FROM unnest(
    $3::uuid[], $4::smallint[], $5::text[], $6::uuid[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
    $12::bigint[], $13::integer[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::integer[],
    $19::smallint[], $20::integer[], $21::bigint[], $22::bigint[], $23::jsonb[], $24::text[], $25::integer[]${isLabelled ? ', $26::text[], $27::text[]' : ''}
  )${isLabelled ? ' WITH ORDINALITY' : ''} AS given (
    request_id, attempt, kind, call_id, project, key_id, model, deployment, usage,
    tokens, images, amount_nano, project_lease, key_lease, hour, unknowns,
    requests, hits, saved_nano, unknown_nano, remarks, batch_id, inputs${isLabelled ? ', end_user, tags, place' : ''}
  )
), inserted AS (
  INSERT INTO usage_events (
    request_id, attempt, kind, call_id, node_id, project, key_id, model, deployment, usage, tokens, images, amount_nano,
    requests, hits, saved_nano, unknown_nano, remarks, batch_id, inputs${isLabelled ? ', end_user, tags' : ''}
  )
  SELECT request_id, attempt, kind, call_id, $1, project, key_id, model, deployment, usage, tokens, images, amount_nano,
    requests, hits, saved_nano, unknown_nano, remarks, batch_id, inputs${isLabelled ? ', end_user, tags' : ''}
  FROM given
  WHERE ${isFenced ? 'EXISTS (SELECT FROM fence)' : 'true'}${isUsual ? ` AND NOT (${HAS_LATE})` : ''}
  ORDER BY request_id, attempt, kind
  ${isUsual ? 'RETURNING 1' : 'ON CONFLICT DO NOTHING RETURNING request_id, attempt, kind'}
), counted AS MATERIALIZED (
  ${
    isUsual
      ? 'SELECT * FROM given WHERE (SELECT count(*) FROM inserted) > 0'
      : 'SELECT given.* FROM given JOIN inserted USING (request_id, attempt, kind)'
  }
)${isUsual ? '' : CORRECTED}${isLabelled ? LABELLED : ''}${rolledUp('usage_hours', NAMES, 'counted')}${isBatched ? BATCHED : ''}, ${CHARGED}
SELECT count(*)::integer AS nodes${isUsual ? `, ${HAS_LATE} AS is_late` : ''} FROM fence`
}

/**
 * Taken first by every writer about calls that others may write about at the same moment, so that the second sees what the first
 * wrote. An arbitrary number that no other lock of the database uses.
 */
export const LOCK_SHARED_CALLS =
  'SELECT pg_advisory_xact_lock(7061712, bucket) FROM unnest($1::integer[]) AS bucket'

export const START_NODE = `
INSERT INTO nodes (node_id, host, version, role, seals) VALUES ($1, $2, $3, $4, true)
ON CONFLICT (node_id) DO UPDATE SET seen_at = now() WHERE nodes.ended_at IS NULL`

/**
 * What the ledger has for the calls of some entries, whose request ids lie between the last two parameters. Each call is looked up
 * by itself, which `OFFSET 0` makes the planner keep: it joined them by reading the whole day where it had no statistics of it, as
 * after a crash, or thought that it was small. Others wait for these calls meanwhile.
 */
export const STANDING = `
SELECT entry.* FROM (
  SELECT DISTINCT request_id, attempt FROM unnest($1::uuid[], $2::smallint[]) AS given (request_id, attempt) ORDER BY 1, 2
) AS call CROSS JOIN LATERAL (
  SELECT * FROM usage_events
  WHERE usage_events.request_id = call.request_id AND usage_events.attempt = call.attempt
    AND usage_events.request_id BETWEEN $3 AND $4
  OFFSET 0
) AS entry
ORDER BY request_id, attempt, kind`

/** Run before it, so that no one else resolves these calls meanwhile. */
export const LOCK_STANDING = `${STANDING} FOR UPDATE OF entry`

/** Run before anything is written about a node that may be ended meanwhile: its end waits, or has come first. */
export const HOLD_NODE = 'SELECT 1 FROM nodes WHERE node_id = $1 FOR KEY SHARE'

/** The budgets of which a node holds leases, and those named, locked in the one order. */
export const LOCK_BUDGETS = `
SELECT 1 FROM budgets
WHERE (budget_id, window_start) IN (SELECT budget_id, window_start FROM leases WHERE node_id = $1)
  OR budget_id = ANY($2::text[])
ORDER BY budget_id, window_start FOR UPDATE`

export const BRING_HOME = `
WITH home AS (DELETE FROM leases WHERE node_id = $1 RETURNING budget_id, window_start, amount_nano)
UPDATE budgets SET leased_nano = leased_nano - home.amount_nano FROM home
WHERE budgets.budget_id = home.budget_id AND budgets.window_start = home.window_start`

export const OPEN_UNKNOWNS = `
SELECT * FROM usage_events AS entry
WHERE kind = 'unknown' AND ($2::uuid IS NULL OR (request_id, attempt) > ($2, $3::smallint))
  AND NOT EXISTS (
    SELECT FROM usage_events AS resolution
    WHERE resolution.request_id = entry.request_id AND resolution.attempt = entry.attempt
      AND resolution.kind IN ('post', 'void')
  )
ORDER BY request_id, attempt LIMIT $1`
