/** Deployments whose state or load changes, live. */
import type { z } from 'zod'
import type { ControlNode } from '../shared/node.ts'
import type { EventTopic } from '../shared/topic.ts'
import { allDeployments, viewOf } from './open.ts'
import type { deployment } from './rules.ts'

export function deploymentTopic(node: ControlNode): EventTopic {
  return {
    name: 'deployment',
    permission: 'deployments.read',
    open: () => {
      let before: ReadonlyMap<string, string> | undefined
      return {
        async news() {
          const all = allDeployments(node, await viewOf(node))
          const now = new Map(all.map((one) => [one.id, fingerprint(one)]))
          const known = before
          before = now
          // The page has just loaded all of them.
          if (known === undefined) return []
          return all.filter(({ id }) => known.get(id) !== now.get(id))
        },
      }
    },
  }
}

/** The fields whose change is an event. */
function fingerprint({
  state,
  until,
  in_flight: inFlight,
  limit,
  rate,
}: z.output<typeof deployment>): string {
  return JSON.stringify([state, until, inFlight, limit, Math.round(rate.requests * 10)])
}
