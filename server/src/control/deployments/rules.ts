/** Deployments as answers: the catalog, what nodes report, drains, spaces, and the cells of a day. */
import { z } from 'zod'
import type { Deployment, ImageDeployment, Model } from '#core/catalog/catalog.ts'
import type { DeploymentStateName } from '#core/schedule/scheduler.ts'
import { worseOf, type DeploymentStanding } from '#core/traffic/node-summary.ts'
import type { Drain } from '#ports/drains.ts'
import { deploymentBrief, managed, managedBody } from '../shared/model-fields.ts'
import { time } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { priceBody, priceText } from '../shared/price-text.ts'
import { skippedFor, type openSkippedFor } from '../shared/skipping-keys-queries.ts'
import { STATE_LETTERS } from '../shared/state-letters.ts'
import { isoOf, timeOf } from '../shared/times.ts'

export const deploymentState = deploymentBrief.shape.state

const rate = z
  .object({ requests: z.number(), tokens: z.number(), images: z.number() })
  .describe('A second, as the mean of the last ten. Requests are calls to the upstream.')

export const deployment = deploymentBrief
  .extend({
    ...managed,
    kind: z.enum(['embedding', 'image']),
    space_id: z.string().nullable().describe('The space of its model. null: it has none.'),
    upstream_model: z.string(),
    priority: z.number(),
    weight: z.number(),
    stands_in: z.boolean().describe('Deployments of a lower priority number are asked first.'),
    reason: z.string().nullable(),
    drained: z.object({ by: z.string(), reason: z.string(), at: time }).nullable(),
    nodes: z.array(
      z.object({
        node: z.string(),
        state: deploymentState,
        in_flight: z.int(),
        limit: z.int().nullable(),
      }),
    ),
    in_flight: z.int(),
    limit: z.int().nullable().describe('Calls at once. null: it has no limit, or was never called.'),
    limit_is_learnt: z.boolean(),
    limits: z
      .array(
        z.object({
          name: z.enum(['requests', 'tokens', 'images']),
          used: z.number().describe('At the rate of the last ten seconds.'),
          of: z.number(),
        }),
      )
      .describe('A minute, for all nodes together.'),
    rate,
    p50_ms: z.number().nullable().describe('Of the last 15 minutes, as are the figures below.'),
    p95_ms: z.number().nullable(),
    calls: z.int(),
    failed_share: z.number(),
    failures: z.record(z.string(), z.int()),
    space: z
      .object({
        state: z.enum(['trusted', 'warned', 'held-back', 'quarantined', 'unguarded']),
        least_cosine: z.number().nullable(),
        last_good_at: time.nullable(),
      })
      .nullable(),
    price: z.array(priceText),
    skipped_for: skippedFor,
    cells: z
      .string()
      .describe(
        'The worst of each half hour of a day, oldest first: `g`ood, `w`arned, `b`ad, `q`uarantined, `.` nothing.',
      ),
  })
  .meta({ id: 'Deployment' })

/** The answer to a drain. It has none of the fields whose queries may fail after the drain is committed. */
export const drainedDeployment = deployment
  .omit({ cells: true, skipped_for: true })
  .meta({ id: 'DrainedDeployment' })

type Body = z.output<typeof deployment>
export type AnyDeployment = Deployment | ImageDeployment

export interface DeploymentView extends StandingView {
  /** The last day of each deployment, from the history. */
  readonly cells: ReadonlyMap<string, string>
  readonly skippedFor: Awaited<ReturnType<typeof openSkippedFor>>
}

interface StandingView {
  readonly node: Pick<ControlNode, 'spaceGuard' | 'nameSpace' | 'startedAtMs'>
  readonly standings: ReadonlyMap<string, DeploymentStanding>
  readonly drains: ReadonlyMap<string, Drain>
}

/** A deployment that no node has called counts as healthy, since the start of this node. */
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
  return {
    ...standingBody(model, one, view),
    skipped_for: view.skippedFor(model, one),
    cells: withNow(cells, state, standing.calls > 0),
  }
}

function standingIn({ standings, node }: StandingView, id: string) {
  return standings.get(id) ?? { ...NEVER_CALLED, sinceMs: node.startedAtMs }
}

/** A deployment without what is read from the store. */
export function standingBody(
  model: Model,
  one: AnyDeployment,
  view: StandingView,
): z.output<typeof drainedDeployment> {
  const { id, upstream, priority, weight } = one
  const standing = standingIn(view, id)
  const drain = view.drains.get(id)
  return {
    ...managedBody(one.managedBy ?? model.managedBy),
    id,
    model: model.id,
    kind: model.kind,
    space_id:
      model.kind === 'embedding' ? (view.node.nameSpace(model, model.facts.dimensions) ?? null) : null,
    upstream: upstream.name,
    upstream_model: one.upstreamModel,
    // The store knows of a drain before the last node does.
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
  const standing = view.node.spaceGuard.standingOf(id)
  return {
    state: standing?.state ?? 'unguarded',
    least_cosine: standing?.last?.leastCosine ?? null,
    last_good_at: timeOf(standing?.lastGoodAtMs),
  }
}

/** Cells of a day, of half an hour each. */
export const CELLS = 48
export const CELL_MS = 1_800_000

/** Letters of the states, the worst last. */
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

/** The history does not have the current state yet: it counts toward the last cell. */
function withNow(cells: string, state: DeploymentStateName, isCalled: boolean): string {
  const letter = state === 'healthy' && !isCalled ? '.' : STATE_LETTERS[state]
  const last = cells.at(-1) ?? '.'
  const worse = RANKED.indexOf(letter) > RANKED.indexOf(last) ? letter : last
  return cells.slice(0, -1) + worse
}
