/** Flows and what needs attention, live. */
import { flowsFor, flowsOf } from '#core/traffic/node-summary.ts'
import type { ControlNode } from '../shared/node.ts'
import { isoOf } from '../shared/times.ts'
import type { EventTopic } from '../shared/topic.ts'
import { attentionFor } from './attention-rules.ts'
import type { OpenOverview } from './open.ts'
import { flowBody, nodesIn } from './rules.ts'

export function flowTopic({ summaries, liveNodes, clock }: ControlNode): EventTopic {
  return {
    name: 'flows',
    permission: 'overview.read',
    open: ({ projects }) => ({
      async news() {
        const all = await summaries()
        const flows = flowsFor(flowsOf(all), projects).map(flowBody)
        return [{ at: isoOf(clock.nowMs()), nodes: nodesIn(all, liveNodes()), flows }]
      },
    }),
  }
}

export function attentionTopic({ attention }: OpenOverview): EventTopic {
  return {
    name: 'attention',
    permission: 'overview.read',
    open: ({ projects }) => {
      let before: string | undefined
      return {
        async news() {
          const list = attentionFor(await attention(), projects)
          const now = JSON.stringify(list.map(({ id, since, figures }) => [id, since, figures]))
          if (now === before) return []
          before = now
          return [list]
        },
      }
    },
  }
}
