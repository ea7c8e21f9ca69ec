/** Nodes of the installation, and what the doctor asks PostgreSQL. */
import { z } from 'zod'
import type { Actor } from '#ports/audit.ts'
import type { NodeSetup } from '#ports/node-setup.ts'
import { SILENT_AFTER_MS } from '#ports/upkeep.ts'
import { writeAudit } from '#stores/postgres/audit.ts'
import type { Database, Sql } from '#stores/postgres/database.ts'
import { BRING_HOME, LOCK_BUDGETS } from '#stores/postgres/ledger/ledger-sql.ts'
import { lowestIdAt } from '#core/money/id-range.ts'
import { IS_OF_CALLERS } from '../shared/request-conditions.ts'
import { time, usd } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'

export const node = z
  .object({
    id: z.string(),
    host: z.string(),
    version: z.string(),
    role: z.string().describe('What the node does: `all`, `gateway`, `control` or `worker`.'),
    state: z.enum(['alive', 'silent', 'ended']).describe('`silent`: not seen for a minute, but not ended.'),
    started_at: time,
    seen_at: time,
    ended_at: time.nullable(),
    leased_usd: usd.describe('Part of the hard budgets that the node has leased.'),
    now: z
      .object({
        loop_busy: z.number().describe('0 to 1: the share of time in which its event loop was busy.'),
        spool_waiting: z.int().describe('Usage records that wait on its disk for PostgreSQL.'),
        calls_under_way: z.int(),
      })
      .nullable()
      .describe('What it reported in the last seconds. null: nothing.'),
  })
  .meta({ id: 'Node' })

export interface ListedNode extends Omit<z.output<typeof node>, 'now'> {
  /** Null when the node has not reported any, or is of an earlier version. */
  readonly setup: NodeSetup | null
}

/** Length of the list. Live nodes come first, so that a week of restarts does not hide them. */
const MAX_LISTED = 500

const STATE = `CASE WHEN ended_at IS NOT NULL THEN 'ended'
  WHEN seen_at < now() - interval '${SILENT_AFTER_MS} milliseconds' THEN 'silent' ELSE 'alive' END`

const LIST = `
SELECT node_id AS id, host, version, role, ${STATE} AS state, started_at, seen_at, ended_at,
  coalesce(held.leased_nano, 0)::bigint AS leased_nano, setup
FROM nodes LEFT JOIN (
  SELECT node_id, sum(amount_nano) AS leased_nano FROM leases GROUP BY node_id
) AS held USING (node_id)
ORDER BY ended_at IS NOT NULL, started_at DESC, node_id LIMIT ${MAX_LISTED}`

/** Nodes that have not ended, and those that ended in the last days; newest first. */
export function listNodes(sql: Sql): Promise<ListedNode[]> {
  return answersOf<ListedNode>(sql, LIST)
}

export type NodeEnding =
  | { readonly kind: 'ended'; readonly returnedNanoUsd: bigint }
  | { readonly kind: 'missing' | 'alive' | 'ended-before' }

/**
 * An operator declares that the machine of a node is gone: its leases are returned, and nothing more is accepted in its
 * name. What its journal held is lost with it. A node seen within `SILENT_AFTER_MS` is refused as `alive` unless forced,
 * because it would have to stop. The audit entry is written in the same transaction.
 */
export function endNode(
  database: Database,
  nodeId: string,
  { force, actor }: { readonly force: boolean; readonly actor: Actor },
): Promise<NodeEnding> {
  return database.transaction(async (sql) => {
    // Waits for a batch of that node that is being written; a later one finds the node ended.
    const [found] = await sql.query<{ state: ListedNode['state']; host: string; seen_at: Date }>(
      `SELECT ${STATE} AS state, host, seen_at FROM nodes WHERE node_id = $1 FOR UPDATE`,
      [nodeId],
    )
    if (found === undefined) return { kind: 'missing' }
    if (found.state === 'ended') return { kind: 'ended-before' }
    if (found.state === 'alive' && !force) return { kind: 'alive' }
    await sql.query(LOCK_BUDGETS, [nodeId, []])
    const [held] = await sql.query<{ nano: bigint }>(
      'SELECT coalesce(sum(amount_nano), 0)::bigint AS nano FROM leases WHERE node_id = $1',
      [nodeId],
    )
    const returnedNanoUsd = held?.nano ?? 0n
    await sql.query(BRING_HOME, [nodeId])
    await sql.query('UPDATE nodes SET ended_at = now() WHERE node_id = $1', [nodeId])
    const seenAt = found.seen_at.toISOString()
    await writeAudit(sql, database.auditChain, {
      actor,
      action: 'node.end',
      target: nodeId,
      detail: { host: found.host, seenAt, force, returnedNanoUsd: String(returnedNanoUsd) },
    })
    return { kind: 'ended', returnedNanoUsd }
  })
}

export interface ServerSettings {
  /** Whether commits reach the disk at all. */
  readonly fsync: boolean
  /** `off`: the server acknowledges commits of the ledger that a crash can still lose. */
  readonly synchronous_commit: string
  /** Open to ordinary users. */
  readonly max_connections: number
}

/** `current_setting` answers for this session: a database or a role may have a value of its own. */
const SETTINGS = `
SELECT current_setting('fsync') = 'on' AS fsync, current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
    - coalesce(current_setting('reserved_connections', true), '0')::integer AS max_connections`

export async function serverSettings(sql: Sql): Promise<ServerSettings> {
  const [settings] = await sql.query<ServerSettings>(SETTINGS)
  if (settings === undefined) throw new Error('PostgreSQL gave no settings')
  return settings
}

export interface NewestRequests {
  readonly requests: number
  /** Requests that failed through no mistake of the caller (status 500 and above), by fault, the most frequent first. */
  readonly failures: readonly { readonly fault: string; readonly requests: number }[]
}

const NEWEST_MS = 15 * 60_000
/** Requests that are read: enough for a share, and read in milliseconds at any rate. */
const MAX_NEWEST = 1000

const NEWEST = `
SELECT CASE WHEN status >= 500 THEN coalesce(fault, 'status ' || status) END AS fault, count(*)::integer AS requests
FROM (
  SELECT status, fault FROM requests WHERE request_id >= $1 AND ${IS_OF_CALLERS} ORDER BY request_id DESC LIMIT ${MAX_NEWEST}
) AS newest GROUP BY 1 ORDER BY requests DESC, fault`

/** How the newest requests of the last 15 minutes ended. */
export async function newestRequests(sql: Sql, nowMs: number): Promise<NewestRequests> {
  const since = lowestIdAt(nowMs - NEWEST_MS)
  const rows = await sql.query<{ fault: string | null; requests: number }>(NEWEST, [since])
  return {
    requests: rows.reduce((sum, { requests }) => sum + requests, 0),
    failures: rows.flatMap(({ fault, requests }) => (fault === null ? [] : [{ fault, requests }])),
  }
}
