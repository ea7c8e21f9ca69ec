/**
 * How many inputs a call in the background may carry. Its size is the damage it does: who comes at the wrong moment waits for one
 * such call to end. So calls shrink by half whenever somebody had to wait, and grow slowly while nobody does.
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
   * for anybody. `waits`: how many calls have had to wait in line for a person so far.
   */
  next(waits: number, nowMs: number): number {
    this.#learn(waits, nowMs)
    this.#spread = (this.#spread + GOLDEN_RATIO) % 1
    const inputs = Math.round(this.#inputs * (1 - SPREAD / 2 + SPREAD * this.#spread))
    return Math.min(MOST, Math.max(LEAST, inputs))
  }

  #learn(waits: number, nowMs: number): void {
    const hasAnybodyWaited = waits > this.#waits
    this.#waits = waits
    const sinceMs = nowMs - this.#changedAtMs
    if (hasAnybodyWaited && sinceMs >= SHRINK_EVERY_MS)
      this.#change(Math.max(LEAST, this.#inputs >> 1), nowMs)
    else if (!hasAnybodyWaited && sinceMs >= GROW_EVERY_MS)
      this.#change(Math.min(MOST, this.#inputs + STEP), nowMs)
  }

  #change(inputs: number, nowMs: number): void {
    this.#inputs = inputs
    this.#changedAtMs = nowMs
  }
}
