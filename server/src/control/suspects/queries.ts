/** Suspect windows, the requests that got vectors of them, and the batches that embed them again. */
import { z } from 'zod'
import { momentOf } from '#core/money/ledger.ts'
import { MIN_KEEP_DAYS } from '#core/settings.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { LINE_COUNT } from '#stores/postgres/suspects/statements.ts'
import { batchState } from '../shared/batch-fields.ts'
import { time } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'
import { isoOf } from '../shared/times.ts'

export const suspectWindow = z
  .object({
    id: z.string(),
    model: z.string(),
    deployment: z.string(),
    space: z.string().describe('The space whose name the vectors carry.'),
    from: time.describe(
      'The last good check of the deployment. Calls that ended up to 5 s before count too.',
    ),
    until: time
      .nullable()
      .describe('Its next good check, or the acceptance of another space. null: it is outside.'),
    found_at: time,
    unlisted_before: time
      .nullable()
      .describe(
        'Earlier requests may be missing from the list: the ledger of their days was dropped from the database. null: none is missing.',
      ),
    vectors: z.int().describe('Vectors that callers got.'),
    requests: z.int().describe('Requests outside batches that got some of them.'),
    keys: z.int().describe('Keys whose requests or batches got some of them.'),
    batch_lines: z
      .int()
      .describe('Lines of batches that have ended. A batch in progress makes such lines again by itself.'),
    repairable_vectors: z
      .int()
      .describe('Vectors whose inputs Torana has: lines of batches whose file is there.'),
    repaired_vectors: z.int().describe('Vectors that were made again.'),
    repaired_by: z.array(z.string()).describe('The batches that make them again.'),
    state: z
      .enum(['open', 'waiting', 'repairing', 'repaired'])
      .describe(
        '`open`: the deployment is outside its space. `waiting`: some vectors can be made again, and no repair of them was asked for. `repairing`: batches run. `repaired`: what can be made again was, and the others are in the list.',
      ),
  })
  .meta({ id: 'SuspectWindow' })

export const suspectVectors = z
  .object({
    request_id: z.string(),
    key: z.string(),
    project: z.string(),
    at: time.describe('When Torana accepted the request.'),
    inputs: z.int().describe('Vectors of the window that it got.'),
    batch: z.string().nullable(),
    lines: z
      .array(z.tuple([z.int(), z.int()]))
      .nullable()
      .describe(
        'First and last line of each run in the file of the batch, from 1. null: it is no batch, or its results are gone.',
      ),
    repairable: z.boolean().describe('Torana has the inputs.'),
  })
  .meta({ id: 'SuspectVectors' })

export const suspectRepair = z
  .object({
    batch: z.string().describe('The batch that makes the lines again. Its results have their `custom_id`.'),
    of: z.string().describe('The batch whose lines these are.'),
    project: z.string(),
    lines: z.int(),
    state: batchState.nullable().describe('null: its results have expired.'),
  })
  .meta({ id: 'SuspectRepair' })

const HAS_FILE = `lines IS NOT NULL AND EXISTS (
  SELECT FROM batches JOIN files ON file_id = input_file_id AND ends_at > now()
  WHERE batches.batch_id = suspect_vectors.batch_id)`

/** A batch whose row is gone has ended long ago. A line of a repair that fails leaves its vectors as they are. */
const REPAIRED = `CASE WHEN made_at IS NOT NULL AND (batches.batch_id IS NULL OR (state = 'completed' AND failed = 0))
  THEN inputs ELSE least(inputs, coalesce(completed, 0)) END`

/** When a window is found, the ledger has at least the fewest days that it may keep, and its requests are listed then. */
const UNLISTED_BEFORE = `(
  SELECT before FROM ledger_seal CROSS JOIN LATERAL (
    SELECT least(entries_kept_from, found_at - interval '${MIN_KEEP_DAYS} days') AS before
  ) AS dropped WHERE from_at < before)`

