/**
 * One deployment's health, judged by the calls that were made anyway. One that fails is ejected: it gets no calls for a
 * while, longer each time. Then it is probed with one real request at a time, until some in a row went well.
 *
 * **Alone.** Ejection protects callers by sending them elsewhere. Where there is no elsewhere it would only turn a part of
 * failures into a whole outage, so a deployment without a healthy peer is ejected only if it looks dead, not merely ill; its
 * ejection lasts a second at most; and one good probe ends it. What remains is what helps even alone: callers of a dead
 * upstream learn at once that it is, and it is not hammered while it starts.
 */

/** Failures in a row that are no accident: at a failure rate of 5 % it is one case in three million. */
const CONSECUTIVE = 5
/** Or this share of what ended lately, if that was so many calls. */
const FAILURE_SHARE = 0.5
const SHARE_MIN_CALLS = 10
/** What ended longer ago fades e-fold in this time. */
const MEMORY_MS = 5000

/** Alone: nearly all failed, */
const ALONE_SHARE = 0.9
/** or so many in a row over so long a time. */
const ALONE_CONSECUTIVE = 20
const ALONE_SILENCE_MS = 1000

const EJECTION_MS = 1000
const MAX_EJECTION_MS = 60_000
/** A wrong credential or an empty account mends when a person acts. */
const REJECTED_MS = 30_000
/** Alone, waiting longer helps nobody; but an account whose key is refused too often may be locked. */
const ALONE_EJECTION_MS = 1000
const ALONE_REJECTED_MS = 2000
/** So much time in health forgives one ejection. */
const FORGIVEN_AFTER_MS = 10_000

/** Good probes that end an ejection. */
const PROBES = 3
/** Slow upstreams need not show it three times over: one good probe is enough after so long. */
const PROBING_MS = 1000

type EjectionCause = 'failures' | 'hang' | 'rejectedUs'

/** What a call's end is judged by. */
export interface JudgedCall {
  readonly startedMs: number
  readonly isProbe: boolean
  /** Nobody else was healthy when it was sent. */
  readonly isAlone: boolean
  /** It was out so long that it already counted as failed. */
  readonly wasOverdue: boolean
}

interface Ejection {
  readonly cause: EjectionCause
  /** When the call that led to it was sent: a probe that hung for a second was wait enough. */
  readonly sentMs: number
  readonly untilMs: number
  /** Undefined: no probe was sent yet. */
  probingSinceMs: number | undefined
  goodProbes: number
  probe: JudgedCall | undefined
}

export class Health {
  #ejection: Ejection | undefined
  /** Ejections in a row. */
  #repeats = 0
  #healthySinceMs = 0
  #consecutive = 0
  #lastGoodMs = 0
  #good = 0
  #bad = 0
  #fadedAtMs = 0

  get isHealthy(): boolean {
    return this.#ejection === undefined
  }

  get isProbing(): boolean {
    return this.#ejection?.probingSinceMs !== undefined
  }

