/**
 * Which deployment gets the next call of this node, from what this node has seen.
 *
 * The operator's priorities come first, then native before emulating. Within such a tier two deployments are
 * drawn by weight, and the one with the shorter expected wait gets the call. A later tier is asked only when
 * no deployment of the earlier one is healthy with head-room.
 */
import {
  DeploymentState,
  type CallEnd,
  type HoldReason,
  type Readiness,
  type CallDemand,
} from './deployment.ts'
import type { DeploymentLimits } from '../limits/limit.ts'
import { emulationsOf } from './order.ts'

/** The properties of an offer that the scheduler needs. */
export interface Schedulable {
  readonly deployment: {
    readonly id: string
    readonly priority: number
    readonly weight: number
    readonly limits?: DeploymentLimits | undefined
  }
  readonly emulated: readonly string[]
}

export interface PickRequest extends CallDemand {
  /** On the monotonic clock. */
  readonly nowMs: number
  readonly random: () => number
  /** The call failed elsewhere. It is sent as a probe only where no healthy deployment is left. */
  readonly isRetry?: boolean | undefined
}

export type PickResult<Offer> =
  | {
      readonly kind: 'go'
      readonly offer: Offer
      readonly isProbe: boolean
      /** Must be called once, however the call ended; a second time changes nothing. */
      readonly end: (end: CallEnd, nowMs: number) => void
    }
  /** A healthy deployment only lacks head-room: it is worth waiting until a call ends. */
  | { readonly kind: 'full' }
  /** No deployment is ready before then, unless a probe in progress returns. */
  | {
      readonly kind: 'none'
      readonly untilMs: number
      readonly why: 'ejected' | 'limited' | 'drained' | HoldReason
    }

/** The states of a deployment, from the best to the worst for callers. */
export const DEPLOYMENT_STATES = [
  'drained',
  'held-back',
  'healthy',
  'limited',
  'probing',
  'ejected',
  'quarantined',
] as const
export type DeploymentStateName = (typeof DEPLOYMENT_STATES)[number]

export interface DeploymentReport {
  readonly deployment: string
  readonly state: DeploymentStateName
  readonly inFlight: number
  /** Calls that it may have in progress. */
  readonly limit: number
  /** Whether the node learns the limit from the durations of calls. */
  readonly learnsLimit: boolean
  /** The usual duration of its smallest calls. */
  readonly latencyMs: number | undefined
  readonly failureShare: number
  /** When it is probed or called again. */
  readonly closedUntilMs: number | undefined
}

interface Candidate<Offer> {
  readonly offer: Offer
  readonly state: DeploymentState
  readonly standing: Readiness
}

/** The second draw must have an expected wait shorter by a fifth to win: within that, weights decide. */
const CLEARLY_SHORTER = 0.8
/** A failed call costs its caller a whole second call, and some of the retry budget: worth many waits. */
const FAILURE_COST = 10

export interface SchedulerOptions {
  readonly nodes: () => number
  /**
   * Whether an offer is of an earlier catalog whose deployment is gone or has another address now. The node's state under
   * its id then belongs to another deployment, so the offer gets no more turns. Absent: never.
   */
  readonly isWithdrawn?: ((deployment: Schedulable['deployment']) => boolean) | undefined
}

/** Why a deployment gets no call now. */
export type ClosedReason = Exclude<Readiness['kind'], 'ready'> | 'withdrawn'

const WITHDRAWN: Readiness = { kind: 'held-back' }
/** How the only deployment of a model is called while it is healthy. */
const ALONE = { isProbe: false, isAlone: true } as const

export class Scheduler {
  readonly #nodes: () => number
  readonly #isWithdrawn: (deployment: Schedulable['deployment']) => boolean
  readonly #states = new Map<string, DeploymentState>()
  /** The limits as of the last pick, for reports. */
  readonly #limits = new Map<string, DeploymentLimits | undefined>()

  constructor({ nodes, isWithdrawn = () => false }: SchedulerOptions) {
    this.#nodes = nodes
    this.#isWithdrawn = isWithdrawn
  }

