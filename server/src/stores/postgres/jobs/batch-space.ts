/** Results of a batch that have left their vector space: they are dropped before the batch ends. */
import { spacePauseMs } from '#core/batch/space-pause.ts'
import { spaceNames } from '#core/embedding/made-vectors.ts'
import type { HasLeftSpace } from '#ports/batches.ts'
import { plainArray, textArray } from '../arrays.ts'
import type { Sql } from '../database.ts'
import { insertChunks, PAGE_ROWS } from './batch-chunks.ts'
import { countedOf, rangeOf, type BatchRow, type MadeRow } from './batch-rows.ts'
import { DROP_COUNTS, DROP_PARTS, MADE_CHUNKS, RESIZE_OUTPUT } from './batches-sql.ts'

/** The batch without the results that have left their space. Their lines run again, unless the batch was cancelled. */
export async function keptInSpace(sql: Sql, row: BatchRow, hasLeftSpace: HasLeftSpace): Promise<BatchRow> {
  const { batch_id, state, chunks, dropped_lines, lines } = row
  const spaces = new Set<string>()
  const left: MadeRow[] = []
  for (let after = -1; ;) {
    const made = await sql.query<MadeRow>(MADE_CHUNKS, [batch_id, after, PAGE_ROWS])
    for (const one of made)
      if (one.made.some(hasLeftSpace)) left.push(one)
      else for (const space of spaceNames(one.made)) spaces.add(space)
    if (made.length < PAGE_ROWS) break
    after = made.at(-1)?.chunk ?? after
  }
  if (left.length === 0) return row
  const again = state === 'cancelling' ? [] : left.map(rangeOf)
  await sql.query(DROP_PARTS, [batch_id, plainArray(left.map(({ chunk }) => chunk))])
  await insertChunks(sql, batch_id, again, chunks)
  const pauseMs = state === 'cancelling' ? 0 : spacePauseMs(dropped_lines, lines)
  const counted = [textArray([...spaces].sort()), ...countedOf(left), pauseMs]
  const [kept] = await sql.query<BatchRow>(DROP_COUNTS, [batch_id, again.length, ...counted])
  await sql.query(RESIZE_OUTPUT, [batch_id])
  return kept as BatchRow
}
