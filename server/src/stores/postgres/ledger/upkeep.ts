import { SYSTEM } from '#ports/audit.ts'
import type { Clock } from '#ports/clock.ts'
import type { LedgerStore } from '#ports/ledger.ts'
import {
  HOURS_KEPT_DAYS,
  REQUEST_LOG_DAYS,
  UNKNOWN_POSTED_AFTER_MS,
  type OldDropped,
  type PartitionsMade,
  type Upkeep,
} from '#ports/upkeep.ts'
import { reachable } from '../unreachable.ts'
import type { Database } from '../database.ts'
import { LIVE_SECONDS } from './ledger-sql.ts'
import { deleteProjects } from './upkeep-deletion.ts'
import { rollUpOpenDays } from './roll-up.ts'
import { DAY_MS, lowestIdAt } from '#core/money/id-range.ts'
import { dropHours, dropRequestDays, makePartitions } from './upkeep-partitions.ts'

/** Long enough to find out what happened to a node last weekend. */
const ENDED_NODE_DAYS = 7
/** Rows that one statement deletes or resolves: a fraction of a second. */
const PAGE_ROWS = 1000

const OVERDUE = `
SELECT request_id, attempt FROM usage_events AS entry
WHERE kind = 'unknown' AND written_at < $1
  AND NOT EXISTS (
    SELECT FROM usage_events AS resolution
    WHERE resolution.request_id = entry.request_id AND resolution.attempt = entry.attempt
      AND resolution.kind IN ('post', 'void')
  )
ORDER BY request_id, attempt LIMIT ${PAGE_ROWS}`

const DELETE_REST = `
DELETE FROM requests_rest WHERE request_id IN (
  SELECT request_id FROM requests_rest WHERE request_id < $1 ORDER BY request_id LIMIT ${PAGE_ROWS}
) RETURNING 1`

export class PostgresUpkeep implements Upkeep {
  readonly #database: Database
  readonly #ledger: LedgerStore
  readonly #clock: Clock

  constructor(database: Database, ledger: LedgerStore, clock: Clock) {
    this.#database = database
    this.#ledger = ledger
    this.#clock = clock
  }

  async isEldest(nodeId: string): Promise<boolean> {
    const [eldest] = await reachable(
      this.#database.query<{ node_id: string }>(
        `SELECT node_id FROM nodes
         WHERE ended_at IS NULL AND role IN ('all', 'worker') AND seen_at > now() - interval '${LIVE_SECONDS} seconds'
         ORDER BY started_at, node_id LIMIT 1`,
      ),
    )
    return eldest?.node_id === nodeId
  }

  makePartitions(): Promise<PartitionsMade> {
    return reachable(makePartitions(this.#database, this.#clock.nowMs()))
  }

  dropOld(): Promise<OldDropped> {
    return reachable(this.#dropOld(this.#clock.nowMs()))
  }

  rollUpDays(): Promise<void> {
    return reachable(rollUpOpenDays(this.#database, this.#clock.nowMs()))
  }

  expireUnknowns(): Promise<number> {
    return reachable(this.#expireUnknowns(new Date(this.#clock.nowMs() - UNKNOWN_POSTED_AFTER_MS)))
  }

  deleteProjects(): Promise<readonly string[]> {
    return reachable(deleteProjects(this.#database, this.#clock.nowMs()))
  }

  async #dropOld(nowMs: number): Promise<OldDropped> {
    const keptSinceMs = nowMs - REQUEST_LOG_DAYS * DAY_MS
    const partitions = [
      ...(await dropRequestDays(this.#database, keptSinceMs)),
      ...(await dropHours(this.#database, nowMs - HOURS_KEPT_DAYS * DAY_MS)),
    ]
    let rows: readonly unknown[]
    do rows = await this.#database.query(DELETE_REST, [lowestIdAt(keptSinceMs)])
    while (rows.length === PAGE_ROWS)
    const nodes = await this.#database.query('DELETE FROM nodes WHERE ended_at < $1 RETURNING 1', [
      new Date(nowMs - ENDED_NODE_DAYS * DAY_MS),
    ])
    return { partitions, nodes: nodes.length }
  }

  async #expireUnknowns(writtenBefore: Date): Promise<number> {
    let expired = 0
    for (;;) {
      const before = expired
      const rows = await this.#database.query<{ request_id: string; attempt: number }>(OVERDUE, [
        writtenBefore,
      ])
      for (const { request_id: requestId, attempt } of rows) {
        const isDone = await this.#ledger.resolveUnknown({
          requestId,
          attempt,
          kind: 'post',
          actor: SYSTEM,
        })
        if (isDone) expired += 1
      }
      if (rows.length < PAGE_ROWS || expired === before) return expired
    }
  }
}
