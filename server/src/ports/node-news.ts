import type { NodeSummary } from '#core/traffic/node-summary.ts'

/**
 * What nodes tell one another of their traffic, once a second. It costs nothing while nobody wants to know: a question lasts
 * `WANTED_MS`, and after it nodes are silent again. What was told longer ago than `FRESH_MS` is not told any more. Every
 * method rejects with `StoreAway`.
 */
export interface NodeNews {
  /** Tells what this node knows, in place of what it told before, if somebody wants to know. Else `summary` is not made. */
  tell(nodeId: string, summary: () => NodeSummary): Promise<void>
  /** What nodes told of late, in any order. To ask is to want: nodes begin to tell within a second. */
  read(): Promise<readonly NodeSummary[]>
}

export const WANTED_MS = 10_000
export const FRESH_MS = 5000
