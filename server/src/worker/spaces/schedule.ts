/** When a deployment is probed again, and by which node. */
import type { Clock } from '#ports/clock.ts'
import type { ProbeResult } from '#ports/spaces.ts'
import { AGAIN_MS, type GuardedStanding } from './knowledge.ts'
import type { MissingReference } from './references.ts'

/** Interval of probes. Eight short texts and three small images each time cost a few cents a year, and vectors cached since are soon made again. */
const PROBE_EVERY_MS = 15 * 60_000
/** First retry of a deployment that was never compared, since it may not serve; the interval doubles each time. */
const FIRST_RETRY_MS = 5000
/**
 * Failed probes after which the interval grows: an hour in vain, each probe may be charged, and no operator
 * seems to be fixing the deployment.
 */
const TRIES_IN_VAIN = 60
/**
 * The probing node may be unreachable, or may not know a deployment of this node's configuration. After this
 * time, and up to twice as long, any node probes: the first one to notice, so that the others see its result.
 */
const ORPHANED_MS = 10_000

interface ProbeNotes {
  /** The last probe, by any node. */
  readonly last: ProbeResult | undefined
  /** Successive probes, by any node, after which there was nothing to compare. */
  readonly vain: number
  /** Whether the operator was alerted that there have been too many of them. */
  readonly isReported: boolean
  /** When this node probed, on the monotonic clock, like the next field. */
  readonly triedMs: number
  /** When any node may probe; undefined when the deployment is not due. */
  readonly orphanedAtMs: number | undefined
}

const NOTHING: ProbeNotes = {
  last: undefined,
  vain: 0,
  isReported: false,
  triedMs: -Infinity,
  orphanedAtMs: undefined,
}

export class ProbeSchedule {
  readonly #clock: Clock
  readonly #random: () => number
  /** By deployment. */
  readonly #notes = new Map<string, ProbeNotes>()

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock
    this.#random = random
  }

  /** Notes every probe of these deployments, and forgets all others. */
  note(standings: ReadonlyMap<string, GuardedStanding>): void {
    for (const id of this.#notes.keys()) if (!standings.has(id)) this.#notes.delete(id)
    for (const [id, { last }] of standings) {
      const noted = this.#notes.get(id) ?? NOTHING
      if (noted.last?.atMs === last?.atMs) continue
      // A deployment that points elsewhere by now starts over.
      const isSame = noted.last === undefined || noted.last.target === last?.target
      const { vain, isReported, triedMs } = isSame ? noted : NOTHING
      const isVain = last !== undefined && last.leastCosine === undefined
      this.#notes.set(id, {
        last,
        vain: isVain ? vain + 1 : 0,
        isReported: isVain && isReported,
        triedMs,
        orphanedAtMs: undefined,
      })
    }
  }

  /** Notes that this node probes the deployment now. */
  tried(deployment: string): void {
    const noted = this.#notes.get(deployment) ?? NOTHING
    const triedMs = this.#clock.monotonicMs()
    this.#notes.set(deployment, { ...noted, triedMs, orphanedAtMs: undefined })
  }

  /**
   * True where a probe of a deployment in use, near the edge of its space, calls for one of all texts and images. Not soon after such
   * a probe by this node, and not where the last one was near the edge too.
   */
  isCalledBy(inUse: ProbeResult, { deployment, last }: GuardedStanding): boolean {
    const { triedMs } = this.#notes.get(deployment) ?? NOTHING
    const isNews = inUse.verdict === 'warned' && last?.verdict === 'good'
    return isNews && this.#clock.monotonicMs() - triedMs >= AGAIN_MS
  }

  /** True once, when there has been nothing to compare for an hour: an operator should know. */
  isNewlyVain(deployment: string): boolean {
    const noted = this.#notes.get(deployment) ?? NOTHING
    if (noted.isReported || noted.vain < TRIES_IN_VAIN) return false
    this.#notes.set(deployment, { ...noted, isReported: true })
    return true
  }

  /** The node that should probe the deployment now. A deployment that stays due is probed by any node in the end. */
  asker(standing: GuardedStanding, missing: MissingReference): 'none' | 'prober' | 'any' {
    const { deployment } = standing
    const noted = this.#notes.get(deployment) ?? NOTHING
    const nowMs = this.#clock.monotonicMs()
    if (!this.#isDue(standing, noted, missing)) {
      if (noted.orphanedAtMs !== undefined) this.#notes.set(deployment, { ...noted, orphanedAtMs: undefined })
      return 'none'
    }
    const orphanedAtMs = noted.orphanedAtMs ?? nowMs + ORPHANED_MS * (1 + this.#random())
    this.#notes.set(deployment, { ...noted, orphanedAtMs })
    return nowMs >= orphanedAtMs ? 'any' : 'prober'
  }

  #isDue(standing: GuardedStanding, { vain, triedMs }: ProbeNotes, missing: MissingReference): boolean {
    const { last } = standing
    const triedAgoMs = this.#clock.monotonicMs() - triedMs
    // Other nodes' probes are known by the wall clock, which may have been set back since.
    const lastAgoMs = last === undefined ? Infinity : Math.abs(this.#clock.nowMs() - last.atMs)
    return Math.min(triedAgoMs, lastAgoMs) >= pauseMs(standing, vain, missing)
  }
}

function pauseMs({ state, last }: GuardedStanding, vain: number, missing: MissingReference): number {
  if (vain >= TRIES_IN_VAIN) return PROBE_EVERY_MS
  if (state === 'held-back' || missing === 'all')
    return Math.min(AGAIN_MS, FIRST_RETRY_MS * 2 ** Math.max(0, vain - 1))
  // One odd answer may be an accident: then it serves again at once.
  if (state === 'quarantined' && last?.isInUse) return FIRST_RETRY_MS
  const isSoon = state === 'quarantined' || last?.verdict === 'failed' || missing === 'images'
  return isSoon ? AGAIN_MS : PROBE_EVERY_MS
}
