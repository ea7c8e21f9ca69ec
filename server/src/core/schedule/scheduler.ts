/**
 * Which deployment gets the next call of this node, from what this node has seen.
 *
 * The operator's priorities come first, then native before emulating; within such a tier, of two drawn by weight the one
 * with the shorter expected wait. A later tier is asked only when nobody of the earlier one is healthy with head-room.
 */
import { DeploymentState, type CallEnd, type Held, type Standing, type Wanted } from './deployment.ts'
import type { DeploymentLimits } from '../limit.ts'
import { emulationsOf } from './order.ts'

/** What is needed of an offer to choose it. */
export interface Schedulable {
  readonly deployment: {
    readonly id: string
    readonly priority: number
    readonly weight: number
    readonly limits?: DeploymentLimits | undefined
  }
  readonly emulated: readonly string[]
}

export interface Asking extends Wanted {
  /** On the monotonic clock. */
  readonly nowMs: number
  readonly random: () => number
  /** A call that failed elsewhere: it is sent on probation only where nobody healthy is left. */
  readonly isRetry?: boolean | undefined
}

export type Picked<Offer> =
  | {
      readonly kind: 'go'
      readonly offer: Offer
      readonly isProbe: boolean
      /** To be called once, however the call ended; a second time changes nothing. */
      readonly end: (end: CallEnd, nowMs: number) => void
    }
  /** Somebody healthy only lacks head-room: worth waiting until a call ends. */
  | { readonly kind: 'full' }
  /** Nobody before then, unless a probe that is out now comes back. */
  | {
      readonly kind: 'none'
      readonly untilMs: number
      readonly why: 'ejected' | 'limited' | Held
    }

export interface DeploymentReport {
  readonly deployment: string
  readonly state: 'healthy' | 'limited' | 'ejected' | 'probing' | Held
  readonly inFlight: number
  /** Calls it may have under way. */
  readonly limit: number
  /** How long its smallest calls usually take. */
  readonly latencyMs: number | undefined
  readonly failureShare: number
  /** When it is probed or asked again. */
  readonly closedUntilMs: number | undefined
}

interface Candidate<Offer> {
  readonly offer: Offer
  readonly state: DeploymentState
  readonly standing: Standing
}

/** Another's expected wait must be shorter by a fifth to go before the first draw: within that, weights decide. */
const CLEARLY_SHORTER = 0.8
/** A call that fails costs its caller a whole second one, and the retry budget a part: worth many waits. */
const FAILURE_COST = 10

export interface SchedulerOptions {
  readonly nodes: () => number
  /**
   * Whether an offer was made before the catalog changed, and its deployment has to be asked about anew: what is known by its
   * id is of another one by now, or of nobody. It gets no more turns. Absent: never.
   */
  readonly isWithdrawn?: ((deployment: Schedulable['deployment']) => boolean) | undefined
}

const WITHDRAWN: Standing = { kind: 'held-back' }

export class Scheduler {
  readonly #nodes: () => number
  readonly #isWithdrawn: (deployment: Schedulable['deployment']) => boolean
  readonly #states = new Map<string, DeploymentState>()
  /** As of the last pick, for reports. */
  readonly #limits = new Map<string, DeploymentLimits | undefined>()

  constructor({ nodes, isWithdrawn = () => false }: SchedulerOptions) {
    this.#nodes = nodes
    this.#isWithdrawn = isWithdrawn
  }

  pick<Offer extends Schedulable>(offers: readonly Offer[], asking: Asking): Picked<Offer> {
    const share = 1 / Math.max(1, this.#nodes())
    const candidates = offers.map((offer): Candidate<Offer> => {
      const { deployment } = offer
      // Its id gets no state: whoever bears it now has its own, and nobody would forget that of one that is gone.
      if (this.#isWithdrawn(deployment)) return { offer, state: new DeploymentState(), standing: WITHDRAWN }
      const state = this.#stateOf(deployment.id)
      this.#limits.set(deployment.id, deployment.limits)
      return { offer, state, standing: state.standing(asking, deployment.limits, share) }
    })
    const healthy = candidates.filter(({ standing }) => standing.kind === 'ready' || standing.kind === 'full')
    const go = (candidate: Candidate<Offer>, isProbe: boolean): Picked<Offer> => {
      const { offer, state } = candidate
      const isAlone = healthy.every((other) => other === candidate)
      const end = state.begin(asking, offer.deployment.limits, share, { isProbe, isAlone })
      return { kind: 'go', offer, isProbe, end }
    }
    const mayProbe = ({ offer, state, standing }: Candidate<Offer>, isAlone: boolean): boolean =>
      standing !== WITHDRAWN && state.mayProbe(asking, offer.deployment.limits, share, isAlone)

    const tiers = tiersOf(candidates)
    for (const tier of tiers) {
      const probed = asking.isRetry ? undefined : tier.find((candidate) => mayProbe(candidate, false))
      if (probed) return go(probed, true)
      const ready = tier.filter(({ standing }) => standing.kind === 'ready')
      if (ready.length > 0) return go(chooseOf(ready, asking), false)
    }
    // Nobody else can take it, be they ill or full: whoever is ejected is tried sooner.
    const last = tiers.flat().find((candidate) => mayProbe(candidate, true))
    if (last) return go(last, true)
    return healthy.length > 0 ? { kind: 'full' } : nobody(candidates, asking.nowMs)
  }

  /** A deployment whose vectors are not those of its model, or may not be, gets no calls until it is let back: undefined. */
  hold(deploymentId: string, why: Held | undefined): void {
    this.#stateOf(deploymentId).held = why
  }

  /** After a reload. Leave out those whose upstream changed as well: a new credential deserves a new start. */
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

/** Two are drawn by weight, without putting the first back; the second goes before it only if clearly better. */
function chooseOf<Offer extends Schedulable>(
  candidates: readonly Candidate<Offer>[],
  asking: Asking,
): Candidate<Offer> {
  const first = draw(candidates, asking.random)
  if (candidates.length === 1) return first
  const second = draw(
    candidates.filter((candidate) => candidate !== first),
    asking.random,
  )
  const meanWeight = (first.offer.deployment.weight + second.offer.deployment.weight) / 2
  const [one, two] = [first.state.expectedMs(asking), second.state.expectedMs(asking)]
  // One that was never called is taken to be as quick as the other.
  const latencyOf = (own: number | undefined, others: number | undefined): number => own ?? others ?? 1
  const firstCost = costOf(first, latencyOf(one, two), meanWeight, asking.nowMs)
  const secondCost = costOf(second, latencyOf(two, one), meanWeight, asking.nowMs)
  return secondCost < firstCost * CLEARLY_SHORTER ? second : first
}

/** Expected wait. What is under way counts by weight, so that idle deployments differ in latency alone. */
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

function nobody<Offer extends Schedulable>(
  candidates: readonly Candidate<Offer>[],
  nowMs: number,
): Picked<Offer> {
  // Who was not compared yet may be let in at any moment; who is quarantined needs somebody to act.
  const isComing = candidates.some(({ standing }) => standing.kind === 'held-back')
  let why: 'ejected' | 'limited' | Held = isComing ? 'held-back' : 'quarantined'
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
