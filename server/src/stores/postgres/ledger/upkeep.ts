import { momentOf } from '#core/money/ledger.ts'
import { SYSTEM } from '#ports/audit.ts'
import type { StoreClock } from '#ports/clock.ts'
import type { LedgerStore } from '#ports/ledger.ts'
import {
  DAYS_PER_ROUND,
  HOURS_KEPT_DAYS,
  REQUEST_LOG_DAYS,
  UNKNOWN_POSTED_AFTER_MS,
  type PartitionsMade,
} from '#ports/upkeep.ts'
import { reachable } from '../unreachable.ts'
import type { Database } from '../database.ts'
import { ELDEST } from './waiting-work.ts'
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

const FIRST_REST = 'SELECT request_id FROM requests_rest ORDER BY request_id LIMIT 1'
const DELETE_REST = `
DELETE FROM requests_rest WHERE request_id IN (
  SELECT request_id FROM requests_rest WHERE request_id < $1 ORDER BY request_id LIMIT ${PAGE_ROWS}
) RETURNING 1`

interface OldDropped {
  /** Deleted partitions of the request log and of hourly sums. */
  readonly partitions: readonly string[]
  /** Deleted nodes. */
  readonly nodes: number
}

/**
 * Chores. Any node may do each of them, at any time, twice or beside another node: the outcome is the same. Each is done in
 * short steps, so that no request waits long behind it, and what could not be done now is done the next time. The store's clock
 * says what is due. Every method rejects with `StoreUnreachable`.
 */
export class PostgresUpkeep {
  readonly #database: Database
  readonly #ledger: LedgerStore
  readonly #clock: StoreClock

  constructor(database: Database, ledger: LedgerStore, clock: StoreClock) {
    this.#database = database
    this.#ledger = ledger
    this.#clock = clock
  }

  /**
   * True for the oldest living node whose clock is right within `MAX_CLOCK_SKEW_MS`, as its heartbeats say. It does the chores, so
   * that many nodes do not all do the same; when it ends, the next one takes over.
   */
  async isEldest(nodeId: string): Promise<boolean> {
    const [eldest] = await reachable(this.#database.query<{ node_id: string }>(ELDEST))
    return eldest?.node_id === nodeId
  }

  /**
   * Creates the partitions for rows of now and of the near future. Call it before the first row is written: a partition
   * can't be created once its rows are in the default partition. A failure of one holds up no other.
   */
  makePartitions(): Promise<PartitionsMade> {
    return this.#now((nowMs) => makePartitions(this.#database, nowMs))
  }

  /**
   * Deletes what has reached the end of its retention: the request log, hourly sums whose days are final, and nodes that
   * ended long ago. One call deletes at most `DAYS_PER_ROUND` days of the request log and a month of sums, the oldest. The entries of
   * the ledger and its daily sums stay.
   */
  dropOld(): Promise<OldDropped> {
    return this.#now((nowMs) => this.#dropOld(nowMs))
  }

  /** Builds the days from the hours: those that are not final, and final ones that have new corrections. */
  rollUpDays(): Promise<void> {
    return this.#now((nowMs) => rollUpOpenDays(this.#database, nowMs))
  }

  /**
   * Posts unknowns that were not resolved within `UNKNOWN_POSTED_AFTER_MS` at the reserved amount, as actor `system`.
   * Returns how many.
   */
  expireUnknowns(): Promise<number> {
    return this.#now((nowMs) => this.#expireUnknowns(new Date(nowMs - UNKNOWN_POSTED_AFTER_MS)))
  }

  /**
   * Deletes the remaining data of deleted projects: their request log, keys and secrets, and at last their names. What they
   * spent stays in the ledger. Waits until every node knows of the deletion. Returns the names of the projects.
   */
  deleteProjects(): Promise<readonly string[]> {
    return this.#now((nowMs) => deleteProjects(this.#database, nowMs))
  }

  #now<Result>(work: (nowMs: number) => Promise<Result>): Promise<Result> {
    return reachable(this.#clock.storeMs().then(work))
  }

  async #dropOld(nowMs: number): Promise<OldDropped> {
    const keptSinceMs = nowMs - REQUEST_LOG_DAYS * DAY_MS
    const partitions = [
      ...(await dropRequestDays(this.#database, keptSinceMs, DAYS_PER_ROUND)),
      ...(await dropHours(this.#database, nowMs - HOURS_KEPT_DAYS * DAY_MS)),
    ]
    const [first] = await this.#database.query<{ request_id: string }>(FIRST_REST)
    const roundEndMs =
      first === undefined ? keptSinceMs : momentOf(first.request_id) + DAYS_PER_ROUND * DAY_MS
    let rows: readonly unknown[]
    do rows = await this.#database.query(DELETE_REST, [lowestIdAt(Math.min(keptSinceMs, roundEndMs))])
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
