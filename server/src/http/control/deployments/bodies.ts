/** Deployments of the catalog as answers. */
import type { z } from 'zod'
import type { Deployment, ImageDeployment, Model } from '#core/catalog.ts'
import { spaceOf } from '#core/embedding/space.ts'
import type { DeploymentStateName } from '#core/schedule/scheduler.ts'
import { worseOf, type DeploymentStanding } from '#core/traffic/node-summary.ts'
import type { Drain } from '#ports/drains.ts'
import type { ProbeResult } from '#ports/spaces.ts'
import { managedBody } from '../models/bodies.ts'
import { priceBody } from '../wire/price-text.ts'
import { STATE_LETTERS } from '../wire/state-letters.ts'
import { isoOf, timeOf } from '../wire/times.ts'
import type { deployment, drainedDeployment } from './schemas.ts'

type Body = z.output<typeof deployment>
type AnyDeployment = Deployment | ImageDeployment

/** What the space guard says of a deployment. */
interface SpaceStanding {
  readonly state: 'trusted' | 'warned' | 'held-back' | 'quarantined'
  readonly lastGoodAtMs: number | undefined
  readonly last: ProbeResult | undefined
}

export interface DeploymentView extends StandingView {
  /** The last day of each deployment, from the history in the store. */
  readonly cells: ReadonlyMap<string, string>
}

interface StandingView {
  readonly standings: ReadonlyMap<string, DeploymentStanding>
  readonly drains: ReadonlyMap<string, Drain>
  readonly spaceStandingOf: (deployment: string) => SpaceStanding | undefined
  readonly generationOf: (model: string) => number | undefined
  /** Since when nothing has been heard of one that nobody has called. */
  readonly startedAtMs: number
}

/** One that nobody has called is healthy as far as anybody knows. */
const NEVER_CALLED = {
  state: 'healthy',
  untilMs: null,
  reason: null,
  inFlight: 0,
  limit: null,
  learnsLimit: true,
  rate: { requests: 0, tokens: 0, images: 0 },
  calls: 0,
  failures: {},
  failedShare: 0,
  p50Ms: null,
  p95Ms: null,
  nodes: [],
} as const

export function deploymentBody(model: Model, one: AnyDeployment, view: DeploymentView): Body {
  const standing = standingIn(view, one.id)
  const state = view.drains.has(one.id) ? 'drained' : standing.state
  const cells = view.cells.get(one.id) ?? '.'.repeat(CELLS)
  return { ...standingBody(model, one, view), cells: withNow(cells, state, standing.calls > 0) }
}

function standingIn({ standings, startedAtMs }: StandingView, id: string) {
  return standings.get(id) ?? { ...NEVER_CALLED, sinceMs: startedAtMs }
}

/** All but the history of a deployment. */
export function standingBody(
  model: Model,
  one: AnyDeployment,
  view: StandingView,
): z.output<typeof drainedDeployment> {
  const { id, upstream, priority, weight } = one
  const standing = standingIn(view, id)
  const drain = view.drains.get(id)
  const generation = model.kind === 'embedding' ? view.generationOf(model.id) : undefined
  return {
    ...managedBody(model.managedBy),
    id,
    model: model.id,
    kind: model.kind,
    space_id:
      model.kind === 'embedding' && generation !== undefined
        ? spaceOf(model.id, model.facts.dimensions, generation)
        : null,
    upstream: upstream.name,
    upstream_model: one.upstreamModel,
    // The store's word holds before the last node has heard it.
    state: drain ? 'drained' : standing.state,
    since: isoOf(drain?.atMs ?? standing.sinceMs),
    until: timeOf(drain ? undefined : (standing.untilMs ?? undefined)),
    ends_on: one.end?.on ?? null,
    reason: drain?.reason ?? standing.reason,
    drained: drain ? { by: drain.by, reason: drain.reason, at: isoOf(drain.atMs) } : null,
    priority,
    weight,
    stands_in: model.deployments.some((other: AnyDeployment) => other.priority < priority),
    nodes: standing.nodes.map(({ node, state, inFlight, limit }) => ({
      node,
      state,
      in_flight: inFlight,
      limit,
    })),
    in_flight: standing.inFlight,
    limit: standing.limit,
    limit_is_learnt: standing.learnsLimit,
    limits: limitsBody(one, standing.rate),
    rate: standing.rate,
    p50_ms: standing.p50Ms,
    p95_ms: standing.p95Ms,
    calls: standing.calls,
    failed_share: standing.failedShare,
    failures: { ...standing.failures },
    space: spaceBody(model, id, view),
    price: priceBody(one.price),
  }
}

function limitsBody({ limits }: AnyDeployment, rate: DeploymentStanding['rate']): Body['limits'] {
  const asked = [
    { name: 'requests', used: rate.requests, of: limits?.requestsPerMinute },
    { name: 'tokens', used: rate.tokens, of: limits?.tokensPerMinute },
    { name: 'images', used: rate.images, of: limits?.imagesPerMinute },
  ] as const
  return asked.flatMap(({ name, used, of }) => (of === undefined ? [] : [{ name, used: used * 60, of }]))
}

function spaceBody(model: Model, id: string, view: StandingView): Body['space'] {
  if (model.kind !== 'embedding') return null
  const standing = view.spaceStandingOf(id)
  return {
    state: standing?.state ?? 'unguarded',
    least_cosine: standing?.last?.leastCosine ?? null,
    last_good_at: timeOf(standing?.lastGoodAtMs),
  }
}

/** Half an hour each, of a day. */
export const CELLS = 48
export const CELL_MS = 1_800_000

const RANKED = '.gwbq'

/** By deployment, from the worst states of its slots. */
export function cellsOf(
  slots: readonly {
    readonly deployment: string
    readonly atMs: number
    readonly worst: DeploymentStateName
  }[],
  fromMs: number,
): ReadonlyMap<string, string> {
  const byDeployment = new Map<string, (DeploymentStateName | undefined)[]>()
  for (const { deployment: id, atMs, worst } of slots) {
    const cells = byDeployment.get(id) ?? Array.from<undefined>({ length: CELLS })
    const at = Math.floor((atMs - fromMs) / CELL_MS)
    if (at >= 0 && at < CELLS) cells[at] = worseOf(cells[at] ?? worst, worst)
    byDeployment.set(id, cells)
  }
  const text = (cells: readonly (DeploymentStateName | undefined)[]): string =>
    cells.map((state) => (state === undefined ? '.' : STATE_LETTERS[state])).join('')
  return new Map(Array.from(byDeployment, ([id, cells]) => [id, text(cells)]))
}

/** The last cell is of now, and what is known now is not written down yet. */
function withNow(cells: string, state: DeploymentStateName, isCalled: boolean): string {
  const letter = state === 'healthy' && !isCalled ? '.' : STATE_LETTERS[state]
  const last = cells.at(-1) ?? '.'
  const worse = RANKED.indexOf(letter) > RANKED.indexOf(last) ? letter : last
  return cells.slice(0, -1) + worse
}
