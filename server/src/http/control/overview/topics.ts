/** What is live about traffic: flows, deployments whose state changes, and what needs attention. */
import { flowsFor, flowsOf, type NodeSummary } from '#core/traffic/node-summary.ts'
import type { EventTopic } from '../events/topic.ts'
import { isoOf } from '../wire/times.ts'
import { attentionFor, type Attention } from './attention.ts'
import { flowBody } from './routes.ts'

export interface LiveTraffic {
  readonly summaries: () => Promise<readonly NodeSummary[]>
  readonly liveNodes: () => number
  readonly attention: () => Promise<readonly Attention[]>
  /** All deployments as the list shows them. */
  readonly deployments: () => Promise<readonly LiveDeployment[]>
  readonly nowMs: () => number
}

/** What of a deployment makes a change worth telling. */
interface LiveDeployment {
  readonly id: string
  readonly state: string
  readonly until: string | null
  readonly in_flight: number
  readonly limit: number | null
  readonly rate: { readonly requests: number }
}

export function flowTopic(live: LiveTraffic): EventTopic {
  return {
    name: 'flows',
    permission: 'overview.read',
    open: ({ projects }) => ({
      async news() {
        const told = await live.summaries()
        const nodes = { reporting: told.length, alive: Math.max(live.liveNodes(), told.length) }
        const flows = flowsFor(flowsOf(told), projects).map(flowBody)
        return [{ at: isoOf(live.nowMs()), nodes, flows }]
      },
    }),
  }
}

export function deploymentTopic(live: LiveTraffic): EventTopic {
  return {
    name: 'deployment',
    permission: 'deployments.read',
    open: () => {
      let before: ReadonlyMap<string, string> | undefined
      return {
        async news() {
          const all = await live.deployments()
          const now = new Map(all.map((one) => [one.id, fingerprint(one)]))
          const known = before
          before = now
          // The page has just asked for all of them.
          if (known === undefined) return []
          return all.filter(({ id }) => known.get(id) !== now.get(id))
        },
      }
    },
  }
}

export function attentionTopic(live: LiveTraffic): EventTopic {
  return {
    name: 'attention',
    permission: 'overview.read',
    open: ({ projects }) => {
      let before: string | undefined
      return {
        async news() {
          const list = attentionFor(await live.attention(), projects)
          const now = JSON.stringify(list.map(({ id, since, figures }) => [id, since, figures]))
          if (now === before) return []
          before = now
          return [list]
        },
      }
    },
  }
}

function fingerprint({ state, until, in_flight: inFlight, limit, rate }: LiveDeployment): string {
  return JSON.stringify([state, until, inFlight, limit, Math.round(rate.requests * 10)])
}
