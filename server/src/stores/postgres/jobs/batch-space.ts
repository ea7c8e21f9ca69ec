/** Results of a batch before it ends: those that are not final are dropped, or waited for. */
import { finalAction } from '#core/batch/final.ts'
import { spacePauseMs } from '#core/batch/space-pause.ts'
import { largerSize, type CallSize } from '#core/embedding/call-size.ts'
import { spaceNames, type MadeVectors } from '#core/embedding/made-vectors.ts'
import type { ConfirmedBatch, JudgeMade, UnconfirmedBatch } from '#ports/batches.ts'
import { plainArray, textArray } from '../arrays.ts'
import type { Sql } from '../database.ts'
import { insertChunks, PAGE_ROWS } from './batch-chunks.ts'
import { countedOf, rangeOf, type BatchRow, type MadeRow } from './batch-rows.ts'
import { DROP_COUNTS, DROP_PARTS, MADE_CHUNKS, RESIZE_OUTPUT, WAITED_MS } from './batches-sql.ts'

/** The batch without the results that are to be made again. Their lines run again, unless the batch was cancelled. */
export interface KeptInSpace {
  readonly row: BatchRow
  /** What waits for a probe. Undefined: nothing. */
  readonly waiting: UnconfirmedBatch | undefined
}

export async function keptInSpace(
  sql: Sql,
  row: BatchRow,
  judge: JudgeMade,
  confirmed: ConfirmedBatch | undefined,
): Promise<KeptInSpace> {
  const { batch_id, state, chunks, dropped_lines, lines } = row
  const isCancelling = state === 'cancelling'
  const isConfirmed = ({ deployment }: MadeVectors): boolean =>
    confirmed?.chunks === chunks && confirmed.deployments.has(deployment)
  const [{ waited_ms: waitedMs = 0 } = {}] = await sql.query<{ waited_ms: number }>(WAITED_MS, [batch_id])
  const actionFor = (made: MadeVectors): ReturnType<typeof finalAction> => {
    const known = judge(made)
    const now = known !== 'left' && isConfirmed(made) ? 'final' : known
    return finalAction({ state: now, isCancelling, waitedMs })
  }
  const spaces = new Set<string>()
  const left: MadeRow[] = []
  const waiting = new Map<string, CallSize | undefined>()
  for (let after = -1; ;) {
    const rows = await sql.query<MadeRow>(MADE_CHUNKS, [batch_id, after, PAGE_ROWS])
    for (const one of rows) {
      const actions = one.made.map((made) => [actionFor(made), made] as const)
      if (actions.some(([action]) => action === 'again')) {
        left.push(one)
        continue
      }
      for (const space of spaceNames(one.made)) spaces.add(space)
      for (const [action, { deployment, largest }] of actions)
        if (action === 'wait') {
          const most = waiting.get(deployment)
          waiting.set(deployment, most && largest ? largerSize(most, largest) : (largest ?? most))
        }
    }
    if (rows.length < PAGE_ROWS) break
    after = rows.at(-1)?.chunk ?? after
  }
  const made = [...waiting].map(([deployment, largest]) => ({ deployment, largest }))
  if (left.length === 0)
    return { row, waiting: made.length === 0 ? undefined : { id: batch_id, chunks, made } }
  const again = isCancelling ? [] : left.map(rangeOf)
  await sql.query(DROP_PARTS, [batch_id, plainArray(left.map(({ chunk }) => chunk))])
  await insertChunks(sql, batch_id, again, chunks)
  const pauseMs = isCancelling ? 0 : spacePauseMs(dropped_lines, lines)
  const counted = [textArray([...spaces].sort()), ...countedOf(left), pauseMs]
  const [kept] = await sql.query<BatchRow>(DROP_COUNTS, [batch_id, again.length, ...counted])
  await sql.query(RESIZE_OUTPUT, [batch_id])
  // A batch that goes on waits for nothing yet.
  const isWaiting = again.length === 0 && made.length > 0
  return { row: kept as BatchRow, waiting: isWaiting ? { id: batch_id, chunks, made } : undefined }
}
