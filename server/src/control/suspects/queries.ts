/** Suspect windows, and the requests that got vectors of them. */
import { z } from 'zod'
import { momentOf } from '#core/money/ledger.ts'
import { MIN_KEEP_DAYS } from '#core/settings.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { LINE_COUNT } from '#stores/postgres/suspects/statements.ts'
import { time } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'
import { isoOf } from '../shared/times.ts'

export const suspectWindow = z
  .object({
    id: z.string(),
    model: z.string(),
    deployment: z.string(),
    space: z.string().describe('The own space of the model, which the deployment may have left.'),
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
  })
  .meta({ id: 'SuspectVectors' })

/** When a window is found, the ledger has at least the fewest days that it may keep, and its requests are listed then. */
const UNLISTED_BEFORE = `(
  SELECT before FROM ledger_seal CROSS JOIN LATERAL (
    SELECT least(entries_kept_from, found_at - interval '${MIN_KEEP_DAYS} days') AS before
  ) AS dropped WHERE from_at < before)`

const WINDOWS = `
SELECT window_id AS id, model, deployment, space, from_at AS "from", until_at AS until, found_at,
  ${UNLISTED_BEFORE} AS unlisted_before, vectors, requests, keys, batch_lines
FROM (
  SELECT * FROM suspect_windows
  WHERE $1::text IS NULL OR (found_at, window_id) < (SELECT found_at, window_id FROM suspect_windows WHERE window_id = $1)
  ORDER BY found_at DESC, window_id DESC LIMIT $2
) AS page CROSS JOIN LATERAL (
  SELECT coalesce(sum(inputs), 0) AS vectors, count(*) FILTER (WHERE batch_id IS NULL) AS requests,
    count(DISTINCT key_id) AS keys, coalesce(sum(${LINE_COUNT}), 0)::bigint AS batch_lines
  FROM suspect_vectors WHERE suspect_vectors.window_id = page.window_id
) AS counts
ORDER BY found_at DESC, window_id DESC`

const VECTORS = `
SELECT request_id, key_id AS key, project, inputs, batch_id AS batch, lines
FROM suspect_vectors WHERE window_id = $1 AND ($2::uuid IS NULL OR request_id > $2) ORDER BY request_id LIMIT $3`

/** Newest first. */
export function listWindows(
  sql: Sql,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
) {
  return answersOf<z.output<typeof suspectWindow>>(sql, WINDOWS, [after ?? null, limit])
}

export async function hasWindow(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql.query('SELECT FROM suspect_windows WHERE window_id = $1', [id])
  return rows.length > 0
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
