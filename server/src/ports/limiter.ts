import type { RateDecision, RateLimit, RateTake } from '#core/limits/limit.ts'

/**
 * Rate limits per key and project. A decision is all or nothing: a request that one limit refuses takes nothing from the
 * others. The limiter always decides and never rejects: when the shared store is unreachable or slow it decides by this
 * node's share of each limit (limit ÷ live nodes), and says so in its metrics. It never sends a take twice, because the
 * first may have been counted although its answer was lost.
 */
export interface RateLimiter {
  /** The limits of one request, each named once. */
  take(takes: readonly RateTake[]): RateDecision | Promise<RateDecision>
  /**
   * Corrects an estimate once the true amount is known. A positive difference takes more, even beyond the limit; a negative
   * one gives back. Callers do not wait for it; a lost correction heals as the minute passes.
   */
  correct(limit: RateLimit, difference: number): void
}
