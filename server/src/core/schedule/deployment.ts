/**
 * The state of one deployment on this node: its health, its calls in progress, their durations, and what its limits leave.
 */
import type { DeploymentLimits, RateTake } from '../limits/limit.ts'
import { AdaptiveLimit, type EndedCall } from './adaptive-limit.ts'
import { backgroundRoom } from './background-reserve.ts'
import { Health, type JudgedCall } from './health.ts'
import { Latency, sizeClass } from './latency.ts'
import { DeploymentRates, takesOf } from './rates.ts'

/** How a call ended, as far as the next call is concerned. */
export type CallEnd =
  /** The duration is undefined where it would describe this node, not the upstream. */
  | { readonly kind: 'ok'; readonly durationMs: number | undefined }
  /** 400, content refusal: nothing is wrong with the upstream. */
  | { readonly kind: 'refused'; readonly durationMs: number }
  /** 429, or 503 with Retry-After. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number | undefined }
  /** 5xx, reset, garbage, timeout. */
  | { readonly kind: 'failed'; readonly durationMs: number }
  /** Our credential or quota was refused, which only a person can fix. */
  | { readonly kind: 'rejectedUs' }
  /** The call failed, perhaps because of one text in it: the following calls tell more. */
  | { readonly kind: 'unclear' }
  /** The call was given up before it was sent, so nothing was learnt. */
  | { readonly kind: 'abandoned' }

/** The needs of a call. */
export interface CallDemand {
  /** Undefined for a call of several projects. */
  readonly project?: string | undefined
  readonly nowMs: number
  readonly tokens: number
  readonly images: number
  /** No caller waits for it: a share of every limit is reserved for others. */
  readonly isBackground?: boolean | undefined
}

/** Why no vector of a deployment may leave: it belongs to another space, or the guard has not compared it yet. */
export type HoldReason = 'quarantined' | 'held-back'

/** Whether a call can be sent now, or when to ask again. */
export type Readiness =
  | { readonly kind: 'ready' }
  | { readonly kind: 'full' }
  | { readonly kind: 'limited' | 'ejected'; readonly untilMs: number }
  /** Until the guard, or an operator, changes it. */
  | { readonly kind: HoldReason | 'drained' }

const READY: Readiness = { kind: 'ready' }
const FULL: Readiness = { kind: 'full' }
const DRAINED: Readiness = { kind: 'drained' }

/** Longest wait that an upstream alone can ask for: some send hours. */
const MAX_RETRY_AFTER_MS = 60_000
/** Wait where the upstream names none. It doubles each time that it did not help. */
const BACKOFF_MS = 250
const MAX_BACKOFF_MS = 15_000

/** Multiple of the usual duration at which a call is overdue, and the earliest time. */
const OVERDUE_TIMES = 10
const OVERDUE_MIN_MS = 1000
/** Interval of the search for overdue calls. */
const LOOK_EVERY_MS = 50
/**
 * Multiple of the usual duration from which a failure, such as a timeout, counts for latency too. A quick failure does not.
 */
const SLOW_FAILURE_TIMES = 3
/** While a probe is in progress, ask again this soon. */
const PROBE_OUT_MS = 100
/** Time after the last caller's call in which callers count as present: enough for callers who come once a second. */
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
  /** Background calls in progress. */
  #background = 0
  #lookedAtMs = 0
  /** End of the last call with a waiting caller. */
  #peopleAtMs = Number.NEGATIVE_INFINITY
  #backgroundTaught = false
  #limitedAtMs = 0
  #limitedUntilMs = 0
  #limitedInARow = 0
  held: HoldReason | undefined
  /** An operator wants no more calls to it. Those in progress go on. */
  isDrained = false

  get inFlight(): number {
    return this.#calls.size
  }

  /** Overdue calls rarely get an answer. They take no slot, except from a limit that an operator set. */
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

  /** Background calls absorb a lower limit first, while there are any. */
  #limitFor({ isBackground }: CallDemand, limits: DeploymentLimits | undefined): number {
    const limit = this.limit(limits)
    if (isBackground === true || this.#background === 0) return limit
    return Math.max(limit, this.#adaptive.limitBefore ?? limit)
  }

  expectedMs({ tokens, images, nowMs }: CallDemand): number | undefined {
    return this.#latency.expectedMs(sizeClass(tokens, images), nowMs)
  }

  /** The usual duration of the smallest calls that the node has seen. */
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

  /** When an ejected deployment may be probed by calls that no other can take. */
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

  /** Counts calls that take far too long as failed, without waiting for their timeout. */
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
   * Whether the limit learns from this call. Background calls grow and shrink all the time, which looks like a queue at the
   * upstream when there is none, and only waiting callers suffer from a limit that is cut for it. Where there are both, the
   * limit learns from callers' calls: they notice every queue that background calls make.
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

  /** Calls in progress with a waiting caller. */
  get #people(): number {
    return this.inFlight - this.#background
  }

  /** Whether a caller's call is in progress, or was recently. */
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

  /** After a rate limit, background work begins again when callers have had the same time again for themselves. */
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

/** The measurements of a call. They are kept for a while, so they hold nothing else. */
function timed({ size, startedMs, inFlight, limit }: Call, durationMs: number): EndedCall {
  return { size, startedMs, durationMs, inFlight, limit }
}
