/**
 * How many calls one deployment may have in progress from this node. An upstream does not say how many it serves at once;
 * its latency does: beyond that number calls wait in its queue, so each takes longer and the rate does not rise. The limit
 *
 * - grows while it is used up and calls take about as long as usual;
 * - is stepped down when calls take longer than usual, and occasionally when it has been used up for long, step by step
 * while latency follows. When it no longer does, the last step is taken back: more parallel calls were worth it;
 * - is cut when the upstream reports an overload.
 *
 * While the node itself is slow, durations say nothing about the upstream. A limit that is used up then still grows, up to
 * its earlier value: a slow node must not be taken for a queue at the upstream.
 *
 * An upstream that is slow for reasons of its own is therefore not throttled: the first step down does not make it faster,
 * so it is taken back and the new latency becomes the usual one. Latency is the median of a window, of ratios to the usual
 * of each call's size (`latency.ts`), so that neither outliers nor long inputs look like a queue.
 */
import type { Latency } from './latency.ts'

/** Initial limit. Generous: an upstream that takes less says so within its first window. */
const START = 64
/** Up to here it grows quickly at first. */
const START_GROWTH = 256
/** Lowest limit. Two, so that one slow call never blocks everything. An explicit cap of one still holds. */
const MIN_LIMIT = 2
/** Connections of one node to one deployment; for more, add nodes. */
const MAX_LIMIT = 1024
/** Limit after an ejection: a node's share of the load on an upstream that just came back. */
const COMEBACK = 8

/** Rounds of calls in a window: enough for a steady median. */
const WINDOW_ROUNDS = 4
/** Rounds after a step to half or less: such a difference shows sooner, and a useless step should end soon. */
const LARGE_STEP_ROUNDS = 2
const MIN_WINDOW_CALLS = 8
const MAX_WINDOW_CALLS = 100
/** A quiet deployment's window ends by time, with this many calls at least. */
const WINDOW_MS = 2000
const WINDOW_FEW_CALLS = 10

/** Utilisation from which a higher limit would have let more through. */
const USED_UP = 0.9
/** Slower than this is a queue. The second part allows for the error of a median of few calls (3 σ at a spread of 60 %). */
const INFLATED = 1.25
/** A smaller difference is no queue, whatever its ratio: a fast upstream slows down as much when this node is busy. */
const INFLATED_MS = 5
const MEDIAN_ERROR = 2
/** Not slower than this leaves capacity for more. */
const ROOMY = 1.2
const GROWTH = 1.1
/** Growths in a row after which it grows faster: it was far too low. And the factor. */
const GROWN_OFTEN = 4
const QUICKER_GROWTH = 1.5
/** Growth per call that returns in time, up to the earlier limit: half as many again each round. */
const QUICK_GROWTH = 0.5
const QUICK_WHILE = 2
const STEP_DOWN = 0.75
const MAX_STEP_DOWN = 0.33
/** Smallest meaningful step. */
const MIN_LOG_STEP = -0.1
/** Latency that falls by this part of the step (in logarithms), or more, was a queue. */
const FOLLOWS = 0.5
/** A queue gets shorter in proportion. A much larger drop has other reasons: the upstream itself got faster. */
const FELL_BY_ITSELF = 2
/** Interval of tests of a used-up limit without any sign of a queue. They cost about 1 % of the windows. */
const LOOK_EVERY_MS = 10_000
const CUT = 0.7

/** Load relative to that of the usual latency above which a queue is possible: no usual latency is learnt from it, */
const BUSY_TIMES = 2
const BUSY_MORE = 2
/** and it becomes the rule only slowly. */
const LEARNT_GAIN = 0.05
const BUSY_GAIN = 0.002

interface Trial {
  readonly limitBefore: number
  readonly inFlightBefore: number
  readonly medianBefore: number
  readonly rounds: number
}

/** The measurements of one window. */
interface Window {
  readonly calls: number
  readonly median: number
  /** Delay over the usual latency. */
  readonly medianMs: number
  readonly inFlight: number
  readonly isUsedUp: boolean
  /** More calls were in progress than when the usual latency was learnt. */
  readonly isBusy: boolean
}

export interface EndedCall {
  readonly size: number
  readonly startedMs: number
  readonly durationMs: number
  /** Calls in progress when it was sent, itself included. */
  readonly inFlight: number
  /** The limit at that moment. */
  readonly limit: number
}

