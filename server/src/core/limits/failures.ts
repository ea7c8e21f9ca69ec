/** Limits failures by their cause: after a burst, one failure is allowed per `refillMs`. */

export interface FailureRules {
  /** Failures allowed at once. */
  readonly burst: number
  /** Time after which one more failure is allowed. */
  readonly refillMs: number
  /** Bound of memory: strangers choose the names. */
  readonly maxNames: number
}

export class Failures {
  readonly #rules: FailureRules
  readonly #nowMs: () => number
  /** When all failures of a name have expired: each adds `refillMs`. Oldest failure first. */
  readonly #forgottenMs = new Map<string, number>()

  constructor(rules: FailureRules, nowMs: () => number) {
    this.#rules = rules
    this.#nowMs = nowMs
  }

  get isEmpty(): boolean {
    return this.#forgottenMs.size === 0
  }

  /** How long this name must wait before it may fail again. */
  waitMs(name: string): number {
    const { burst, refillMs } = this.#rules
    const forgottenMs = this.#forgottenMs.get(name) ?? 0
    return Math.max(0, forgottenMs - this.#nowMs() - (burst - 1) * refillMs)
  }

  note(name: string): void {
    const nowMs = this.#nowMs()
    const forgottenMs = Math.max(this.#forgottenMs.get(name) ?? 0, nowMs) + this.#rules.refillMs
    // Deleted first, so that the map stays in the order of the last failures.
    this.#forgottenMs.delete(name)
    this.#forgottenMs.set(name, forgottenMs)
    for (const [oldest, untilMs] of this.#forgottenMs) {
      if (untilMs > nowMs && this.#forgottenMs.size <= this.#rules.maxNames) break
      this.#forgottenMs.delete(oldest)
    }
  }

  /** Takes back a failure that turned out to be none. */
  forgive(name: string): void {
    const forgottenMs = this.#forgottenMs.get(name)
    if (forgottenMs !== undefined) this.#forgottenMs.set(name, forgottenMs - this.#rules.refillMs)
  }
}
