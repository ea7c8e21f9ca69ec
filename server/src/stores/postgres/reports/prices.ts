/** What deployments cost when, and what has no price. */
import type { PriceText } from '#core/price-text.ts'
import type { Clock } from '#ports/clock.ts'
import type { PriceChange, PriceReader } from '#ports/prices.ts'
import { reachable } from '../away.ts'
import { DAY_MS } from '../books/upkeep-ids.ts'
import type { Database } from '../database.ts'

const CHANGES = `
SELECT deployment, at, before, after, changed_by FROM price_changes
WHERE before IS NOT NULL AND at >= $1 AND at < $2 ORDER BY at, deployment LIMIT $3`

const UNPRICED_DAYS = 30
const UNPRICED = `
SELECT deployment, sum(unpriced)::bigint AS unpriced FROM (
  SELECT deployment COLLATE "C" AS deployment, unpriced FROM usage_days
  WHERE day >= ($1 AT TIME ZONE 'UTC')::date AND day < ($2 AT TIME ZONE 'UTC')::date AND unpriced <> 0
  UNION ALL
  SELECT deployment, unpriced FROM usage_hours WHERE hour >= $2::timestamptz AND unpriced <> 0
) AS rows GROUP BY deployment`

interface ChangeRow {
  readonly deployment: string
  readonly at: Date
  readonly before: { readonly text: readonly PriceText[] }
  readonly after: { readonly text: readonly PriceText[] }
  readonly changed_by: string
}

export class PostgresPriceReports implements PriceReader {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  async changes({ fromMs, endMs, limit }: Parameters<PriceReader['changes']>[0]) {
    const values = [new Date(fromMs), new Date(endMs), limit]
    const rows = await reachable(this.#database.query<ChangeRow>(CHANGES, values))
    return rows.map((row): PriceChange => ({
      deployment: row.deployment,
      atMs: row.at.getTime(),
      before: row.before.text,
      after: row.after.text,
      by: row.changed_by,
    }))
  }

  async unpriced(): Promise<ReadonlyMap<string, number>> {
    const todayMs = Math.floor(this.#clock.nowMs() / DAY_MS) * DAY_MS
    const values = [new Date(todayMs - UNPRICED_DAYS * DAY_MS), new Date(todayMs - DAY_MS)]
    const rows = await reachable(
      this.#database.query<{ deployment: string; unpriced: bigint }>(UNPRICED, values),
    )
    return new Map(rows.map(({ deployment, unpriced }) => [deployment, Number(unpriced)]))
  }
}
