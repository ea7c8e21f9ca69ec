/**
 * One deployment's health, judged by its normal calls. A failing deployment is ejected: it gets no calls for a while,
 * longer each time. Then it is probed with one real request at a time, until some in a row succeed.
 *
 * **Alone.** Ejection protects callers by sending them elsewhere. Where there is no elsewhere it would only turn partial
 * failures into a complete outage, so a deployment without a healthy peer is ejected only if it looks dead, not merely
 * unhealthy; its ejection lasts a second at most; and one good probe ends it. The remaining effects help even alone:
 * callers of a dead upstream get the error at once, and it is not hammered while it starts.
 *
 * **One project.** A project may send texts on which the upstream fails. Failures of one project alone therefore do not
 * eject a deployment that other projects call too: others must have seen it fail. Where no other project calls it, no other
 * project suffers.
 */

/** Failures in a row that are no accident: at a failure rate of 5 % it is one case in three million. */
const CONSECUTIVE = 5
/** Share of recent calls that must fail, and the number of calls it needs. */
const FAILURE_SHARE = 0.5
const SHARE_MIN_CALLS = 10
/** Older calls fade e-fold in this time. */
const MEMORY_MS = 5000

/** Weight of another project's calls that makes it a witness: a single call counts for 3.5 s. */
const WITNESS_CALLS = 0.5
/** Remembered projects of a deployment. The oldest is dropped first. */
const MAX_PROJECTS = 256

/** Alone: nearly all must fail, */
const ALONE_SHARE = 0.9
/** or this many in a row over this time. */
const ALONE_CONSECUTIVE = 20
const ALONE_SILENCE_MS = 1000

const EJECTION_MS = 1000
const MAX_EJECTION_MS = 60_000
/** A wrong credential or an empty account is fixed only when a person acts. */
const REJECTED_MS = 30_000
/** Alone, a longer wait helps no one; but an account whose key is refused too often may be locked. */
const ALONE_EJECTION_MS = 1000
const ALONE_REJECTED_MS = 2000
/** Time in health that forgives one ejection. */
const FORGIVEN_AFTER_MS = 10_000

/** Good probes that end an ejection. */
const PROBES = 3
/** Slow upstreams need not succeed three times: one good probe is enough after this time. */
const PROBING_MS = 1000

type EjectionCause = 'failures' | 'hang' | 'rejectedUs'

/** The facts by which a call's end is judged. */
export interface JudgedCall {
  readonly startedMs: number
  /** Undefined for a call of several projects. */
  readonly project?: string | undefined
  readonly isProbe: boolean
  /** No other deployment was healthy when it was sent. */
  readonly isAlone: boolean
  /** It took long enough to count as failed before its end. */
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

/** Recent calls, with fading weight. */
class RecentCalls {
  good = 0
  bad = 0
  #fadedAtMs = 0

  get all(): number {
    return this.good + this.bad
  }