export class AdaptiveLimit {
  readonly #latency: Latency
  #limit = START
  /** The limit before it was cut. */
  #knownGood = START_GROWTH
  /** Calls in progress when the usual latency was learnt. */
  #learntAt = 1
  #calls: EndedCall[] = []
  #inFlight = 0
  #usedUp = 0
  #busy = 0
  /** Calls that returned without a usable duration since the limit was last changed. */
  #unheard = 0
  #windowFromMs = 0
  #changedAtMs = 0
  #grownInARow = 0
  #trial: Trial | undefined
  #lookedAtMs: number | undefined

  constructor(latency: Latency) {
    this.#latency = latency
  }

  /** Whole calls, at most as many as the operator allows, and at least as many as the operator wants. */
  limit(cap: number | undefined, floor = MIN_LIMIT): number {
    const limit = Math.max(MIN_LIMIT, floor, Math.floor(this.#limit))
    return cap === undefined ? limit : Math.max(1, Math.min(limit, cap))
  }

  /** The limit before a step down that is being tried. */
  get limitBefore(): number | undefined {
    return this.#trial && Math.floor(this.#trial.limitBefore)
  }

  /** From now on the measured calls can't be compared with those before: a step that was tried is taken back. */
  restart(nowMs: number): void {
    const limit = this.#trial?.limitBefore ?? this.#limit
    this.#trial = undefined
    this.#change(limit, nowMs)
  }

  /** A call came back with an answer. */
  ended(call: EndedCall, nowMs: number, cap?: number): void {
    if (cap !== undefined) this.#limit = Math.min(this.#limit, Math.max(MIN_LIMIT, cap))
    const limit = this.limit(cap)
    const wasBusy = call.inFlight > Math.min(call.limit / 2, this.#learntAt * BUSY_TIMES + BUSY_MORE)
    this.#learntAt += (call.inFlight - this.#learntAt) * (wasBusy ? BUSY_GAIN : LEARNT_GAIN)
    // While a step is tried, the usual latency stays fixed: it is the reference.
    const ratio = this.#latency.learn(call.size, call.durationMs, wasBusy || this.#trial !== undefined, nowMs)
    // Sent under another limit: it says nothing about this one.
    if (call.startedMs < this.#changedAtMs) return
    this.#calls.push(call)
    this.#inFlight += call.inFlight
    if (wasBusy) this.#busy += 1
    const isUsedUp = call.inFlight >= call.limit * USED_UP
    if (isUsedUp) this.#usedUp += 1
    if (isUsedUp && !this.#trial && this.#limit < this.#knownGood && ratio < QUICK_WHILE)
      this.#limit = Math.min(this.#knownGood, this.#limit + QUICK_GROWTH)
    const calls = this.#calls.length
    const rounds = this.#trial?.rounds ?? WINDOW_ROUNDS
    const wanted = Math.min(MAX_WINDOW_CALLS, Math.max(MIN_WINDOW_CALLS, limit * rounds))
    const isLong = nowMs - this.#windowFromMs >= WINDOW_MS
    if (calls >= wanted || (isLong && calls >= WINDOW_FEW_CALLS)) this.#judge(nowMs, cap)
  }

  /** A call returned while the node itself was slow: its return is the only information. */
  endedUnheard(
    { startedMs, inFlight, limit }: Omit<EndedCall, 'durationMs'>,
    nowMs: number,
    cap?: number,
  ): void {
    if (startedMs < this.#changedAtMs || inFlight < limit * USED_UP) return
    this.#unheard += 1
    if (this.#unheard < limit) return
    this.#unheard = 0
    const most = Math.min(cap ?? MAX_LIMIT, Math.max(START, this.#knownGood))
    if (this.#limit < most) this.#change(Math.min(most, this.#limit * GROWTH + 1), nowMs)
  }

  /** The upstream reported an overload. Calls that were in progress then count once. */
  overloaded(startedMs: number, inFlight: number, nowMs: number): void {
    if (startedMs < this.#changedAtMs) return
    this.#knownGood = Math.max(this.#limit, this.#knownGood * CUT)
    this.#trial = undefined
    this.#change(Math.min(this.#limit, inFlight) * CUT, nowMs)
  }

  /** It is back after an ejection: gently at first. */
  recovered(nowMs: number): void {
    this.#knownGood = Math.max(this.#limit, this.#knownGood)
    this.#trial = undefined
    this.#change(Math.min(this.#limit, COMEBACK), nowMs)
  }

  #judge(nowMs: number, cap: number | undefined): void {
    const calls = this.#calls.length
    const window: Window = {
      calls,
      // Relative to the current usual latency: it may have changed while the window was open.
      median: medianOf(this.#calls.map(({ size, durationMs }) => this.#latency.ratio(size, durationMs))),
      medianMs: medianOf(
        this.#calls.map(
          ({ size, durationMs }) => durationMs - durationMs / this.#latency.ratio(size, durationMs),
        ),
      ),
      inFlight: this.#inFlight / calls,
      isUsedUp: this.#usedUp * 2 >= calls,
      isBusy: this.#busy * 2 >= calls,
    }
    this.#newWindow(nowMs)
    const { isBusy, isUsedUp, median, medianMs } = window
    const isInflated = median > INFLATED + MEDIAN_ERROR / Math.sqrt(calls) && medianMs > INFLATED_MS
    if (!isUsedUp) this.#lookedAtMs = nowMs
    if (this.#trial) this.#endTrial(this.#trial, window, nowMs)
    else if (isBusy && isInflated) this.#stepDown(window, nowMs)
    else if (isUsedUp && nowMs - (this.#lookedAtMs ?? nowMs) >= LOOK_EVERY_MS) this.#stepDown(window, nowMs)
    else if (isUsedUp) this.#mayGrow(medianMs > INFLATED_MS ? median : Math.min(1, median), cap, nowMs)
  }

  #mayGrow(median: number, cap: number | undefined, nowMs: number): void {
    this.#lookedAtMs ??= nowMs
    if (median < 1) this.#latency.rescale(Math.sqrt(median))
    if (median > ROOMY) {
      this.#grownInARow = 0
      return
    }
    this.#grownInARow += 1
    const growth = this.#grownInARow > GROWN_OFTEN ? QUICKER_GROWTH : GROWTH
    this.#change(Math.min(cap ?? MAX_LIMIT, this.#limit * growth + 1), nowMs)
  }

  /** From the calls in progress, which may be far fewer than the limit allows. */
  #stepDown({ median, inFlight }: Window, nowMs: number): void {
    this.#grownInARow = 0
    this.#lookedAtMs = nowMs
    this.#knownGood = Math.max(this.#limit, this.#knownGood)
    const step = Math.max(MAX_STEP_DOWN, Math.min(STEP_DOWN, GROWTH / median))
    this.#trial = {
      limitBefore: this.#limit,
      inFlightBefore: inFlight,
      medianBefore: median,
      rounds: step <= 0.5 ? LARGE_STEP_ROUNDS : WINDOW_ROUNDS,
    }
    this.#change(Math.min(this.#limit, inFlight) * step, nowMs)
  }

  #endTrial(trial: Trial, window: Window, nowMs: number): void {
    this.#trial = undefined
    const step = Math.log(window.inFlight / trial.inFlightBefore)
    // There was no demand for more: nothing was learnt.
    if (!window.isUsedUp) return
    // Waiting callers exceeded it, so that hardly fewer calls were in progress: the latency changed for another reason.
    if (step > Math.log(this.#limit / trial.inFlightBefore) / 2) return this.#change(trial.limitBefore, nowMs)
    // There is no way down: nothing was learnt.
    if (step > MIN_LOG_STEP) return
    const follows = Math.log(window.median / trial.medianBefore) / step
    const wasQueue = follows >= FOLLOWS && follows <= FELL_BY_ITSELF
    this.#latency.rescale(window.median)
    if (!wasQueue) return this.#change(trial.limitBefore, nowMs)
    this.#knownGood = this.#limit
    if (this.#limit > MIN_LIMIT) this.#stepDown({ ...window, median: 1 }, nowMs)
  }

  /** Calls that began before a change do not count after it. */
  #change(limit: number, nowMs: number): void {
    this.#limit = Math.min(MAX_LIMIT, Math.max(MIN_LIMIT, limit))
    this.#changedAtMs = nowMs
    this.#unheard = 0
    this.#newWindow(nowMs)
  }

  #newWindow(nowMs: number): void {
    this.#calls = []
    this.#inFlight = 0
    this.#usedUp = 0
    this.#busy = 0
    this.#windowFromMs = nowMs
  }
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 1
}
