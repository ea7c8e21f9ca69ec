import { correct, isUntouched, takeAll, UNTOUCHED } from '#core/limits/limit.ts'
import type { RateDebt, RateDecision, RateLimit, RateTake } from '#core/limits/limit.ts'
import type { Clock } from '#ports/clock.ts'
import type { RateLimiter } from '#ports/limiter.ts'

/**
 * Far more limits than are busy within one minute on one node, for about 20 MB. Callers can't invent limits, so only an
 * unusually large node gets here; then the one that was busy longest ago starts afresh.
 */
const LIMITS_MAX = 100_000
/** Two looked at for each one added: what has been paid off is let go faster than new limits come. */
const LOOKED_AT_PER_ADDED = 2

interface Entry {
  readonly limit: RateLimit
  readonly debt: RateDebt
}

/**
 * Rate limits of this process alone. `share` is the part of each limit it may give away: 1 for a node that is alone, 1 ÷ live
 * nodes when it stands in for a store that all of them share.
 */
export class MemoryLimiter implements RateLimiter {
  readonly #clock: Clock
  readonly #share: () => number
  /** By limit id, the one taken from longest ago first. */
  readonly #entries = new Map<string, Entry>()

  constructor(clock: Clock, share: () => number) {
    this.#clock = clock
    this.#share = share
  }

  /** How many limits are remembered. */
  get size(): number {
    return this.#entries.size
  }

  take(takes: readonly RateTake[]): RateDecision {
    const { decision, debts } = takeAll(
      takes.map(({ limit }) => this.#debtOf(limit)),
      this.#nowMicroseconds(),
      takes,
      this.#share(),
    )
    for (const [index, { limit }] of takes.entries()) this.#remember(limit, debts[index] ?? UNTOUCHED)
    return decision
  }

  correct(limit: RateLimit, difference: number): void {
    const debt = correct(this.#debtOf(limit), this.#nowMicroseconds(), limit, difference, this.#share())
    this.#remember(limit, debt)
  }

  #debtOf(limit: RateLimit): RateDebt {
    return this.#entries.get(limit.id)?.debt ?? UNTOUCHED
  }

  #remember(limit: RateLimit, debt: RateDebt): void {
    const isNew = !this.#entries.delete(limit.id)
    this.#entries.set(limit.id, { limit, debt })
    if (isNew) this.#forget()
  }

  #forget(): void {
    let looks = LOOKED_AT_PER_ADDED
    for (const [id, { limit, debt }] of this.#entries) {
      if (looks === 0) return
      looks -= 1
      const isFull = this.#entries.size > LIMITS_MAX
      if (isFull || isUntouched(debt, this.#nowMicroseconds(), limit, this.#share())) this.#entries.delete(id)
    }
  }

  /** By the clock that never goes back. */
  #nowMicroseconds(): number {
    return Math.round(this.#clock.monotonicMs() * 1000)
  }
}
