import type { NodeSummary } from '#core/traffic/node-summary.ts'

/**
 * Traffic summaries that nodes publish for one another, at each heartbeat. They cost nothing while no one reads them: a read
 * keeps nodes publishing for `WANTED_MS`. A summary older than `FRESH_MS` is not returned. Every method rejects with
 * `StoreUnreachable`.
 */
export interface NodeNews {
  /** Publishes this node's summary in place of its last one, if a reader wants it. Otherwise `summary` is not called. */
  tell(nodeId: string, summary: () => NodeSummary): Promise<void>
  /** Recent summaries, in any order. A read makes nodes publish at their next heartbeat. */
  read(): Promise<readonly NodeSummary[]>
}

export const WANTED_MS = 10_000
export const FRESH_MS = 5000
