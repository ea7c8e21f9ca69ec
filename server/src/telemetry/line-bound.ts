import type { Clock } from '#ports/clock.ts'

/** Lines per second that strangers can cause: enough to see the cause, too few to fill a disk or a table. */
const LINES_A_SECOND = 20

export class LineBound {
  readonly #clock: Clock
  #second = 0
  #written = 0
  #omitted = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Lines omitted since the last one. Undefined when this one is to be omitted too. */
  take(): number | undefined {
    const second = Math.floor(this.#clock.monotonicMs() / 1000)
    if (second !== this.#second) this.#written = 0
    this.#second = second
    if (this.#written === LINES_A_SECOND) {
      this.#omitted += 1
      return undefined
    }
    this.#written += 1
    const omitted = this.#omitted
    this.#omitted = 0
    return omitted
  }
}
