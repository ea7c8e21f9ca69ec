/** Room for the results of batches, within the quota of their project. */
import { ChunkLost, type ChunkEnd, type ChunkHold, type WantedRoom } from '#ports/batches.ts'
import type { Sql } from '../database.ts'
import { keptBy, lockKept } from './kept-bytes.ts'

const HELD = `
SELECT project, batch_chunks.kept_bytes FROM batch_chunks JOIN batches USING (batch_id)
WHERE batch_id = $1 AND chunk = $2 AND token = $3 AND batch_chunks.state = 'held'`

const ADD_KEPT = 'UPDATE batches SET kept_bytes = kept_bytes + $2 WHERE batch_id = $1'

const SET_KEPT = `
UPDATE batch_chunks SET kept_bytes = $4 WHERE batch_id = $1 AND chunk = $2 AND token = $3 AND state = 'held' RETURNING 1`

/** Must run in a transaction, which is rolled back when the chunk is lost. */
export async function takeRoom(
  sql: Sql,
  { batchId, chunk, token }: ChunkHold,
  { leastBytes, mostBytes }: WantedRoom,
  maxBytes: number,
): Promise<number> {
  const lost = (): ChunkLost => new ChunkLost(`chunk ${chunk} of ${batchId} is no longer this node's`)
  const values = [batchId, chunk, token]
  const [held] = await sql.query<{ project: string; kept_bytes: bigint }>(HELD, values)
  if (held === undefined) throw lost()
  await lockKept(sql, held.project)
  const before = Number(held.kept_bytes)
  const { bytes } = await keptBy(sql, held.project)
  const room = Math.min(mostBytes, maxBytes - (bytes - before))
  if (room < leastBytes) return 0
  await sql.query(ADD_KEPT, [batchId, room - before])
  if ((await sql.query(SET_KEPT, [...values, room])).length === 0) throw lost()
  return room
}

/** The bytes kept of a chunk that ended, or null if unknown; and the minimum that is kept. */
export function keptOfChunk({ part, pictureBytes }: ChunkEnd): readonly [number | null, number] {
  if (part === undefined) return [0, 0]
  const partBytes = part.headBytes + part.outputBytes + part.errorBytes
  return [pictureBytes === undefined ? null : partBytes + pictureBytes, partBytes]
}
