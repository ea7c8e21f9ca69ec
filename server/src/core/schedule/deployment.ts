/**
 * What a node knows of one deployment: its health, its calls
 * under way, how long calls take, what its limits leave.
 */
import type { DeploymentLimits, RateTake } from '../limit.ts'
import { AdaptiveLimit, type EndedCall } from './adaptive-limit.ts'
import { backgroundRoom } from './background-reserve.ts'
import { Health, type JudgedCall } from './health.ts'
import { Latency, sizeClass } from './latency.ts'
import { DeploymentRates, takesOf } from './rates.ts'

/** How a call ended, as far as the next call is concerned. */
export type CallEnd =
  /** The duration is undefined where it would tell of this node, not of the upstream. */
  | { readonly kind: 'ok'; readonly durationMs: number | undefined }
  /** 400, content refusal: nothing is wrong with the upstream. */
  | { readonly kind: 'refused'; readonly durationMs: number }
  /** 429, or 503 with Retry-After. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number | undefined }
  /** 5xx, reset, garbage, time-out. */
  | { readonly kind: 'failed'; readonly durationMs: number }
  /** Our credential or quota was refused, which will not mend soon. */
  | { readonly kind: 'rejectedUs' }
  /** The call failed, perhaps because of one text in it: the calls that follow it tell more. */
  | { readonly kind: 'unclear' }
  /** The call was given up before it was sent, so nothing was learnt. */
  | { readonly kind: 'abandoned' }

/** What a call needs of a deployment. */
export interface CallDemand {
  /** Undefined: it is made for several projects. */
  readonly project?: string | undefined
  readonly nowMs: number
  readonly tokens: number
  readonly images: number
  /** Nobody waits for it: a part of every limit is not for it. */
  readonly isBackground?: boolean | undefined
}

/** Why no vector of a deployment may leave: it is of another space, or the guard has not compared it yet. */
export type HoldReason = 'quarantined' | 'held-back'

/** Whether a call can be sent now, or else from when on it is worth asking again. */
export type Readiness =
  | { readonly kind: 'ready' }
  | { readonly kind: 'full' }
  | { readonly kind: 'limited' | 'ejected'; readonly untilMs: number }
  /** Until the guard, or an operator, says otherwise. */
  | { readonly kind: HoldReason | 'drained' }

const READY: Readiness = { kind: 'ready' }
const FULL: Readiness = { kind: 'full' }
const DRAINED: Readiness = { kind: 'drained' }

/** The longest wait that an upstream alone can ask for: some send hours. */
const MAX_RETRY_AFTER_MS = 60_000
/** The wait where the upstream names none. It doubles each time that it did not help. */
const BACKOFF_MS = 250
const MAX_BACKOFF_MS = 15_000

/** A call is overdue when it takes so many times the usual, and no sooner than this. */
const OVERDUE_TIMES = 10
const OVERDUE_MIN_MS = 1000
/** How often the node looks for overdue calls. */
const LOOK_EVERY_MS = 50
/**
 * A failure that took so many times the usual, such as a
 * time-out, tells of latency too. A quick one does not.
 */
const SLOW_FAILURE_TIMES = 3
/** While a probe is under way, it is worth asking again this soon. */
const PROBE_OUT_MS = 100
/** So long after somebody's call: enough for a window of people who come once a second. Later, nobody is there. */
const LATELY_MS = 10_000

interface Call extends JudgedCall {
  readonly size: number
  readonly inFlight: number
  readonly limit: number
  readonly takes: readonly RateTake[]
  readonly isBackground: boolean
  wasOverdue: boolean
}

export class DeploymentState {
  readonly health = new Health()
  readonly #latency = new Latency()
  readonly #adaptive = new AdaptiveLimit(this.#latency)
  readonly #calls = new Set<Call>()
  readonly #rates = new DeploymentRates()
  #overdue = 0
  /** Calls under way that nobody waits for. */
  #background = 0
  #lookedAtMs = 0
  /** When the last call ended that somebody waited for. */
  #peopleAtMs = Number.NEGATIVE_INFINITY
  #backgroundTaught = false
  #limitedAtMs = 0
  #limitedUntilMs = 0
  #limitedInARow = 0
  held: HoldReason | undefined
  /** An operator wants no more calls to it. Those under way go on. */
  isDrained = false

  get inFlight(): number {
    return this.#calls.size
  }

  /** Overdue calls hardly get an answer any more. They take no room, except from a limit that an operator set. */
  get waiting(): number {
    return this.#calls.size - this.#overdue
  }

  get limitedUntilMs(): number {
    return this.#limitedUntilMs
  }