const WINDOWS = `
SELECT window_id AS id, model, deployment, space, from_at AS "from", until_at AS until, found_at,
  ${UNLISTED_BEFORE} AS unlisted_before, vectors, requests, keys,
  batch_lines, greatest(repairable, repaired) AS repairable_vectors, repaired AS repaired_vectors, repaired_by,
  CASE WHEN is_running THEN 'repairing' WHEN until_at IS NULL THEN 'open'
    WHEN vectors > 0 AND (repair_asked_at IS NULL OR unplanned > 0) THEN 'waiting' ELSE 'repaired' END AS state
FROM (
  SELECT * FROM suspect_windows
  WHERE ($1::text IS NULL OR window_id = $1)
    AND ($2::text IS NULL OR (found_at, window_id) < (SELECT found_at, window_id FROM suspect_windows WHERE window_id = $2))
  ORDER BY found_at DESC, window_id DESC LIMIT $3
) AS page CROSS JOIN LATERAL (
  SELECT coalesce(sum(inputs), 0) AS vectors, count(*) FILTER (WHERE batch_id IS NULL) AS requests,
    count(DISTINCT key_id) AS keys, coalesce(sum(${LINE_COUNT}), 0)::bigint AS batch_lines,
    coalesce(sum(inputs) FILTER (WHERE ${HAS_FILE}), 0) AS repairable,
    count(*) FILTER (WHERE ${HAS_FILE} AND NOT EXISTS (
      SELECT FROM suspect_repairs AS planned
      WHERE planned.window_id = suspect_vectors.window_id AND planned.batch_id = suspect_vectors.batch_id)) AS unplanned
  FROM suspect_vectors WHERE suspect_vectors.window_id = page.window_id
) AS counts CROSS JOIN LATERAL (
  SELECT coalesce(sum(${REPAIRED}), 0)::bigint AS repaired,
    coalesce(array_agg(repair_batch_id ORDER BY repair_batch_id), '{}') AS repaired_by,
    coalesce(bool_or(made_at IS NULL OR (batches.batch_id IS NOT NULL AND ended_at IS NULL)), false) AS is_running
  FROM suspect_repairs LEFT JOIN batches ON batches.batch_id = repair_batch_id CROSS JOIN LATERAL (
    SELECT coalesce(sum(inputs), 0) AS inputs FROM suspect_vectors
    WHERE suspect_vectors.window_id = suspect_repairs.window_id AND suspect_vectors.batch_id = suspect_repairs.batch_id
  ) AS source
  WHERE suspect_repairs.window_id = page.window_id
) AS repairs
ORDER BY found_at DESC, window_id DESC`

const VECTORS = `
SELECT request_id, key_id AS key, project, inputs, batch_id AS batch, lines, ${HAS_FILE} AS repairable
FROM suspect_vectors WHERE window_id = $1 AND ($2::uuid IS NULL OR request_id > $2) ORDER BY request_id LIMIT $3`

const REPAIRS = `
SELECT repair_batch_id AS batch, suspect_repairs.batch_id AS of, source.project, source.lines, state
FROM suspect_repairs LEFT JOIN batches ON batches.batch_id = repair_batch_id CROSS JOIN LATERAL (
  SELECT min(project) AS project, coalesce(sum(${LINE_COUNT}), 0)::bigint AS lines FROM suspect_vectors
  WHERE suspect_vectors.window_id = suspect_repairs.window_id AND suspect_vectors.batch_id = suspect_repairs.batch_id
) AS source
WHERE suspect_repairs.window_id = $1 ORDER BY suspect_repairs.batch_id`

/** Newest first. */
export function listWindows(
  sql: Sql,
  { id, after, limit }: { id?: string; after?: string | undefined; limit: number },
) {
  return answersOf<z.output<typeof suspectWindow>>(sql, WINDOWS, [id ?? null, after ?? null, limit])
}

/** Oldest first. */
export async function listVectors(
  sql: Sql,
  windowId: string,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<z.output<typeof suspectVectors>[]> {
  const rows = await answersOf<Omit<z.output<typeof suspectVectors>, 'at'>>(sql, VECTORS, [
    windowId,
    after ?? null,
    limit,
  ])
  return rows.map((row) => ({ ...row, at: isoOf(momentOf(row.request_id)) }))
}

export function listRepairs(sql: Sql, windowId: string) {
  return answersOf<z.output<typeof suspectRepair>>(sql, REPAIRS, [windowId])
}
