/** What models show beside the catalog: the health of their deployments, and facts of this node. */
import { cachedFor } from '../shared/cached-for.ts'
import type { ControlNode } from '../shared/node.ts'
import { healthOf, weekFromMs, WEEK_CELL_MS, type Health } from './health-rules.ts'
import type { ModelView } from './row-rules.ts'

/** Time for which a week is kept: it is a sum over many rows, and its cells of six hours change slowly. */
const WEEK_KEPT_MS = 20_000

export function openView(
  node: ControlNode,
): (figures: ModelView['figures'] | Promise<ModelView['figures']>) => Promise<ModelView> {
  const { nameSpace, averageItems, limits, clock } = node
  const health = openHealth(node)
  return async (figures) => {
    const [known, byModel] = await Promise.all([health(), figures])
    return {
      nameSpace,
      averageItems,
      limits,
      health: known,
      figures: byModel,
      nowMs: clock.nowMs(),
    }
  }
}

function openHealth({ clock, startedAtMs, history, drains, summaries }: ControlNode): () => Promise<Health> {
  const week = cachedFor(
    WEEK_KEPT_MS,
    () => clock.monotonicMs(),
    async () => {
      const fromMs = weekFromMs(clock.nowMs())
      return { fromMs, worst: await history.worstStates(fromMs, WEEK_CELL_MS) }
    },
  )
  return async () => {
    const [nodes, drained, worst] = await Promise.all([summaries(), drains.list(), week()])
    return healthOf({ summaries: nodes, drains: drained, ...worst, startedAtMs })
  }
}
