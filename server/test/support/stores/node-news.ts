import type { NodeSummary } from '#core/traffic/node-summary.ts'
import type { Clock } from '#ports/clock.ts'
import { FRESH_MS, WANTED_MS, type NodeNews } from '#ports/node-news.ts'

/** News in memory: of nodes in one process. */
export class MemoryNodeNews implements NodeNews {
  readonly #clock: Clock
  readonly #summaries = new Map<string, { readonly atMs: number; readonly summary: NodeSummary }>()
  #wantedMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async tell(nodeId: string, summary: () => NodeSummary): Promise<void> {
    const atMs = this.#clock.nowMs()
    if (atMs - this.#wantedMs < WANTED_MS) this.#summaries.set(nodeId, { atMs, summary: summary() })
  }

  async read(): Promise<readonly NodeSummary[]> {
    const nowMs = this.#clock.nowMs()
    this.#wantedMs = nowMs
    for (const [node, { atMs }] of this.#summaries) if (nowMs - atMs >= FRESH_MS) this.#summaries.delete(node)
    return Array.from(this.#summaries.values(), ({ summary }) => summary)
  }
}
