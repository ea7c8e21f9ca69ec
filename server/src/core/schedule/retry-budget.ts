/**
 * How many calls may be retried. When an upstream is unhealthy, retries are what turns its bad minute into an outage, so
 * they live on credit that first calls earn:
 *
 * retries ≤ BURST + TRICKLE × seconds + SHARE × first calls
 *
 * If all first calls fail, that is 30 % of them at 200 per minute, 20 % at 600, and 15 % in the limit. Credit fades, so that
 * a quiet hour does not pay for a storm.
 */

/** Credit of one first call. With the trickle this stays under 20 % from ten calls per second on. */
const SHARE = 0.15
/** Credit without calls: a node that serves one request per minute may still fail over. */
const TRICKLE_PER_MS = 0.5 / 1000
/** Credit fades e-fold in this time: long enough to retry the calls that a dying upstream had in progress, too short for a storm. */
const MEMORY_MS = 10_000
/** The credit without calls, and the initial credit. */
const BURST = TRICKLE_PER_MS * MEMORY_MS

export class RetryBudget {
  #credit = BURST
  #atMs: number | undefined

  /** A first call was made. */
  begun(nowMs: number): void {
    this.#fade(nowMs)
    this.#credit += SHARE
  }

  /** Whether a call may be retried. A granted retry is paid for by asking. */
  mayRetry(nowMs: number): boolean {
    this.#fade(nowMs)
    if (this.#credit < 1) return false
    this.#credit -= 1
    return true
  }

  /** Towards the burst, from above or below. */
  #fade(nowMs: number): void {
    const passedMs = Math.max(0, nowMs - (this.#atMs ?? nowMs))
    this.#atMs = nowMs
    this.#credit = BURST + (this.#credit - BURST) * Math.exp(-passedMs / MEMORY_MS)
  }
}
