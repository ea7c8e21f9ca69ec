/**
 * Durations of a model's calls with a waiting caller, and of its background calls. A caller that comes when all slots are
 * taken waits for one of these to end: while there are callers, background calls should not take much longer than callers'
 * own.
 */

/**
 * Allowed duration relative to a caller's call. Less would cost a batch more than callers gain: much of a call takes the
 * same time for any size.
 */
const TIMES = 2
/** Allowed duration however short the calls of callers are: a delay that goes unnoticed. */
const UNNOTICED_MS = 100
/** Time after which no caller counts as present. */
const LATELY_MS = 10_000
/** Weight of one call: some twenty calls replace the earlier average. */
const GAIN = 0.05

class MeanTime {
  #ms = 0
  #atMs = Number.NEGATIVE_INFINITY

  ended(durationMs: number, nowMs: number): void {
    this.#ms = this.isOfLate(nowMs) ? this.#ms + (durationMs - this.#ms) * GAIN : durationMs
    this.#atMs = nowMs
  }

  isOfLate(nowMs: number): boolean {
    return nowMs - this.#atMs < LATELY_MS
  }

  get ms(): number {
    return this.#ms
  }
}

export class CallTimes {
  readonly #people = new MeanTime()
  readonly #background = new MeanTime()

  ended(isBackground: boolean, durationMs: number, nowMs: number): void {
    const times = isBackground ? this.#background : this.#people
    times.ended(durationMs, nowMs)
  }

  /** The duration of background calls as a share of the allowed one: more than 1 is too long. 0 without recent callers. */
  excess(nowMs: number): number {
    if (!this.#people.isOfLate(nowMs) || !this.#background.isOfLate(nowMs)) return 0
    return this.#background.ms / Math.max(UNNOTICED_MS, this.#people.ms * TIMES)
  }
}
