/** Opens what gives calls to deployments: the scheduler, its queues, and the load of this process. */
import { RetryBudget } from '#core/schedule/retry-budget.ts'
import { Scheduler } from '#core/schedule/scheduler.ts'
import { Dispatch } from '#request/traffic/dispatch.ts'
import { after } from '#runtime/clock.ts'
import { senseLoad } from '#runtime/load.ts'
import { Targets } from '#worker/spaces/targets.ts'
import { unchangedIn } from '#worker/traffic/unchanged.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'

export type Traffic = ReturnType<typeof openTraffic>

interface TrafficParts {
  readonly catalog: CatalogInForce
  readonly liveNodes: () => number
}

export function openTraffic({ clock, limits }: Basics, { catalog, liveNodes }: TrafficParts) {
  const targets = new Targets(catalog.current)
  const scheduler = new Scheduler({
    nodes: liveNodes,
    isWithdrawn: (deployment) => targets.isWithdrawn(deployment),
  })
  const load = senseLoad(limits.queueWaitMs)
  const dispatch = new Dispatch({
    scheduler,
    ownWaitMs: () => load.ownWaitMs(),
    clock,
    random: Math.random,
    limits,
    after,
    newBudget: () => new RetryBudget(),
  })
  let before = catalog.current
  catalog.follow((current) => {
    scheduler.forgetAllBut(unchangedIn(before, current))
    before = current
    targets.replace(current)
  })
  return { scheduler, dispatch, load, [Symbol.dispose]: () => load.close() }
}
