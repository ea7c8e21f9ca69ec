/**
 * How long the calls of a model take that somebody waits for, and those that nobody waits for. Who comes when all places are taken waits
 * for one of these to end: so, while there are people, they should not take much longer than people's own.
 */

/** As many times as long as a call of people. Less would cost a batch more than people gain: much of a call is the same for any size. */
const TIMES = 2
/** However short the calls of people are: nobody notices so much. */
const UNNOTICED_MS = 100
/** Later, nobody is there. */
const LATELY_MS = 10_000
/** Some twenty calls to forget what was. */
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

  /** How long calls take that nobody waits for, as a part of what they may take: more than 1 is too long. 0 where nobody came lately. */
  excess(nowMs: number): number {
    if (!this.#people.isOfLate(nowMs) || !this.#background.isOfLate(nowMs)) return 0
    return this.#background.ms / Math.max(UNNOTICED_MS, this.#people.ms * TIMES)
  }
}
