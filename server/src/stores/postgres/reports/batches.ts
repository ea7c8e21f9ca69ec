/** Reads batches for people. */
import {
  RATE_MS,
  type BatchFigures,
  type BatchFilter,
  type BatchReports,
  type ReportedBatch,
} from '#ports/batch-reports.ts'
import { reachable } from '../away.ts'
import type { Database } from '../database.ts'
import { batchOf, type BatchRow } from '../jobs/batch-rows.ts'
import { USED } from '../jobs/batches-sql.ts'

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

/** One row a slot in which lines were done. The last slot has the end in it. */
const SERIES = `
SELECT greatest(0, least(floor(extract(epoch FROM done_at - $2::timestamptz) * 1000 / $3::float8), $4 - 1))::integer AS slot,
  sum(lines)::bigint AS lines, coalesce(sum(lines) FILTER (WHERE done_at > $5::timestamptz), 0)::bigint AS recent
FROM batch_chunks WHERE batch_id = $1 AND done_at IS NOT NULL GROUP BY 1 ORDER BY 1`

/** As many as a picture has columns. */
const SLOTS = 60
/** Shorter ones would tell more of the clock than of the batch. */
const LEAST_SLOT_MS = 1000

export class PostgresBatchReports implements BatchReports {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async list(
    { projects, states, openSinceMs }: BatchFilter,
    { limit, after }: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<readonly ReportedBatch[]> {
    const since = openSinceMs === undefined ? null : new Date(openSinceMs)
    const values = [projects ?? null, states ?? null, since, after ?? null, limit]
    const rows = await reachable(this.#database.query<BatchRow>(LIST, values))
    return rows.map(reportedOf)
  }

  async find(id: string): Promise<ReportedBatch | undefined> {
    const [row] = await reachable(this.#database.query<BatchRow>(FIND, [id]))
    return row && reportedOf(row)
  }

  async figures({ id, createdAtMs, endedAtMs }: ReportedBatch, nowMs: number): Promise<BatchFigures> {
    const tookMs = Math.max(0, (endedAtMs ?? nowMs) - createdAtMs)
    const slotMs = Math.max(LEAST_SLOT_MS, Math.ceil(tookMs / SLOTS))
    const slots = Math.max(1, Math.ceil(tookMs / slotMs))
    const recent = new Date(nowMs - RATE_MS)
    const [faults, done] = await reachable(
      Promise.all([
        this.#database.query<{ code: string; lines: bigint }>(FAULTS, [id]),
        this.#database.query<{ slot: number; lines: bigint; recent: bigint }>(SERIES, [
          id,
          new Date(createdAtMs),
          slotMs,
          slots,
          recent,
        ]),
      ]),
    )
    const linesIn = new Map(done.map(({ slot, lines }) => [slot, Number(lines)]))
    return {
      faults: faults.map(({ code, lines: failed }) => ({ code, lines: Number(failed) })),
      series: { slotMs, lines: Array.from({ length: slots }, (_, slot) => linesIn.get(slot) ?? 0) },
      recentLines: done.reduce((sum, row) => sum + Number(row.recent), 0),
    }
  }
}

function reportedOf(row: BatchRow): ReportedBatch {
  const { terms: _, ...shown } = batchOf(row)
  return shown
}
