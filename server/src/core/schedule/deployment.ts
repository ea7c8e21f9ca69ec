/** All that a node knows of one deployment: its health, what it has under way, how long calls take and what is left of its limits. */
import {
  correct,
  takeAll,
  type DeploymentLimits,
  type RateDebt,
  type RateTake,
  type RateUnit,
} from '../limit.ts'
import { AdaptiveLimit } from './adaptive-limit.ts'
import { Health, type Judged } from './health.ts'
import { Latency, sizeClass } from './latency.ts'

/** How a call ended, as far as the next one is concerned. */
export type CallEnd =
  /** Without a duration: it would tell of this node, not of the upstream. */
  | { readonly kind: 'ok'; readonly durationMs: number | undefined }
  /** 400, content refusal: nothing is wrong with the upstream. */
  | { readonly kind: 'refused'; readonly durationMs: number }
  /** 429, or 503 with Retry-After. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number | undefined }
  /** 5xx, reset, garbage, time-out. */
  | { readonly kind: 'failed'; readonly durationMs: number }
  /** Our credential or quota: will not mend soon. */
  | { readonly kind: 'rejectedUs' }
  /** Nothing was learnt: it was given up before it was sent. */
  | { readonly kind: 'abandoned' }

/** What a request wants of a deployment. */
export interface Wanted {
  readonly nowMs: number
  readonly tokens: number
  readonly images: number
}

/** Why nothing of a deployment may leave: its vectors are of another space, or nobody has compared them yet. */
export type Held = 'quarantined' | 'held-back'

/** Whether a request can be sent now; else from when on it is worth asking again. */
export type Standing =
  | { readonly kind: 'ready' }
  | { readonly kind: 'full' }
  | { readonly kind: 'limited' | 'ejected'; readonly untilMs: number }
  /** For as long as nobody says otherwise. */
  | { readonly kind: Held }

const READY: Standing = { kind: 'ready' }
const FULL: Standing = { kind: 'full' }

/** Nobody waits for longer than this on an upstream's word alone: some send hours. */
const MAX_RETRY_AFTER_MS = 60_000
/** Without a word: doubled each time that it did not help. */
const BACKOFF_MS = 250
const MAX_BACKOFF_MS = 15_000

/** A call is overdue when it takes so many times the usual, and no sooner than this. */
const OVERDUE_TIMES = 10
const OVERDUE_MIN_MS = 1000
/** How often the calls under way are looked through for overdue ones. */
const LOOK_EVERY_MS = 50
/** A failure that took so many times the usual, such as a time-out, tells of latency too. A quick one does not. */
const SLOW_FAILURE_TIMES = 3
/** A probe that is out: ask again so soon. */
const PROBE_OUT_MS = 100
const MINUTE_MS = 60_000

interface Call extends Judged {
  readonly size: number
  readonly inFlight: number
  readonly limit: number
  readonly takes: readonly RateTake[]
  wasOverdue: boolean
}

export class DeploymentState {
  readonly health = new Health()
  readonly #latency = new Latency()
  readonly #adaptive = new AdaptiveLimit(this.#latency)
  readonly #calls = new Set<Call>()
  readonly #debts = new Map<RateUnit, RateDebt>()
  #overdue = 0
  #lookedAtMs = 0
  #limitedAtMs = 0
  #limitedUntilMs = 0
  #limitedInARow = 0
  held: Held | undefined

  get inFlight(): number {
    return this.#calls.size
  }

  /** Calls that are overdue wait for an answer that will hardly come: they take no room, except from an explicit limit. */
  get waiting(): number {
    return this.#calls.size - this.#overdue
  }

  get limitedUntilMs(): number {
    return this.#limitedUntilMs
  }

  limit(limits: DeploymentLimits | undefined): number {
    return this.#adaptive.limit(limits?.concurrency)
  }

  expectedMs({ tokens, images, nowMs }: Wanted): number | undefined {
    return this.#latency.expectedMs(sizeClass(tokens, images), nowMs)
  }

  /** Usual time of the smallest calls known. */
  get latencyMs(): number | undefined {
    return this.#latency.usualMs(0)
  }

