/** When a deployment is to be asked for its vectors again, and by whom. */
import type { Clock } from '#ports/clock.ts'
import type { ProbeResult } from '#ports/spaces.ts'
import { AGAIN_MS, type GuardedStanding } from './knowledge.ts'

/** Eight short texts every quarter of an hour: a few cents a year, and what was cached since is soon made again. */
const PROBE_EVERY_MS = 15 * 60_000
/** One that was never compared is kept from serving: asked again this soon, then half as often each time. */
const FIRST_RETRY_MS = 5000
/** An hour in vain: it may be charged each time, and nobody seems to be mending it. */
const TRIES_IN_VAIN = 60
/**
 * The node that asks for all may be away, or not know a deployment of our configuration: then whoever notices first asks, after
 * this time and up to as much again, so that the others see what it found.
 */
const ORPHANED_MS = 10_000

interface Noted {
  /** The last look at it, by whichever node. */
  readonly last: ProbeResult | undefined
  /** Looks in a row, by whichever node, at the end of which there was nothing to compare. */
  readonly vain: number
  /** Somebody was told that there have been too many of them. */
  readonly isTold: boolean
  /** On the monotonic clock, as all that follows: when this node asked. */
  readonly triedMs: number
  /** Undefined: it is not due. */
  readonly orphanedAtMs: number | undefined
}

const NOTHING: Noted = {
  last: undefined,
  vain: 0,
  isTold: false,
  triedMs: -Infinity,
  orphanedAtMs: undefined,
}

export class ProbeSchedule {
  readonly #clock: Clock
  readonly #random: () => number
  /** By deployment. */
  readonly #noted = new Map<string, Noted>()

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock
    this.#random = random
  }

  /** Takes notice of every look at one of these deployments; of others it forgets all. */
  note(standings: ReadonlyMap<string, GuardedStanding>): void {
    for (const id of this.#noted.keys()) if (!standings.has(id)) this.#noted.delete(id)
    for (const [id, { last }] of standings) {
      const noted = this.#noted.get(id) ?? NOTHING
      if (noted.last?.atMs === last?.atMs) continue
      // One that leads elsewhere by now begins anew.
      const isSame = noted.last === undefined || noted.last.target === last?.target
      const { vain, isTold, triedMs } = isSame ? noted : NOTHING
      const isVain = last !== undefined && last.leastCosine === undefined
      this.#noted.set(id, {
        last,
        vain: isVain ? vain + 1 : 0,
        isTold: isVain && isTold,
        triedMs,
        orphanedAtMs: undefined,
      })
    }
  }

  /** This node asks it now. */
  tried(deployment: string): void {
    const noted = this.#noted.get(deployment) ?? NOTHING
    const triedMs = this.#clock.monotonicMs()
    this.#noted.set(deployment, { ...noted, triedMs, orphanedAtMs: undefined })
  }

  /** Once, when there has been nothing to compare for an hour: somebody should know. */
  isNewlyVain(deployment: string): boolean {
    const noted = this.#noted.get(deployment) ?? NOTHING
    if (noted.isTold || noted.vain < TRIES_IN_VAIN) return false
    this.#noted.set(deployment, { ...noted, isTold: true })
    return true
  }

  /** Who should ask it now; to be looked at again and again, since one that stays due is asked by anybody in the end. */
  asker(standing: GuardedStanding, hasReference: boolean): 'nobody' | 'prober' | 'anybody' {
    const { deployment } = standing
    const noted = this.#noted.get(deployment) ?? NOTHING
    const nowMs = this.#clock.monotonicMs()
    if (!this.#isDue(standing, noted, hasReference)) {
      if (noted.orphanedAtMs !== undefined) this.#noted.set(deployment, { ...noted, orphanedAtMs: undefined })
      return 'nobody'
    }
    const orphanedAtMs = noted.orphanedAtMs ?? nowMs + ORPHANED_MS * (1 + this.#random())
    this.#noted.set(deployment, { ...noted, orphanedAtMs })
    return nowMs >= orphanedAtMs ? 'anybody' : 'prober'
  }

  #isDue(standing: GuardedStanding, { vain, triedMs }: Noted, hasReference: boolean): boolean {
    const { last } = standing
    const triedAgoMs = this.#clock.monotonicMs() - triedMs
    // What others did is known by the wall clock, which may have been set back since.
    const lastAgoMs = last === undefined ? Infinity : Math.abs(this.#clock.nowMs() - last.atMs)
    return Math.min(triedAgoMs, lastAgoMs) >= pauseMs(standing, vain, hasReference)
  }
}

function pauseMs({ state, last }: GuardedStanding, vain: number, hasReference: boolean): number {
  if (vain >= TRIES_IN_VAIN) return PROBE_EVERY_MS
  if (state === 'held-back' || !hasReference)
    return Math.min(AGAIN_MS, FIRST_RETRY_MS * 2 ** Math.max(0, vain - 1))
  return state === 'quarantined' || last?.verdict === 'failed' ? AGAIN_MS : PROBE_EVERY_MS
}