  /** When the next probe may be sent, unless one is on its way. */
  probeFromMs(isAlone: boolean): number {
    if (!this.#ejection || this.#ejection.probingSinceMs !== undefined) return 0
    const { cause, sentMs, untilMs } = this.#ejection
    if (!isAlone) return untilMs
    const longestMs = cause === 'rejectedUs' ? ALONE_REJECTED_MS : ALONE_EJECTION_MS
    return Math.min(untilMs, sentMs + Math.min(longestMs, this.#ejectionMs()))
  }

  mayProbe(nowMs: number, isAlone: boolean): boolean {
    return this.#ejection !== undefined && !this.#ejection.probe && nowMs >= this.probeFromMs(isAlone)
  }

  probeSent(probe: JudgedCall, nowMs: number): void {
    if (!this.#ejection) return
    this.#ejection.probe = probe
    this.#ejection.probingSinceMs ??= nowMs
  }

  /** A call ended without telling anything about health. */
  ended(call: JudgedCall): void {
    if (this.#ejection?.probe === call) this.#ejection.probe = undefined
  }

  /** Returns true when it ended an ejection. */
  succeeded(call: JudgedCall, nowMs: number): boolean {
    this.#fade(nowMs)
    this.#good += 1
    this.#consecutive = 0
    this.#lastGoodMs = nowMs
    const ejection = this.#ejection
    if (!ejection) return false
    const isProbe = ejection.probe === call
    this.ended(call)
    if (isProbe) ejection.goodProbes += 1
    const probedForMs = nowMs - (ejection.probingSinceMs ?? nowMs)
    const isEnough = isProbe && (call.isAlone || ejection.goodProbes >= PROBES || probedForMs >= PROBING_MS)
    // What was taken for a hang has answered: it was not.
    const wasNoHang = ejection.cause === 'hang' && call.wasOverdue
    if (!isEnough && !wasNoHang) return false
    this.#ejection = undefined
    this.#healthySinceMs = nowMs
    this.#good = 1
    this.#bad = 0
    return true
  }

  failed(call: JudgedCall, nowMs: number): void {
    this.#failed(call, nowMs, 'failures', false)
  }

  /** A call is out far longer than usual. Where nothing else came back since it was sent, that alone tells of a hang. */
  overdue(call: JudgedCall, nowMs: number): void {
    this.#failed(call, nowMs, 'hang', this.#lastGoodMs <= call.startedMs)
  }

  rejectedUs(call: JudgedCall, nowMs: number): void {
    if (this.#ejection && this.#ejection.probe !== call) return
    this.#eject('rejectedUs', call, nowMs)
  }

  /** The share of failures of late, less and less sure with time: between 0 and 1. */
  failureShare(nowMs: number): number {
    this.#fade(nowMs)
    return this.#bad / (this.#good + this.#bad + 2)
  }

  #failed(call: JudgedCall, nowMs: number, cause: EjectionCause, isCertain: boolean): void {
    if (this.#ejection) {
      // Only a probe says something new about one that is ejected.
      if (this.#ejection.probe === call) this.#eject(cause, call, nowMs)
      return
    }
    // Sent before its illness was over.
    if (call.startedMs < this.#healthySinceMs) return
    this.#fade(nowMs)
    this.#bad += 1
    this.#consecutive += 1
    const isIll = call.isAlone ? this.#isDead(nowMs) : isCertain || this.#isIll()
    if (isIll) this.#eject(cause, call, nowMs)
  }

  #isIll(): boolean {
    const calls = this.#good + this.#bad
    return (
      this.#consecutive >= CONSECUTIVE || (calls >= SHARE_MIN_CALLS && this.#bad / calls >= FAILURE_SHARE)
    )
  }

  #isDead(nowMs: number): boolean {
    const isNearlyAll = this.#bad / (this.#good + this.#bad) >= ALONE_SHARE
    const isLong = this.#consecutive >= ALONE_CONSECUTIVE && nowMs - this.#lastGoodMs >= ALONE_SILENCE_MS
    return (this.#consecutive >= CONSECUTIVE && isNearlyAll) || isLong
  }

  #eject(cause: EjectionCause, { startedMs: sentMs }: JudgedCall, nowMs: number): void {
    const healthyMs = this.#ejection ? 0 : nowMs - this.#healthySinceMs
    this.#repeats = Math.max(0, this.#repeats - Math.floor(healthyMs / FORGIVEN_AFTER_MS)) + 1
    const forMs = this.#ejectionMs()
    const untilMs = nowMs + (cause === 'rejectedUs' ? Math.max(REJECTED_MS, forMs) : forMs)
    this.#ejection = {
      cause,
      sentMs,
      untilMs,
      probingSinceMs: undefined,
      goodProbes: 0,
      probe: undefined,
    }
    this.#consecutive = 0
  }

  /** Doubled with each repetition. */
  #ejectionMs(): number {
    return Math.min(MAX_EJECTION_MS, EJECTION_MS * 2 ** Math.min(20, this.#repeats - 1))
  }

  #fade(nowMs: number): void {
    const keep = Math.exp(-Math.max(0, nowMs - this.#fadedAtMs) / MEMORY_MS)
    this.#good *= keep
    this.#bad *= keep
    this.#fadedAtMs = nowMs
  }
}
