/** When a deployment is asked for its vectors again, and by which node. */
import type { Clock } from '#ports/clock.ts'
import type { ProbeResult } from '#ports/spaces.ts'
import { AGAIN_MS, type GuardedStanding } from './knowledge.ts'

/** Eight short texts each time: a few cents a year, and what was cached since is soon made again. */
const PROBE_EVERY_MS = 15 * 60_000
/** A deployment that was never compared may not serve: it is asked so soon, then half as often each time. */
const FIRST_RETRY_MS = 5000
/** An hour in vain: each try may be charged, and no operator seems to be mending the deployment. */
const TRIES_IN_VAIN = 60
/**
 * The node that asks for all may be away, or may not know a deployment of this node's
 * configuration. After this time, and up to as much again, any node asks: the first one to
 * notice, so that the others see what it found.
 */
const ORPHANED_MS = 10_000

interface ProbeNotes {
  /** The last look at it, by whichever node. */
  readonly last: ProbeResult | undefined
  /** Looks in a row, by whichever node, at the end of which there was nothing to compare. */
  readonly vain: number
  /** The operator was told that there have been too many of them. */
  readonly isTold: boolean
  /** When this node asked. On the monotonic clock, as the next one. */
  readonly triedMs: number
  /** When any node may ask; undefined: the deployment is not due. */
  readonly orphanedAtMs: number | undefined
}

const NOTHING: ProbeNotes = {
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
  readonly #notes = new Map<string, ProbeNotes>()

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock
    this.#random = random
  }

  /** Notes every look at one of these deployments, and forgets all others. */
  note(standings: ReadonlyMap<string, GuardedStanding>): void {
    for (const id of this.#notes.keys()) if (!standings.has(id)) this.#notes.delete(id)
    for (const [id, { last }] of standings) {
      const noted = this.#notes.get(id) ?? NOTHING
      if (noted.last?.atMs === last?.atMs) continue
      // A deployment that leads elsewhere by now begins anew.
      const isSame = noted.last === undefined || noted.last.target === last?.target
      const { vain, isTold, triedMs } = isSame ? noted : NOTHING
      const isVain = last !== undefined && last.leastCosine === undefined
      this.#notes.set(id, {
        last,
        vain: isVain ? vain + 1 : 0,
        isTold: isVain && isTold,
        triedMs,
        orphanedAtMs: undefined,
      })
    }
  }

  /** This node asks the deployment now. */
  tried(deployment: string): void {
    const noted = this.#notes.get(deployment) ?? NOTHING
    const triedMs = this.#clock.monotonicMs()
    this.#notes.set(deployment, { ...noted, triedMs, orphanedAtMs: undefined })
  }

  /** True once, when there has been nothing to compare for an hour: an operator should know. */
  isNewlyVain(deployment: string): boolean {
    const noted = this.#notes.get(deployment) ?? NOTHING
    if (noted.isTold || noted.vain < TRIES_IN_VAIN) return false
    this.#notes.set(deployment, { ...noted, isTold: true })
    return true
  }

  /** Which node should ask the deployment now. One that stays due is asked by any node in the end. */
  asker(standing: GuardedStanding, hasReference: boolean): 'nobody' | 'prober' | 'anybody' {
    const { deployment } = standing
    const noted = this.#notes.get(deployment) ?? NOTHING
    const nowMs = this.#clock.monotonicMs()
    if (!this.#isDue(standing, noted, hasReference)) {
      if (noted.orphanedAtMs !== undefined) this.#notes.set(deployment, { ...noted, orphanedAtMs: undefined })
      return 'nobody'
    }
    const orphanedAtMs = noted.orphanedAtMs ?? nowMs + ORPHANED_MS * (1 + this.#random())
    this.#notes.set(deployment, { ...noted, orphanedAtMs })
    return nowMs >= orphanedAtMs ? 'anybody' : 'prober'
  }

  #isDue(standing: GuardedStanding, { vain, triedMs }: ProbeNotes, hasReference: boolean): boolean {
    const { last } = standing
    const triedAgoMs = this.#clock.monotonicMs() - triedMs
    // When other nodes asked is known by the wall clock, which may have been set back since.
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
