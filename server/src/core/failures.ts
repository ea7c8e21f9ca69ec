/** Failures by whoever caused them: after a burst, one is allowed for each time that passes. */

export interface FailureRules {
  /** So many at once. */
  readonly burst: number
  /** And then one in so long. */
  readonly refillMs: number
  /** Strangers must not fill the memory. */
  readonly maxNames: number
}

export class Failures {
  readonly #rules: FailureRules
  readonly #nowMs: () => number
  /** When all failures of a name are forgotten: each adds the time of one. Oldest failure first. */
  readonly #forgottenMs = new Map<string, number>()

  constructor(rules: FailureRules, nowMs: () => number) {
    this.#rules = rules
    this.#nowMs = nowMs
  }

  get isEmpty(): boolean {
    return this.#forgottenMs.size === 0
  }

  /** How long this name has to wait before it may fail again. */
  waitMs(name: string): number {
    const { burst, refillMs } = this.#rules
    const forgottenMs = this.#forgottenMs.get(name) ?? 0
    return Math.max(0, forgottenMs - this.#nowMs() - (burst - 1) * refillMs)
  }

  note(name: string): void {
    const nowMs = this.#nowMs()
    const forgottenMs = Math.max(this.#forgottenMs.get(name) ?? 0, nowMs) + this.#rules.refillMs
    // Set anew, so that the map is in the order of the last failures.
    this.#forgottenMs.delete(name)
    this.#forgottenMs.set(name, forgottenMs)
    for (const [oldest, untilMs] of this.#forgottenMs) {
      if (untilMs > nowMs && this.#forgottenMs.size <= this.#rules.maxNames) break
      this.#forgottenMs.delete(oldest)
    }
  }

  /** One that was noted was none. */
  forgive(name: string): void {
    const forgottenMs = this.#forgottenMs.get(name)
    if (forgottenMs !== undefined) this.#forgottenMs.set(name, forgottenMs - this.#rules.refillMs)
  }
}
