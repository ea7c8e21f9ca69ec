import type { Actor } from '#ports/audit.ts'
import type { NodeSetup } from '#ports/node-setup.ts'
import { SILENT_AFTER_MS, type NodeEnding, type NodeRecord, type NodeRegister } from '#ports/upkeep.ts'
import { reachable } from '../away.ts'
import { writeAudit } from '../audit.ts'
import type { Database } from '../database.ts'
import { BRING_HOME, LOCK_BUDGETS } from './ledger-sql.ts'

/** A page for people. Those that live come first, so that a week of restarts does not hide them. */
const LISTED_MAX = 500

const STATE = `CASE WHEN ended_at IS NOT NULL THEN 'ended'
  WHEN seen_at < now() - interval '${SILENT_AFTER_MS} milliseconds' THEN 'silent' ELSE 'alive' END`

const LIST = `
SELECT nodes.*, ${STATE} AS state, coalesce(held.leased_nano, 0)::bigint AS leased_nano
FROM nodes LEFT JOIN (
  SELECT node_id, sum(amount_nano) AS leased_nano FROM leases GROUP BY node_id
) AS held USING (node_id)
ORDER BY ended_at IS NOT NULL, started_at DESC, node_id LIMIT ${LISTED_MAX}`

interface NodeRow {
  readonly node_id: string
  readonly host: string
  readonly version: string
  readonly role: string
  readonly started_at: Date
  readonly seen_at: Date
  readonly ended_at: Date | null
  readonly state: NodeRecord['state']
  readonly leased_nano: bigint
  readonly setup: NodeSetup | null
}

export class PostgresNodes implements NodeRegister {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async list(): Promise<readonly NodeRecord[]> {
    const rows = await reachable(this.#database.query<NodeRow>(LIST))
    return rows.map((row) => ({
      id: row.node_id,
      host: row.host,
      version: row.version,
      role: row.role,
      startedAtMs: row.started_at.getTime(),
      seenAtMs: row.seen_at.getTime(),
      endedAtMs: row.ended_at?.getTime(),
      state: row.state,
      leasedNanoUsd: row.leased_nano,
      setup: row.setup ?? undefined,
    }))
  }

  end(
    nodeId: string,
    { force, actor }: { readonly force: boolean; readonly actor: Actor },
  ): Promise<NodeEnding> {
    return reachable(
      this.#database.transaction(async (sql): Promise<NodeEnding> => {
        // Waits for a batch of that node which is being written; one that comes later finds the node ended.
        const [node] = await sql.query<NodeRow>(
          `SELECT *, ${STATE} AS state FROM nodes WHERE node_id = $1 FOR UPDATE`,
          [nodeId],
        )
        if (node === undefined) return { kind: 'missing' }
        if (node.state === 'ended') return { kind: 'ended-before' }
        if (node.state === 'alive' && !force) return { kind: 'alive' }
        await sql.query(LOCK_BUDGETS, [nodeId, []])
        const [held] = await sql.query<{ nano: bigint }>(
          'SELECT coalesce(sum(amount_nano), 0)::bigint AS nano FROM leases WHERE node_id = $1',
          [nodeId],
        )
        const returnedNanoUsd = held?.nano ?? 0n
        await sql.query(BRING_HOME, [nodeId])
        await sql.query('UPDATE nodes SET ended_at = now() WHERE node_id = $1', [nodeId])
        const { host, seen_at: seenAt } = node
        await writeAudit(sql, this.#database.auditChain, {
          actor,
          action: 'node.end',
          target: nodeId,
          detail: { host, seenAt: seenAt.toISOString(), force, returnedNanoUsd: String(returnedNanoUsd) },
        })
        return { kind: 'ended', returnedNanoUsd }
      }),
    )
  }
}
