/**
 * Which share of its requests a node refuses at once, so that it answers the others in time. The sign is how
 * long a ready event waits for the event loop: a loop that is always busy may still be quick, but a loop
 * whose rounds get long has more to do than it can. So has a loop that is always busy and refuses many
 * requests after it has read them: refusing them unread costs half as much.
 */

/** Above this the event loop has no time to spare, */
const BUSY = 0.98
/** and below this it clearly has. */
const SPARE = 0.9
/**
 * A request waits for the loop some five times: at this wait
 * each, the node adds a tenth of a second to its answer.
 */
const LONG_WAIT_MS = 20
/** So often in a row: fewer may be one long round, or a moment in which the host had other things to do. */
const SIGNS = 4
/**
 * How much more is refused, in proportion to the wait: late
 * requests wait in sockets, where the node can't count them.
 */
const STEP = 0.05
const MAX_STEP = 0.15
/**
 * How much less is refused while time is short: little while
 * the wait is nearly long, to find what the node can take.
 */
const EASE = 0.05
const LEAST_EASE = 0.01
/** How much less is refused while there is time to spare: from all to nothing in a second. */
const RELEASE = 0.1
/** Some always get through, so that the end of an overload is noticed. */
const MOST = 0.95
/** In a tenth of a second: at a sixth of a millisecond each, a twentieth of it. */
const MANY_LATE_REFUSALS = 30

export class Shedding {
  /** 0 to 1: which share of the requests should be refused at once. */
  share = 0
  /** How long a ready event waits for the event loop, on average. */
  waitMs = 0
  #signs = 0

  /** To be told about every tenth of a second. */
  look(waitMs: number, utilization: number, lateRefusals: number): void {
    this.waitMs = waitMs
    const isTooMuch = waitMs > LONG_WAIT_MS || lateRefusals > MANY_LATE_REFUSALS
    const isOverloaded = utilization > BUSY && isTooMuch
    this.#signs = isOverloaded ? this.#signs + 1 : 0
    const ease = Math.max(LEAST_EASE, EASE * (1 - waitMs / LONG_WAIT_MS))
    if (!isOverloaded) this.share = Math.max(0, this.share - (utilization < SPARE ? RELEASE : ease))
    else if (this.share > 0 || this.#signs >= SIGNS)
      this.share = Math.min(MOST, this.share + Math.min(MAX_STEP, STEP * Math.max(1, waitMs / LONG_WAIT_MS)))
  }
}

/**
 * How long an event that gets ready at any moment waits
 * on average, given the times between rounds of the loop.
 */
export function meanWaitMs(gapsMs: readonly number[], usualGapMs: number): number {
  let sum = 0
  let squares = 0
  for (const gapMs of gapsMs) {
    sum += gapMs
    squares += gapMs * gapMs
  }
  return sum === 0 ? 0 : Math.max(0, (squares / sum - usualGapMs) / 2)
}