  fade(nowMs: number): void {
    const keep = Math.exp(-Math.max(0, nowMs - this.#fadedAtMs) / MEMORY_MS)
    this.good *= keep
    this.bad *= keep
    this.#fadedAtMs = nowMs
  }
}

export class Health {
  #ejection: Ejection | undefined
  /** Ejections in a row. */
  #repeats = 0
  #healthySinceMs = 0
  #consecutive = 0
  #lastGoodMs = 0
  readonly #recent = new RecentCalls()
  readonly #byProject = new Map<string | undefined, RecentCalls>()
  /** The project of the last failures in a row. Null when there are none, or they belong to several projects. */
  #onlyInRow: string | undefined | null = null

  get isHealthy(): boolean {
    return this.#ejection === undefined
  }

  get isProbing(): boolean {
    return this.#ejection?.probingSinceMs !== undefined
  }

  /** When the next probe may be sent, unless one is in progress. */
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

  /** A call ended without information about health. */
  ended(call: JudgedCall): void {
    if (this.#ejection?.probe === call) this.#ejection.probe = undefined
  }

  /** Returns true when it ended an ejection. */
  succeeded(call: JudgedCall, nowMs: number): boolean {
    this.#recent.fade(nowMs)
    this.#recent.good += 1
    this.#of(call.project, nowMs).good += 1
    this.#consecutive = 0
    this.#lastGoodMs = nowMs
    const ejection = this.#ejection
    if (!ejection) return false
    const isProbe = ejection.probe === call
    this.ended(call)
    if (isProbe) ejection.goodProbes += 1
    const probedForMs = nowMs - (ejection.probingSinceMs ?? nowMs)
    const isEnough = isProbe && (call.isAlone || ejection.goodProbes >= PROBES || probedForMs >= PROBING_MS)
    // A call that counted as a hang has answered: it was none.
    const wasNoHang = ejection.cause === 'hang' && call.wasOverdue
    if (!isEnough && !wasNoHang) return false
    this.#ejection = undefined
    this.#healthySinceMs = nowMs
    this.#recent.good = 1
    this.#recent.bad = 0
    for (const calls of this.#byProject.values()) calls.bad = 0
    return true
  }

  failed(call: JudgedCall, nowMs: number): void {
    this.#failed(call, nowMs, 'failures', false)
  }

  /** A call takes far longer than usual. If no other call has returned since it was sent, that alone means a hang. */
  overdue(call: JudgedCall, nowMs: number): void {
    this.#failed(call, nowMs, 'hang', this.#lastGoodMs <= call.startedMs)
  }

  rejectedUs(call: JudgedCall, nowMs: number): void {
    if (this.#ejection && this.#ejection.probe !== call) return
    this.#eject('rejectedUs', call, nowMs)
  }

  /** The share of recent failures, less and less certain with time: between 0 and 1. */
  failureShare(nowMs: number): number {
    this.#recent.fade(nowMs)
    return this.#recent.bad / (this.#recent.all + 2)
  }

  #failed(call: JudgedCall, nowMs: number, cause: EjectionCause, isCertain: boolean): void {
    if (this.#ejection) {
      // Only a probe says something new about an ejected deployment.
      if (this.#ejection.probe === call) this.#eject(cause, call, nowMs)
      return
    }
    // Sent before its ejection was over.
    if (call.startedMs < this.#healthySinceMs) return
    this.#recent.fade(nowMs)
    this.#recent.bad += 1
    this.#of(call.project, nowMs).bad += 1
    this.#onlyInRow = this.#consecutive === 0 || this.#onlyInRow === call.project ? call.project : null
    this.#consecutive += 1
    const isUnhealthy = call.isAlone ? this.#isDead(nowMs) : isCertain || this.#isUnhealthy(nowMs)
    if (isUnhealthy) this.#eject(cause, call, nowMs)
  }

  #isUnhealthy(nowMs: number): boolean {
    const { bad, all } = this.#recent
    return (
      (this.#consecutive >= CONSECUTIVE && this.#isRowOfAll(nowMs)) ||
      (all >= SHARE_MIN_CALLS && bad / all >= FAILURE_SHARE && this.#isShareOfAll(nowMs))
    )
  }

  #isDead(nowMs: number): boolean {
    const isNearlyAll = this.#recent.bad / this.#recent.all >= ALONE_SHARE
    const isLong = this.#consecutive >= ALONE_CONSECUTIVE && nowMs - this.#lastGoodMs >= ALONE_SILENCE_MS
    return ((this.#consecutive >= CONSECUTIVE && isNearlyAll) || isLong) && this.#isRowOfAll(nowMs)
  }

  /** Whether the failures in a row belong to more than one project, or no other project is a witness. */
  #isRowOfAll(nowMs: number): boolean {
    if (this.#onlyInRow === null) return true
    return this.#recent.all - this.#of(this.#onlyInRow, nowMs).all < WITNESS_CALLS
  }

  /** Whether calls fail also without the project that failed most, or no other project is a witness. */
  #isShareOfAll(nowMs: number): boolean {
    let worst: RecentCalls | undefined
    for (const calls of this.#byProject.values()) {
      calls.fade(nowMs)
      if (worst === undefined || calls.bad > worst.bad) worst = calls
    }
    const { bad = 0, all = 0 } = worst ?? {}
    const others = this.#recent.all - all
    return others < WITNESS_CALLS || (this.#recent.bad - bad) / others >= FAILURE_SHARE
  }

  #of(project: string | undefined, nowMs: number): RecentCalls {
    let calls = this.#byProject.get(project)
    if (calls === undefined) {
      calls = new RecentCalls()
      if (this.#byProject.size >= MAX_PROJECTS)
        for (const oldest of this.#byProject.keys().take(1)) this.#byProject.delete(oldest)
      this.#byProject.set(project, calls)
    }
    calls.fade(nowMs)
    return calls
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
}
