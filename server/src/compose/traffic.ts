/** Composition of what gives calls to deployments: scheduler, lines, and how busy this process is. */
import { listModels, type Catalog, type Upstream } from '#core/catalog.ts'
import { RetryBudget } from '#core/schedule/retry-budget.ts'
import { Scheduler } from '#core/schedule/scheduler.ts'
import { Dispatch } from '#request/traffic/dispatch.ts'
import { after } from '#runtime/clock.ts'
import { senseLoad, type Load } from '#runtime/load.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from './catalog.ts'
import { Targets } from './targets.ts'

export interface Traffic extends Disposable {
  readonly scheduler: Scheduler
  readonly dispatch: Dispatch
  readonly load: Load
}

export interface TrafficParts {
  readonly catalog: CatalogInForce
  readonly liveNodes: () => number
}

export function openTraffic({ clock, limits }: Basics, { catalog, liveNodes }: TrafficParts): Traffic {
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
  let ways = waysOf(catalog.current)
  catalog.follow((current) => {
    const now = waysOf(current)
    // A deployment that leads elsewhere by now, or with another credential, deserves a new start.
    const same = [...now].filter(([id, way]) => ways.get(id) === way)
    scheduler.forgetAllBut(new Set(same.map(([id]) => id)))
    ways = now
    targets.replace(current)
  })
  return { scheduler, dispatch, load, [Symbol.dispose]: () => load.close() }
}

/** By id, what each deployment leads to, and with which credential. */
function waysOf(catalog: Catalog): ReadonlyMap<string, string> {
  const deployments = listModels(catalog).flatMap<{ id: string; upstream: Upstream; upstreamModel: string }>(
    (model) => [...model.deployments],
  )
  return new Map(
    deployments.map(({ id, upstream, upstreamModel }) => [id, JSON.stringify([upstream, upstreamModel])]),
  )
}
