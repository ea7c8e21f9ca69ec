/** Whether the store takes entries, when it is tried again, and what is reported of it. */

/** Pause after the first failure. It doubles with each further one. */
const FIRST_PAUSE_MS = 250
/** Longest pause: one failing statement every two seconds is no load, and what waits is written soon after the store is back. */
const MAX_PAUSE_MS = 2000
/** Time for which the store must stay reachable to count as back: a lock that comes and goes is one outage. */
const STEADY_MS = 15_000

export interface ReachEvents {
  /** The store can't be written. Reported once, until it has been back for a while. */
  storeUnreachable(error: Error): void
  /** `interruptions`: how many times it was unreachable since the report. */
  storeBack(interruptions: number): void
}

export class StoreReach {
  readonly #events: ReachEvents
  readonly #monotonicMs: () => number
  /** True until it was reached for the first time. */
  #isAway = true
  #wasKnown = false
  /** Interruptions that are not reported as over. */
  #interruptions = 0
  #backAtMs = 0
  #failures = 0
  #triedAgainAtMs = 0

  constructor(events: ReachEvents, monotonicMs: () => number) {
    this.#events = events
    this.#monotonicMs = monotonicMs
  }

  get isAway(): boolean {
    return this.#isAway
  }

  /** An entry, or a heartbeat, could not be written. */
  leave(error: Error): void {
    if (!this.#isAway || !this.#wasKnown) {
      this.#interruptions += 1
      if (this.#interruptions === 1) this.#events.storeUnreachable(error)
    }
    this.#wasKnown = true
    this.#isAway = true
  }

  /** Entries that wait could not be written. */
  failAgain(error: Error): void {
    this.leave(error)
    this.#triedAgainAtMs = this.#monotonicMs() + Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures)
    this.#failures += 1
  }

  comeBack(): void {
    if (this.#isAway) this.#backAtMs = this.#monotonicMs()
    this.#isAway = false
    this.#wasKnown = true
  }

  /** Called periodically. Whether the pause after the last failure is over. */
  isDue(): boolean {
    const nowMs = this.#monotonicMs()
    if (!this.#isAway && nowMs - this.#backAtMs >= STEADY_MS) {
      if (this.#interruptions > 0) this.#events.storeBack(this.#interruptions)
      this.#interruptions = 0
      this.#failures = 0
    }
    return nowMs >= this.#triedAgainAtMs
  }
}
