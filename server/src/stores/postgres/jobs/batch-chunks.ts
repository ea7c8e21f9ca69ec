/** Chunks of batches as rows. */
import type { LineRange } from '#core/batch/chunk.ts'
import type { HeldChunk } from '#ports/batches.ts'
import { plainArray, textArray } from '../arrays.ts'
import type { Sql } from '../database.ts'
import { batchOf, rangeOf, type BatchRow, type ChunkRow } from './batch-rows.ts'
import { BATCHES_OF, INSERT_CHUNKS } from './batches-sql.ts'

/** Rows that one statement writes or reads: a fraction of a second. */
export const PAGE_ROWS = 5000

export async function insertChunks(
  sql: Sql,
  batchId: string,
  chunks: readonly LineRange[],
  number = 0,
): Promise<void> {
  for (let first = 0; first < chunks.length; first += PAGE_ROWS) {
    const some = chunks.slice(first, first + PAGE_ROWS)
    await sql.query(INSERT_CHUNKS, [
      batchId,
      number + first,
      plainArray(some.map(({ firstByte }) => firstByte)),
      plainArray(some.map(({ bytes }) => bytes)),
      plainArray(some.map(({ firstLine }) => firstLine)),
      plainArray(some.map(({ lines }) => lines)),
      plainArray(some.map(({ without }) => without)),
    ])
  }
}

export async function heldOf(sql: Sql, chunks: readonly ChunkRow[]): Promise<readonly HeldChunk[]> {
  const ids = [...new Set(chunks.map(({ batch_id }) => batch_id))]
  const rows = await sql.query<BatchRow & { is_late: boolean }>(BATCHES_OF, [textArray(ids)])
  return chunks.flatMap((row) => {
    const batch = rows.find(({ batch_id }) => batch_id === row.batch_id)
    if (batch === undefined) return []
    return {
      hold: { batchId: row.batch_id, chunk: row.chunk, token: row.token },
      batch: batchOf(batch),
      isLate: batch.is_late,
      ...rangeOf(row),
    }
  })
}
