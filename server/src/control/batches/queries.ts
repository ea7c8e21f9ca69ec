/** Batches for the control API. No line of a batch, and no result of one, is ever among the answers. */
import { z } from 'zod'
import type { Batch, BatchState } from '#ports/batches.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { batchOf, type BatchRow } from '#stores/postgres/jobs/batch-rows.ts'
import { USED } from '#stores/postgres/jobs/batches-sql.ts'
import { batchBody, reportedBatch } from '../shared/batch-fields.ts'
import { answersOf } from '../shared/rows.ts'
import { isoOf } from '../shared/times.ts'

export const reportedBatchDetail = reportedBatch
  .extend({
    metadata: z.record(z.string(), z.string()),
    file_errors: z
      .array(
        z.object({
          code: z.string(),
          message: z.string(),
          param: z.string().nullable(),
          line: z.int().nullable(),
        }),
      )
      .describe('Why its file could not be run.'),
    faults: z
      .array(z.object({ code: z.string(), lines: z.int() }))
      .describe('Lines that failed, by code; the most first.'),
    lines_per_second: z.number().nullable().describe('Over the last five minutes; null: it has ended.'),
    series: z
      .object({ slot_ms: z.int(), lines: z.array(z.int()) })
      .describe('Lines that were done in each slot, from `created_at` on.'),
  })
  .meta({ id: 'ReportedBatchDetail' })

/** $1: projects; $2: states; $3: the batches that had not ended then; $4: the last batch of the page before. */
const LIST = `
SELECT batches.*, ${USED} FROM batches
WHERE ($1::text[] IS NULL OR project = ANY ($1)) AND ($2::text[] IS NULL OR state = ANY ($2))
  AND ($3::timestamptz IS NULL OR ended_at IS NULL OR ended_at >= $3) AND ($4::text IS NULL OR batch_id < $4)
ORDER BY batch_id DESC LIMIT $5`

const FIND = `SELECT batches.*, ${USED} FROM batches WHERE batch_id = $1`

const FAULTS = `
SELECT key AS code, sum(value::bigint)::bigint AS lines
FROM batch_chunks, jsonb_each_text(faults) WHERE batch_id = $1 AND faults IS NOT NULL
GROUP BY key ORDER BY 2 DESC, 1`

/** One row for each slot in which lines were done. The last slot includes the end. */
const SERIES = `
SELECT greatest(0, least(floor(extract(epoch FROM done_at - $2::timestamptz) * 1000 / $3::float8), $4 - 1))::integer AS slot,
  sum(lines)::bigint AS lines, coalesce(sum(lines) FILTER (WHERE done_at > $5::timestamptz), 0)::bigint AS recent
FROM batch_chunks WHERE batch_id = $1 AND done_at IS NOT NULL GROUP BY 1 ORDER BY 1`

/** Columns of the chart of a batch. */
const SLOTS = 60
/** Shorter slots would show the clock more than the batch. */
const MIN_SLOT_MS = 1000
/** Time over which the rate of a batch is measured: a chunk of a slow model takes a minute, so over less the rate would jump. */
const RATE_MS = 5 * 60_000

export interface BatchFilter {
  /** Undefined: all. */
  readonly projects: readonly string[] | undefined
  readonly states?: readonly BatchState[] | undefined
  /** Those that have not ended, or ended then or later. */
  readonly openSinceMs?: number | undefined
  /** The id of the last batch of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

/** Newest first. */
export async function listBatches(sql: Sql, filter: BatchFilter): Promise<z.output<typeof reportedBatch>[]> {
  const { projects, states, openSinceMs, after, limit } = filter
  const since = openSinceMs === undefined ? null : new Date(openSinceMs)
  const values = [projects ?? null, states ?? null, since, after ?? null, limit]
  const rows = await sql.query<BatchRow>(LIST, values)
  return rows.map((row) => batchBody(batchOf(row)))
}

export async function findBatch(sql: Sql, id: string): Promise<Batch | undefined> {
  const [row] = await sql.query<BatchRow>(FIND, [id])
  return row && batchOf(row)
}

export async function batchDetail(
  sql: Sql,
  batch: Batch,
  nowMs: number,
): Promise<z.output<typeof reportedBatchDetail>> {
  const { id, createdAtMs, endedAtMs } = batch
  const tookMs = Math.max(0, (endedAtMs ?? nowMs) - createdAtMs)
  const slotMs = Math.max(MIN_SLOT_MS, Math.ceil(tookMs / SLOTS))
  const slots = Math.max(1, Math.ceil(tookMs / slotMs))
  const series = [id, isoOf(createdAtMs), slotMs, slots, isoOf(nowMs - RATE_MS)]
  const [faults, done] = await Promise.all([
    answersOf<{ code: string; lines: number }>(sql, FAULTS, [id]),
    answersOf<{ slot: number; lines: number; recent: number }>(sql, SERIES, series),
  ])
  const linesIn = new Map(done.map(({ slot, lines }) => [slot, lines]))
  const recentLines = done.reduce((sum, { recent }) => sum + recent, 0)
  const countedMs = Math.min(RATE_MS, Math.max(1000, nowMs - createdAtMs))
  return {
    ...batchBody(batch),
    metadata: { ...batch.metadata },
    file_errors: batch.errors.map(({ param = null, line = null, ...error }) => ({ ...error, param, line })),
    faults,
    lines_per_second: endedAtMs === undefined ? Math.round((recentLines / countedMs) * 10_000) / 10 : null,
    series: { slot_ms: slotMs, lines: Array.from({ length: slots }, (_, slot) => linesIn.get(slot) ?? 0) },
  }
}
