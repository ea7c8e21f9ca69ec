/**
 * Probes of deployments in use. Every 20 seconds at the latest one short text, by one node for all; and all texts in calls of the
 * sizes that this node has seen, where half a percent of the tokens pays for it.
 */
import type { Catalog, Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import { sizeName, type CallSize } from '#core/embedding/call-size.ts'
import { ProbeBudget, type SizeProbed } from '#core/embedding/probe-budget.ts'
import { probeTokens } from '#core/embedding/probe-calls.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { Clock } from '#ports/clock.ts'
import { SHORT, type ProbeResult, type SpaceStore } from '#ports/spaces.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { askAgain, type FoundDeployment, type ProbeInUse } from './confirm.ts'
import { embeddingDeployments, targetOf, type GuardedStanding, type SpaceKnowledge } from './knowledge.ts'
import { goodCheckOf, judgedInUse, type SeenInUse } from './probe.ts'
import { SeenCalls } from './seen-calls.ts'

export interface InUseParts {
  readonly clock: Clock
  readonly catalog: () => Catalog
  readonly probe: ProbeInUse
  readonly known: SpaceKnowledge
  readonly store: Pick<SpaceStore, 'claimProbe'>
  /** A probe was outside. */
  readonly onOutside: (result: ProbeResult, before: GuardedStanding) => void
  /** A probe was near the edge of the space. */
  readonly onWarned: (found: FoundDeployment, result: ProbeResult, before: GuardedStanding) => void
  readonly onTrouble: (error: unknown) => void
  readonly random: () => number
}

/** Longest time between two probes of a deployment in use: with the time of a probe, a change shows within 25 seconds. */
const IN_USE_MS = 20_000
/** Less than that between two nodes: the last probe was sent a moment after its claim. */
const CLAIM_MS = IN_USE_MS - 1000
/** Interval at which due probes are noticed. */
const LOOK_MS = 1000
/** Time after which a probe without an answer is repeated. */
const RETRY_MS = 5000
/** Time after which a probe that another node took on is looked for: its result is known by then. */
const OTHERS_MS = 3000
/** Time for which a size is left alone that the upstream has refused: what callers send may be a little smaller. */
const REFUSED_MS = 15 * 60_000
/** Turns begin at one of these, so that nodes ask at different places of a call. */
const TURNS = 1000

/** What this node knows of one deployment. */
interface InUse {
  readonly calls: SeenCalls
  readonly budget: ProbeBudget
  /** There were calls since the last probe began. */
  isUsed: boolean
  /** When a probe may begin next, on the monotonic clock, by its name. */
  readonly notBeforeMs: Map<string, number>
  /** When this node took on a probe for all, likewise. */
  readonly claimedMs: Map<string, number>
  /** Names of probes in progress. */
  readonly running: Set<string>
  turn: number
}

export class ProbesInUse {
  readonly #parts: InUseParts
  /** By deployment of a catalog: one that leads elsewhere starts over. */
  readonly #deployments = new WeakMap<Deployment, InUse>()
  readonly #running = new Set<Promise<void>>()

  constructor(parts: InUseParts) {
    this.#parts = parts
  }

  noteCall(model: EmbeddingModel, deployment: Deployment, inputs: number, tokens: number): void {
    if (!model.isGuarded) return
    const known = this.#deployments.get(deployment) ?? this.#begin(deployment)
    known.calls.note(inputs, tokens)
  }

  #begin(deployment: Deployment): InUse {
    const known: InUse = {
      calls: new SeenCalls(),
      budget: new ProbeBudget(),
      isUsed: false,
      notBeforeMs: new Map(),
      claimedMs: new Map(),
      running: new Set(),
      turn: Math.floor(this.#parts.random() * TURNS),
    }
    this.#deployments.set(deployment, known)
    return known
  }

  /** Begins the probes that are due, without waiting for them. */
  look(): void {
    const { clock, catalog, known } = this.#parts
    const nowMs = clock.monotonicMs()
    const current = catalog()
    for (const found of embeddingDeployments(current)) {
      const { model, deployment } = found
      const own = this.#deployments.get(deployment)
      if (own === undefined) continue
      if (own.calls.drain((tokens, largest) => own.budget.earn(tokens, largest, nowMs))) own.isUsed = true
      if (known.referenceOf(model.id) === undefined) continue
      const standing = known.standingOf(current, model, deployment)
      if (standing.isQuarantined) continue
      const size = own.budget.choose((name) => this.#probedAs(name, own, standing), nowMs)
      if (size !== undefined) this.#run(found, own, size)
      // Not in the same second: calls of a size most often show it first.
      if (own.isUsed && this.#isShortDue(own, standing, size !== undefined)) this.#run(found, own, undefined)
    }
  }

  /** Probes a deployment now, in calls like its largest. True: what it had made until then is of its space. */
  async confirm(found: FoundDeployment, largest: CallSize | undefined): Promise<boolean> {
    const { clock, probe, onTrouble, random } = this.#parts
    const sentAtMs = clock.nowMs()
    try {
      const seen = await askAgain(probe, found, largest, Math.floor(random() * TURNS))
      return this.#judge(found, { ...seen, sentAtMs })
    } catch (error) {
      onTrouble(error)
      return false
    }
  }

  /** Resolves when the probes in progress have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#running)
  }

  #probedAs(name: string, own: InUse, { goodSizes }: GuardedStanding): SizeProbed {
    const goodAtMs = goodSizes[name]
    const agoMs = goodAtMs === undefined ? Infinity : this.#ago(goodAtMs)
    return { isNew: goodAtMs === undefined, isDue: agoMs >= IN_USE_MS && this.#mayBegin(name, own), agoMs }
  }

  #isShortDue(own: InUse, { lastGoodAtMs = -Infinity }: GuardedStanding, mayWait: boolean): boolean {
    const dueMs = mayWait ? IN_USE_MS + LOOK_MS : IN_USE_MS
    return this.#ago(lastGoodAtMs) >= dueMs && this.#mayBegin(SHORT, own)
  }

  #mayBegin(name: string, { running, notBeforeMs }: InUse): boolean {
    return !running.has(name) && this.#parts.clock.monotonicMs() >= (notBeforeMs.get(name) ?? -Infinity)
  }

  /** By the wall clock, by which nodes know of one another's probes. It may have been set back since. */
  #ago(atMs: number): number {
    return Math.abs(this.#parts.clock.nowMs() - atMs)
  }

  #run(found: FoundDeployment, own: InUse, size: CallSize | undefined): void {
    const name = nameOf(size)
    own.running.add(name)
    own.isUsed = false
    const running = this.#probe(found, own, size)
      .catch((error: unknown) => {
        const isRefused = error instanceof UpstreamFailure && error.kind === 'refused'
        this.#pause(own, name, isRefused && size !== undefined ? REFUSED_MS : RETRY_MS)
        this.#parts.onTrouble(error)
      })
      .finally(() => {
        own.running.delete(name)
        this.#running.delete(running)
      })
    this.#running.add(running)
  }

  #pause(own: InUse, name: string, ms: number): void {
    own.notBeforeMs.set(name, this.#parts.clock.monotonicMs() + ms)
  }

  async #probe(found: FoundDeployment, own: InUse, size: CallSize | undefined): Promise<void> {
    const { clock, probe } = this.#parts
    const { model, deployment } = found
    const name = nameOf(size)
    if (!(await this.#claims(found, own, name))) {
      own.isUsed = true
      return this.#pause(own, name, OTHERS_MS)
    }
    const { budget } = own
    const likely = size === undefined ? 0 : probeTokens(size)
    // Before the answer: a probe that fails may have to be paid for.
    if (size !== undefined) budget.spend(likely, size)
    own.turn += 1
    const sentAtMs = clock.nowMs()
    const { tokens, ...seen } = await probe(model, deployment, { size, turn: own.turn })
    if (size === undefined) budget.spendShort(tokens)
    else budget.spend(tokens - likely, size)
    this.#judge(found, { ...seen, size, sentAtMs })
  }

  /** Whether this node makes the probe for all. One that is repeated is its own already. Without the store each node makes it. */
  async #claims({ model, deployment }: FoundDeployment, own: InUse, name: string): Promise<boolean> {
    const { clock, store } = this.#parts
    const nowMs = clock.monotonicMs()
    if (nowMs - (own.claimedMs.get(name) ?? -Infinity) < CLAIM_MS) return true
    const target = targetOf(model, deployment)
    try {
      const claimed = { model: model.id, deployment: deployment.id, target, name }
      if (!(await store.claimProbe(claimed, CLAIM_MS))) return false
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error
    }
    own.claimedMs.set(name, nowMs)
    return true
  }

  /** True where the answer is within the space. One that is outside counts at once; a good one lets no deployment return. */
  #judge(found: FoundDeployment, seen: SeenInUse): boolean {
    const { catalog, known, onOutside, onWarned } = this.#parts
    const { model, deployment } = found
    const reference = known.referenceOf(model.id)
    // One sent before the space was accepted may be of the space before.
    if (reference === undefined || seen.sentAtMs < reference.acceptedAtMs) return false
    const result = judgedInUse(model, deployment, reference, seen)
    const before = known.standingOf(catalog(), model, deployment)
    if (result.verdict === 'quarantined') {
      onOutside(result, before)
      return false
    }
    if (!before.isQuarantined) known.noteGood(goodCheckOf(result))
    if (result.verdict === 'warned') onWarned(found, result, before)
    return true
  }
}

function nameOf(size: CallSize | undefined): string {
  return size === undefined ? SHORT : sizeName(size)
}