  standing(wanted: Wanted, limits: DeploymentLimits | undefined, share: number): Standing {
    const { nowMs } = wanted
    if (this.held !== undefined) return { kind: this.held }
    this.look(nowMs)
    if (nowMs < this.#limitedUntilMs) return { kind: 'limited', untilMs: this.#limitedUntilMs }
    if (!this.health.isHealthy) return this.#ejected(nowMs, false)
    const concurrency = limits?.concurrency ?? Number.POSITIVE_INFINITY
    if (this.waiting >= this.limit(limits) || this.inFlight >= concurrency) return FULL
    return this.#rates(wanted, limits, share) ?? READY
  }

  /** Whether it may be probed now; `isAlone`: there is nobody else to ask. */
  mayProbe(wanted: Wanted, limits: DeploymentLimits | undefined, share: number, isAlone: boolean): boolean {
    const { nowMs } = wanted
    return (
      this.held === undefined &&
      nowMs >= this.#limitedUntilMs &&
      this.health.mayProbe(nowMs, isAlone) &&
      this.inFlight < (limits?.concurrency ?? Number.POSITIVE_INFINITY) &&
      this.#rates(wanted, limits, share) === undefined
    )
  }

  /** From when on an ejected one may be probed by those who have nobody else. */
  aloneFromMs(nowMs: number): number {
    const standing = this.#ejected(nowMs, true)
    return 'untilMs' in standing ? standing.untilMs : nowMs
  }

  /** Returns how to end it; a second end changes nothing. */
  begin(
    wanted: Wanted,
    limits: DeploymentLimits | undefined,
    share: number,
    how: { readonly isProbe: boolean; readonly isAlone: boolean },
  ): (end: CallEnd, nowMs: number) => void {
    const takes = takesOf(wanted, limits)
    this.#take(takes, wanted.nowMs, share)
    const call: Call = {
      ...how,
      startedMs: wanted.nowMs,
      size: sizeClass(wanted.tokens, wanted.images),
      inFlight: this.waiting + 1,
      limit: this.limit(limits),
      takes,
      wasOverdue: false,
    }
    this.#calls.add(call)
    if (call.isProbe) this.health.probeSent(call, wanted.nowMs)
    return (end, nowMs) => {
      if (this.#calls.delete(call)) this.#ended(call, end, nowMs, limits, share)
    }
  }

  /** Counts calls that are out far too long, without waiting for their time-out. */
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
        if (durationMs !== undefined)
          this.#adaptive.ended({ ...call, durationMs }, nowMs, limits?.concurrency)
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
        if (!call.wasOverdue && this.#isSlow(call, end.durationMs))
          this.#adaptive.ended({ ...call, durationMs: end.durationMs }, nowMs, limits?.concurrency)
        // An overdue one has been counted.
        return call.wasOverdue ? this.health.ended(call) : this.health.failed(call, nowMs)
      }
      case 'rejectedUs': {
        return this.health.rejectedUs(call, nowMs)
      }
      case 'abandoned': {
        this.health.ended(call)
        return this.#giveBack(call.takes, nowMs, share)
      }
    }
  }

  #answered(call: Call, nowMs: number): void {
    if (call.startedMs >= this.#limitedAtMs) this.#limitedInARow = 0
    if (this.health.succeeded(call, nowMs)) this.#adaptive.recovered(nowMs)
  }

  #limited(call: Call, retryAfterMs: number | undefined, nowMs: number): void {
    this.#adaptive.overloaded(call.startedMs, call.inFlight, nowMs)
    // Those sent before it was known say the same thing once more, not something worse.
    const isNews = call.startedMs >= this.#limitedAtMs
    if (isNews) {
      this.#limitedInARow += 1
      this.#limitedAtMs = nowMs
    }
    const backoffMs = Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** Math.min(20, this.#limitedInARow - 1))
    const forMs = retryAfterMs ? Math.min(MAX_RETRY_AFTER_MS, retryAfterMs) : isNews ? backoffMs : 0
    this.#limitedUntilMs = Math.max(this.#limitedUntilMs, nowMs + forMs)
  }

  #isSlow({ size }: Call, durationMs: number): boolean {
    const usualMs = this.#latency.usualMs(size)
    return usualMs !== undefined && durationMs > usualMs * SLOW_FAILURE_TIMES
  }

  #ejected(nowMs: number, isAlone: boolean): Standing {
    const fromMs = Math.max(this.health.probeFromMs(isAlone), this.#limitedUntilMs)
    return { kind: 'ejected', untilMs: fromMs > nowMs ? fromMs : nowMs + PROBE_OUT_MS }
  }

  /** Undefined: there is enough left of every limit. */
  #rates(wanted: Wanted, limits: DeploymentLimits | undefined, share: number): Standing | undefined {
    const takes = takesOf(wanted, limits)
    if (takes.length === 0) return undefined
    const { decision } = this.#decide(takes, wanted.nowMs, share)
    if (decision.allowed) return undefined
    const waits = decision.states.map(({ retryAfterMs }) => retryAfterMs ?? MINUTE_MS)
    return { kind: 'limited', untilMs: wanted.nowMs + Math.max(...waits) }
  }

  #take(takes: readonly RateTake[], nowMs: number, share: number): void {
    if (takes.length === 0) return
    const { debts } = this.#decide(takes, nowMs, share)
    for (const [index, { limit }] of takes.entries()) this.#debts.set(limit.unit, debts[index] as RateDebt)
  }

  #decide(takes: readonly RateTake[], nowMs: number, share: number): ReturnType<typeof takeAll> {
    const debts = takes.map(({ limit }) => this.#debts.get(limit.unit) as RateDebt)
    return takeAll(debts, microseconds(nowMs), takes, share)
  }

  #giveBack(takes: readonly RateTake[], nowMs: number, share: number): void {
    for (const { limit, amount } of takes) {
      const debt = this.#debts.get(limit.unit)
      if (debt) this.#debts.set(limit.unit, correct(debt, microseconds(nowMs), limit, -amount, share))
    }
  }
}

/** The limiter counts in whole microseconds. */
function microseconds(ms: number): number {
  return Math.round(ms * 1000)
}

function takesOf({ tokens, images }: Wanted, limits: DeploymentLimits | undefined): readonly RateTake[] {
  if (!limits) return NO_TAKES
  const takes: RateTake[] = []
  const add = (unit: RateUnit, perMinute: number | undefined, amount: number): void => {
    if (perMinute === undefined || amount <= 0) return
    // A call that is larger than a minute's worth takes all of it: it would wait for ever for more.
    takes.push({ limit: { id: unit, project: '', unit, perMinute }, amount: Math.min(amount, perMinute) })
  }
  add('requests', limits.requestsPerMinute, 1)
  add('tokens', limits.tokensPerMinute, Math.ceil(tokens))
  add('images', limits.imagesPerMinute, images)
  return takes
}

const NO_TAKES: readonly RateTake[] = []
