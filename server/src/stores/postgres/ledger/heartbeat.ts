/** The heartbeat of a node, one statement. */
import { DatabaseError } from 'pg'
import { NodeEnded, type Heartbeat, type NodeReport, type WaitingWork } from '#ports/ledger.ts'
import { reachable } from '../unreachable.ts'
import type { Sql } from '../database.ts'
import { LIVE_SECONDS, WAITING_WORK } from './waiting-work.ts'

const heartbeatWith = (work: string): string => `
WITH beat AS (
  UPDATE nodes SET seen_at = now(), setup = coalesce($2::jsonb, setup), clock_skew_ms = coalesce($3::float8, clock_skew_ms)
  WHERE node_id = $1 AND ended_at IS NULL
  RETURNING node_id, role, started_at, clock_skew_ms
)
SELECT (SELECT count(*) FROM beat)::integer AS alive,
  (SELECT count(*) FROM nodes
   WHERE ended_at IS NULL AND role IN ('all', 'gateway') AND node_id <> $1
     AND seen_at > now() - interval '${LIVE_SECONDS} seconds')::integer AS others,
  (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now_ms, ${work} AS work`

const HEARTBEAT = heartbeatWith(WAITING_WORK)
/** Reads no table but that of the nodes. */
const HEARTBEAT_ALONE = heartbeatWith('NULL::jsonb')

interface HeartbeatRow {
  readonly alive: number
  readonly others: number
  readonly now_ms: number
  readonly work: WaitingWork | null
}

export async function heartbeat(
  sql: Sql,
  nodeId: string,
  { setup, clockSkewMs }: NodeReport,
): Promise<Heartbeat> {
  const values = [nodeId, setup === undefined ? null : JSON.stringify(setup), clockSkewMs ?? null]
  const beat = (text: string, name: string): Promise<readonly HeartbeatRow[]> =>
    sql.query<HeartbeatRow>(text, values, name)
  const [row] = await reachable(
    beat(HEARTBEAT, 'heartbeat').catch((error: unknown) => {
      // A migration locks or changes a table in which work waits: the node lives nonetheless.
      if (error instanceof DatabaseError) return beat(HEARTBEAT_ALONE, 'heartbeat-alone')
      throw error
    }),
  )
  if (row?.alive !== 1) throw new NodeEnded(`node ${nodeId} has been ended`)
  return { liveNodes: 1 + row.others, storeNowMs: row.now_ms, work: row.work ?? undefined }
}
