/**
 * How many inputs a call in the background may carry. Its size is the damage it does: who comes at the wrong moment waits for one
 * such call to end. So calls shrink by half whenever somebody had to wait, and by a quarter while they take too long beside those of
 * people; they grow slowly otherwise.
 */
const START = 128
const LEAST = 16
const MOST = 256
const STEP = 32
/** The calls that made somebody wait have begun before: what is sent from now on is told by those who come after it. */
const SHRINK_EVERY_MS = 100
/** From the least to the most in some four seconds. */
const GROW_EVERY_MS = 500
/** Between the smallest and the largest of calls that follow one another, as a part of their average. */
const SPREAD = 0.5
/** Its multiples are spread evenly between whole numbers, however many there are. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2

/** What calls in the background do to people. */
export interface Disturbance {
  /** How many calls have had to wait in line for a person so far. */
  readonly waits: number
  /** By how much calls in the background take too long: up to 1 they do not. */
  readonly excess: number
}

export class CallSize {
  #inputs = START
  #waits = 0
  #changedAtMs = Number.NEGATIVE_INFINITY
  #spread = 0

  /** Of a call, on average. */
  get inputs(): number {
    return this.#inputs
  }

  /**
   * Of the next call, around the average: calls of one size that begin together end together, and in between no place becomes free
   * for anybody.
   */
  next(disturbance: Disturbance, nowMs: number): number {
    this.#learn(disturbance, nowMs)
    this.#spread = (this.#spread + GOLDEN_RATIO) % 1
    const inputs = Math.round(this.#inputs * (1 - SPREAD / 2 + SPREAD * this.#spread))
    return Math.min(MOST, Math.max(LEAST, inputs))
  }

  #learn({ waits, excess }: Disturbance, nowMs: number): void {
    const hasAnybodyWaited = waits > this.#waits
    this.#waits = waits
    const sinceMs = nowMs - this.#changedAtMs
    if (hasAnybodyWaited && sinceMs >= SHRINK_EVERY_MS)
      this.#change(Math.max(LEAST, this.#inputs >> 1), nowMs)
    else if (!hasAnybodyWaited && sinceMs >= GROW_EVERY_MS) {
      if (excess > 1) this.#change(Math.max(LEAST, Math.round(this.#inputs * 0.75)), nowMs)
      else if ((excess * (this.#inputs + STEP)) / this.#inputs <= 1)
        this.#change(Math.min(MOST, this.#inputs + STEP), nowMs)
    }
  }

  #change(inputs: number, nowMs: number): void {
    this.#inputs = inputs
    this.#changedAtMs = nowMs
  }
}
