/** Rounds in which nodes hear what others have changed: a test counts them, since seconds depend on the machine. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Sql } from '#stores/postgres/database.ts'
import { PATIENCE_MS } from './patience.ts'

/** Heartbeats after which every node knows a change: one that may have been in progress, and the next. */
const KNOWN_AFTER = 2

/** Tries until it succeeds, while there may be a node that has not heard of the last change. */
export async function withinHeartbeats<Value>(sql: Sql, attempt: () => Promise<Value>): Promise<Value> {
  const endMs = performance.now() + PATIENCE_MS
  let [rounds, sinceMs] = [0, (await lastSeen(sql)).latestMs]
  for (;;) {
    const isLast = rounds > KNOWN_AFTER || performance.now() > endMs
    try {
      return await attempt()
    } catch (error) {
      if (isLast) throw error
    }
    await delay(50)
    const { earliestMs, latestMs } = await lastSeen(sql)
    if (earliestMs <= sinceMs) continue
    rounds += 1
    sinceMs = latestMs
  }
}

/** Of the nodes that run, when the first and the last were seen. */
async function lastSeen(sql: Sql): Promise<{ readonly earliestMs: number; readonly latestMs: number }> {
  const [seen] = await sql.query<{ earliestMs: number; latestMs: number }>(
    `SELECT extract(epoch FROM min(seen_at))::float8 * 1000 AS "earliestMs",
      extract(epoch FROM max(seen_at))::float8 * 1000 AS "latestMs"
    FROM nodes WHERE ended_at IS NULL`,
  )
  return seen ?? { earliestMs: 0, latestMs: 0 }
}