  pick<Offer extends Schedulable>(offers: readonly Offer[], request: PickRequest): PickResult<Offer> {
    const share = 1 / Math.max(1, this.#nodes())
    return (
      (offers.length === 1 ? this.#only(offers, request, share) : undefined) ??
      this.#among(offers, request, share)
    )
  }

  /** A single deployment that is ready needs no choice. Undefined: it is not ready. */
  #only<Offer extends Schedulable>(
    [offer]: readonly Offer[],
    request: PickRequest,
    share: number,
  ): PickResult<Offer> | undefined {
    if (offer === undefined || this.#isWithdrawn(offer.deployment)) return undefined
    const { id, limits } = offer.deployment
    const state = this.#stateOf(id)
    if (state.standing(request, limits, share).kind !== 'ready') return undefined
    this.#limits.set(id, limits)
    const end = state.begin(request, limits, share, ALONE)
    return { kind: 'go', offer, isProbe: false, end }
  }

  /** Why a deployment gets no call like this one now. Undefined: it is ready for one. */
  closedBecauseOf({ deployment }: Schedulable, demand: CallDemand): ClosedReason | undefined {
    if (this.#isWithdrawn(deployment)) return 'withdrawn'
    const share = 1 / Math.max(1, this.#nodes())
    const { kind } = this.#stateOf(deployment.id).standing(demand, deployment.limits, share)
    return kind === 'ready' ? undefined : kind
  }

  #among<Offer extends Schedulable>(
    offers: readonly Offer[],
    request: PickRequest,
    share: number,
  ): PickResult<Offer> {
    const candidates = offers.map((offer): Candidate<Offer> => {
      const { deployment } = offer
      // A withdrawn deployment gets no state under its id: the id may be another's now, or nothing would delete the state.
      if (this.#isWithdrawn(deployment)) return { offer, state: new DeploymentState(), standing: WITHDRAWN }
      const state = this.#stateOf(deployment.id)
      this.#limits.set(deployment.id, deployment.limits)
      return { offer, state, standing: state.standing(request, deployment.limits, share) }
    })
    const healthy = candidates.filter(({ standing }) => standing.kind === 'ready' || standing.kind === 'full')
    const go = (candidate: Candidate<Offer>, isProbe: boolean): PickResult<Offer> => {
      const { offer, state } = candidate
      const isAlone = healthy.every((other) => other === candidate)
      const end = state.begin(request, offer.deployment.limits, share, { isProbe, isAlone })
      return { kind: 'go', offer, isProbe, end }
    }
    const mayProbe = ({ offer, state, standing }: Candidate<Offer>, isAlone: boolean): boolean =>
      standing !== WITHDRAWN && state.mayProbe(request, offer.deployment.limits, share, isAlone)

    const tiers = tiersOf(candidates)
    for (const tier of tiers) {
      const probed = request.isRetry ? undefined : tier.find((candidate) => mayProbe(candidate, false))
      if (probed) return go(probed, true)
      const ready = tier.filter(({ standing }) => standing.kind === 'ready')
      if (ready.length > 0) return go(chooseOf(ready, request), false)
      // A later tier is for waiting callers, and may cost more.
      if (request.isBackground === true && tier.some((one) => one.standing.kind === 'full'))
        return { kind: 'full' }
    }
    // No other deployment can take the call, so an ejected one is probed sooner.
    const last = tiers.flat().find((candidate) => mayProbe(candidate, true))
    if (last) return go(last, true)
    return healthy.length > 0 ? { kind: 'full' } : closedResult(candidates, request.nowMs)
  }

  /** A deployment whose vectors are, or may be, of another space gets no calls until it is let back (undefined). */
  hold(deploymentId: string, why: HoldReason | undefined): void {
    this.#stateOf(deploymentId).held = why
  }

  /** A drained deployment gets no more calls, and no probes either. */
  drain(deploymentId: string, isDrained: boolean): void {
    this.#stateOf(deploymentId).isDrained = isDrained
  }

  /** Called after a reload. A deployment whose upstream changed is dropped too: a new credential gets a new start. */
  forgetAllBut(ids: ReadonlySet<string>): void {
    for (const id of this.#states.keys()) {
      if (ids.has(id)) continue
      this.#states.delete(id)
      this.#limits.delete(id)
    }
  }

  states(nowMs: number): readonly DeploymentReport[] {
    return [...this.#states].map(([deployment, state]) => {
      state.look(nowMs)
      const { health, limitedUntilMs } = state
      const closedUntilMs = Math.max(limitedUntilMs, health.probeFromMs(false))
      return {
        deployment,
        state: stateName(state, nowMs),
        inFlight: state.inFlight,
        limit: state.limit(this.#limits.get(deployment)),
        learnsLimit: this.#limits.get(deployment)?.learnsConcurrency !== false,
        latencyMs: state.latencyMs,
        failureShare: health.failureShare(nowMs),
        closedUntilMs: closedUntilMs > nowMs ? closedUntilMs : undefined,
      }
    })
  }

  #stateOf(id: string): DeploymentState {
    const known = this.#states.get(id)
    if (known) return known
    const state = new DeploymentState()
    this.#states.set(id, state)
    return state
  }
}

function stateName(state: DeploymentState, nowMs: number): DeploymentReport['state'] {
  if (state.isDrained) return 'drained'
  if (state.held !== undefined) return state.held
  if (state.health.isProbing) return 'probing'
  if (!state.health.isHealthy) return 'ejected'
  return nowMs < state.limitedUntilMs ? 'limited' : 'healthy'
}

/** By priority, then by how much is emulated. */
function tiersOf<Offer extends Schedulable>(
  candidates: readonly Candidate<Offer>[],
): readonly (readonly Candidate<Offer>[])[] {
  if (candidates.length === 1) return [candidates]
  const tiers: { priority: number; emulations: number; members: Candidate<Offer>[] }[] = []
  for (const candidate of candidates) {
    const { priority } = candidate.offer.deployment
    const emulations = emulationsOf(candidate.offer)
    const tier = tiers.find((one) => one.priority === priority && one.emulations === emulations)
    if (tier) tier.members.push(candidate)
    else tiers.push({ priority, emulations, members: [candidate] })
  }
  return tiers
    .sort((a, b) => a.priority - b.priority || a.emulations - b.emulations)
    .map(({ members }) => members)
}

/** Draws two deployments by weight. The second gets the call only if it is clearly better. */
function chooseOf<Offer extends Schedulable>(
  candidates: readonly Candidate<Offer>[],
  request: PickRequest,
): Candidate<Offer> {
  const first = draw(candidates, request.random)
  if (candidates.length === 1) return first
  const second = draw(
    candidates.filter((candidate) => candidate !== first),
    request.random,
  )
  const meanWeight = (first.offer.deployment.weight + second.offer.deployment.weight) / 2
  const [one, two] = [first.state.expectedMs(request), second.state.expectedMs(request)]
  // A deployment that was never called counts as fast as the other.
  const latencyOf = (own: number | undefined, others: number | undefined): number => own ?? others ?? 1
  const firstCost = costOf(first, latencyOf(one, two), meanWeight, request.nowMs)
  const secondCost = costOf(second, latencyOf(two, one), meanWeight, request.nowMs)
  return secondCost < firstCost * CLEARLY_SHORTER ? second : first
}

/** The expected wait. Calls in progress count by weight, so that idle deployments differ in latency alone. */
function costOf<Offer extends Schedulable>(
  { offer, state }: Candidate<Offer>,
  latencyMs: number,
  meanWeight: number,
  nowMs: number,
): number {
  const { weight } = offer.deployment
  const load = weight > 0 ? (state.waiting * meanWeight) / weight : state.waiting
  return latencyMs * (1 + load) * (1 + FAILURE_COST * state.health.failureShare(nowMs))
}

function draw<Offer extends Schedulable>(
  candidates: readonly Candidate<Offer>[],
  random: () => number,
): Candidate<Offer> {
  let total = 0
  for (const { offer } of candidates) total += Math.max(0, offer.deployment.weight)
  let left = random() * total
  for (const candidate of candidates) {
    left -= Math.max(0, candidate.offer.deployment.weight)
    if (left < 0) return candidate
  }
  return candidates.at(-1) as Candidate<Offer>
}

function closedResult<Offer extends Schedulable>(
  candidates: readonly Candidate<Offer>[],
  nowMs: number,
): PickResult<Offer> {
  // A deployment that was not compared yet may be let in at any moment. A quarantined one needs an operator.
  const isComing = candidates.some(({ standing }) => standing.kind === 'held-back')
  const areDrained = candidates.length > 0 && candidates.every(({ standing }) => standing.kind === 'drained')
  let why: 'ejected' | 'limited' | 'drained' | HoldReason = isComing
    ? 'held-back'
    : areDrained
      ? 'drained'
      : 'quarantined'
  let untilMs = Number.POSITIVE_INFINITY
  for (const { state, standing } of candidates) {
    if (standing.kind !== 'ejected' && standing.kind !== 'limited') continue
    const fromMs = standing.kind === 'ejected' ? state.aloneFromMs(nowMs) : standing.untilMs
    if (fromMs >= untilMs) continue
    untilMs = fromMs
    why = standing.kind
  }
  return { kind: 'none', untilMs, why }
}
