/**
 * Load shedding: the share of requests that a node refuses unread, because the node could not answer them in time.
 *
 * A node that is short of CPU is slow, and slow is no reason to refuse. A request is refused only when it would wait for
 * the node longer than a request may wait for anything. The measure is the work ahead of a ready event: the CPU time
 * between two turns of the event loop. Time in which the process did not run (the quota of a container, a busy neighbour, a
 * paused host) is no work. It only makes the existing work take longer.
 */

/** Above this the event loop has no spare time, */
const BUSY = 0.98
/** and below this it clearly has. */
const SPARE = 0.9
/** A request waits to be read, to be sent on, for the head and the body of the answer, and to be answered. */
const WAITS_OF_A_REQUEST = 5
/** Signs in a row before refusals change: fewer may have been one long turn. */
const SIGNS = 4
/** More is refused in proportion to the wait: late requests wait in sockets, where the node can't count them. */
const STEP = 0.05
const MAX_STEP = 0.15
/** Less is refused while there is hardly any spare time: slowly while the wait is nearly too long, to find what can be accepted. */
const EASE = 0.05
const MIN_EASE = 0.01
/** Less is refused when there is spare time: from all to nothing in a second. */
const RELEASE = 0.1
/** Largest share: some requests always get through, so that the node notices the end of an overload. */
const MAX_SHARE = 0.95

export interface LoadSample {
  /** Average CPU time ahead of an event that becomes ready. */
  readonly workMs: number
  /** Wall time per unit of CPU time: 1 when the process has a core of its own. */
  readonly slowdown: number
  /** 0 to 1: the share of time in which the event loop was busy. */
  readonly utilization: number
}

export class Shedding {
  /** 0 to 1: the share of requests to refuse at once. */
  share = 0
  readonly #patienceMs: number
  #signs = 0

  /** `patienceMs`: how long a request may wait. */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  /** Must be called about every tenth of a second. */
  look({ workMs, slowdown, utilization }: LoadSample): void {
    const wait = (workMs * slowdown * WAITS_OF_A_REQUEST) / this.#patienceMs
    const isOverloaded = utilization > BUSY && wait > 1
    this.#signs = isOverloaded ? this.#signs + 1 : 0
    const ease = Math.max(MIN_EASE, EASE * (1 - wait))
    if (!isOverloaded) this.share = Math.max(0, this.share - (utilization < SPARE ? RELEASE : ease))
    else if (this.share > 0 || this.#signs >= SIGNS)
      this.share = Math.min(MAX_SHARE, this.share + Math.min(MAX_STEP, STEP * wait))
  }
}

/** The average wait of an event that becomes ready at any moment, given the times between rounds of the loop. */
export function meanWaitMs(gapsMs: readonly number[], usualGapMs: number): number {
  let sum = 0
  let squares = 0
  for (const gapMs of gapsMs) {
    sum += gapMs
    squares += gapMs * gapMs
  }
  return sum === 0 ? 0 : Math.max(0, (squares / sum - usualGapMs) / 2)
}
