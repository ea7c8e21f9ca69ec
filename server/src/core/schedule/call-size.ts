/**
 * How many inputs a background call may carry. Its size is the damage it does: a caller that comes at the wrong moment
 * waits for one such call to end. Calls therefore shrink by half whenever a caller had to wait, and by a quarter while they
 * take too long beside callers' own; they grow slowly otherwise.
 */
const START = 128
const MIN_INPUTS = 16
const MAX_INPUTS = 256
const STEP = 32
/** Interval of shrinking: the calls that made a caller wait began before, and only later waits tell about smaller ones. */
const SHRINK_EVERY_MS = 100
/** Interval of growth: from the smallest to the largest size in some four seconds. */
const GROW_EVERY_MS = 500
/** Difference between the smallest and the largest of consecutive calls, as a share of their average. */
const SPREAD = 0.5
/** Its multiples are spread evenly between whole numbers, however many there are. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2

/** What background calls do to callers. */
export interface Disturbance {
  /** Calls of callers that have had to queue so far. */
  readonly waits: number
  /** By how much background calls take too long: up to 1 they do not. */
  readonly excess: number
}

export class CallSize {
  #inputs = START
  #waits = 0
  #changedAtMs = Number.NEGATIVE_INFINITY
  #spread = 0

  /** Average per call. */
  get inputs(): number {
    return this.#inputs
  }

  /**
   * Inputs of the next call, around the average: calls of one size that begin together end together, and in between no slot
   * becomes free.
   */
  next(disturbance: Disturbance, nowMs: number): number {
    this.#learn(disturbance, nowMs)
    this.#spread = (this.#spread + GOLDEN_RATIO) % 1
    const inputs = Math.round(this.#inputs * (1 - SPREAD / 2 + SPREAD * this.#spread))
    return Math.min(MAX_INPUTS, Math.max(MIN_INPUTS, inputs))
  }

  #learn({ waits, excess }: Disturbance, nowMs: number): void {
    const hasAnybodyWaited = waits > this.#waits
    this.#waits = waits
    const sinceMs = nowMs - this.#changedAtMs
    if (hasAnybodyWaited && sinceMs >= SHRINK_EVERY_MS)
      this.#change(Math.max(MIN_INPUTS, this.#inputs >> 1), nowMs)
    else if (!hasAnybodyWaited && sinceMs >= GROW_EVERY_MS) {
      if (excess > 1) this.#change(Math.max(MIN_INPUTS, Math.round(this.#inputs * 0.75)), nowMs)
      else if ((excess * (this.#inputs + STEP)) / this.#inputs <= 1)
        this.#change(Math.min(MAX_INPUTS, this.#inputs + STEP), nowMs)
    }
  }

  #change(inputs: number, nowMs: number): void {
    this.#inputs = inputs
    this.#changedAtMs = nowMs
  }
}