  limit(limits: DeploymentLimits | undefined): number {
    if (limits === undefined) return this.#adaptive.limit(undefined)
    const { concurrency, minConcurrency, learnsConcurrency } = limits
    return learnsConcurrency === false
      ? (concurrency ?? Number.POSITIVE_INFINITY)
      : this.#adaptive.limit(concurrency, minConcurrency)
  }

  /** A step down is tried at the expense of those whom nobody waits for, as long as there are any. */
  #limitFor({ isBackground }: CallDemand, limits: DeploymentLimits | undefined): number {
    const limit = this.limit(limits)
    if (isBackground === true || this.#background === 0) return limit
    return Math.max(limit, this.#adaptive.limitBefore ?? limit)
  }

  expectedMs({ tokens, images, nowMs }: CallDemand): number | undefined {
    return this.#latency.expectedMs(sizeClass(tokens, images), nowMs)
  }

  /** The usual time of the smallest calls that the node has seen. */
  get latencyMs(): number | undefined {
    return this.#latency.usualMs(0)
  }

  standing(wanted: CallDemand, limits: DeploymentLimits | undefined, share: number): Readiness {
    const { nowMs } = wanted
    if (this.isDrained) return DRAINED
    if (this.held !== undefined) return { kind: this.held }
    this.look(nowMs)
    const limitedUntilMs = this.#limitedFor(wanted)
    if (nowMs < limitedUntilMs) return { kind: 'limited', untilMs: limitedUntilMs }
    if (!this.health.isHealthy) return this.#ejected(nowMs, false)
    const concurrency = limits?.concurrency ?? Number.POSITIVE_INFINITY
    const people = this.#hasPeople(nowMs) ? this.#people : undefined
    const roomIn = (limit: number): number =>
      wanted.isBackground === true ? backgroundRoom(limit, people) : limit
    if (this.waiting >= roomIn(this.#limitFor(wanted, limits)) || this.inFlight >= roomIn(concurrency))
      return FULL
    const untilMs = this.#rates.fullUntilMs(wanted, limits, share)
    return untilMs === undefined ? READY : { kind: 'limited', untilMs }
  }

  /** Whether the deployment may be probed now. `isAlone`: no other deployment can take the call. */
  mayProbe(
    wanted: CallDemand,
    limits: DeploymentLimits | undefined,
    share: number,
    isAlone: boolean,
  ): boolean {
    const { nowMs } = wanted
    return (
      !this.isDrained &&
      this.held === undefined &&
      nowMs >= this.#limitedFor(wanted) &&
      this.health.mayProbe(nowMs, isAlone) &&
      this.inFlight < (limits?.concurrency ?? Number.POSITIVE_INFINITY) &&
      this.#rates.fullUntilMs(wanted, limits, share) === undefined
    )
  }

  /** From when on an ejected deployment may be probed by calls that no other can take. */
  aloneFromMs(nowMs: number): number {
    const standing = this.#ejected(nowMs, true)
    return 'untilMs' in standing ? standing.untilMs : nowMs
  }

  /** Returns the function that ends the call. A second end changes nothing. */
  begin(
    wanted: CallDemand,
    limits: DeploymentLimits | undefined,
    share: number,
    how: { readonly isProbe: boolean; readonly isAlone: boolean },
  ): (end: CallEnd, nowMs: number) => void {
    const takes = takesOf(wanted, limits)
    this.#rates.take(takes, wanted.nowMs, share)
    const call: Call = {
      isProbe: how.isProbe,
      isAlone: how.isAlone,
      startedMs: wanted.nowMs,
      project: wanted.project,
      size: sizeClass(wanted.tokens, wanted.images),
      inFlight: this.waiting + 1,
      limit: this.limit(limits),
      takes,
      isBackground: wanted.isBackground === true,
      wasOverdue: false,
    }
    this.#calls.add(call)
    const background = call.isBackground ? 1 : 0
    this.#background += background
    if (call.isProbe) this.health.probeSent(call, wanted.nowMs)
    return (end, nowMs) => {
      if (!this.#calls.delete(call)) return
      this.#background -= background
      this.#ended(call, end, nowMs, limits, share)
    }
  }

  /** Counts calls that take far too long as failed, without waiting for their time-out. */
  look(nowMs: number): void {
    if (nowMs - this.#lookedAtMs < LOOK_EVERY_MS) return
    this.#lookedAtMs = nowMs
    for (const call of this.#calls) {
      if (call.wasOverdue || nowMs - call.startedMs < OVERDUE_MIN_MS) continue
      const usualMs = this.#latency.usualMs(call.size)
      if (usualMs === undefined || nowMs - call.startedMs < usualMs * OVERDUE_TIMES) continue
      call.wasOverdue = true
      this.#overdue += 1
      this.health.overdue(call, nowMs)
    }
  }

  #ended(call: Call, end: CallEnd, nowMs: number, limits: DeploymentLimits | undefined, share: number): void {
    if (call.wasOverdue) this.#overdue -= 1
    switch (end.kind) {
      case 'ok': {
        const { durationMs } = end
        if (this.#teaches(call, nowMs)) {
          if (durationMs === undefined) this.#adaptive.endedUnheard(call, nowMs, limits?.concurrency)
          else this.#adaptive.ended(timed(call, durationMs), nowMs, limits?.concurrency)
        }
        return this.#answered(call, nowMs)
      }
      case 'refused': {
        return this.#answered(call, nowMs)
      }
      case 'limited': {
        this.health.ended(call)
        return this.#limited(call, end.retryAfterMs, nowMs)
      }
      case 'failed': {
        if (!call.wasOverdue && this.#isSlow(call, end.durationMs) && this.#teaches(call, nowMs))
          this.#adaptive.ended(timed(call, end.durationMs), nowMs, limits?.concurrency)
        // An overdue call was counted before.
        return call.wasOverdue ? this.health.ended(call) : this.health.failed(call, nowMs)
      }
      case 'unclear': {
        return this.health.ended(call)
      }
      case 'rejectedUs': {
        return this.health.rejectedUs(call, nowMs)
      }
      case 'abandoned': {
        this.health.ended(call)
        return this.#rates.giveBack(call.takes, nowMs, share)
      }
    }
  }

  /**
   * Whether the limit learns from this call. Calls that nobody waits for grow and shrink all the time, which looks like a queue at
   * the upstream when it is none, and only those who wait suffer from a limit that is cut for it. So where there are both, the
   * limit learns from those who wait: their calls notice every queue that background calls make.
   */
  #teaches({ isBackground }: Call, nowMs: number): boolean {
    if (isBackground && this.#hasPeople(nowMs)) return false
    if (!isBackground) {
      this.#peopleAtMs = nowMs
      if (this.#backgroundTaught) this.#adaptive.restart(nowMs)
    }
    this.#backgroundTaught = isBackground
    return true
  }

  /** Calls under way that somebody waits for. */
  get #people(): number {
    return this.inFlight - this.#background
  }

  /** Whether somebody's call is under way, or was lately. */
  #hasPeople(nowMs: number): boolean {
    return this.#people > 0 || nowMs - this.#peopleAtMs < LATELY_MS
  }

  #answered(call: Call, nowMs: number): void {
    if (call.startedMs >= this.#limitedAtMs) this.#limitedInARow = 0
    if (this.health.succeeded(call, nowMs)) this.#adaptive.recovered(nowMs)
  }

  #limited(call: Call, retryAfterMs: number | undefined, nowMs: number): void {
    this.#adaptive.overloaded(call.startedMs, call.inFlight, nowMs)
    // Calls that were sent before the limit was known repeat the news. They don't make it worse.
    const isNews = call.startedMs >= this.#limitedAtMs
    if (isNews) {
      this.#limitedInARow += 1
      this.#limitedAtMs = nowMs
    }
    const backoffMs = Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** Math.min(20, this.#limitedInARow - 1))
    const forMs = retryAfterMs ? Math.min(MAX_RETRY_AFTER_MS, retryAfterMs) : isNews ? backoffMs : 0
    this.#limitedUntilMs = Math.max(this.#limitedUntilMs, nowMs + forMs)
  }

  /** After a rate limit, work that nobody waits for begins again when the others have had as long again for themselves. */
  #limitedFor({ isBackground }: CallDemand): number {
    const untilMs = this.#limitedUntilMs
    return isBackground === true ? untilMs + Math.max(0, untilMs - this.#limitedAtMs) : untilMs
  }

  #isSlow({ size }: Call, durationMs: number): boolean {
    const usualMs = this.#latency.usualMs(size)
    return usualMs !== undefined && durationMs > usualMs * SLOW_FAILURE_TIMES
  }

  #ejected(nowMs: number, isAlone: boolean): Readiness {
    const fromMs = Math.max(this.health.probeFromMs(isAlone), this.#limitedUntilMs)
    return { kind: 'ejected', untilMs: fromMs > nowMs ? fromMs : nowMs + PROBE_OUT_MS }
  }
}

/** What is learnt of a call. It is kept for a while, so it holds no more. */
function timed({ size, startedMs, inFlight, limit }: Call, durationMs: number): EndedCall {
  return { size, startedMs, durationMs, inFlight, limit }
}
