/**
 * Rate limits and their arithmetic: GCRA in its leaky-bucket form. A take adds to a debt, the passing time pays it off, and
 * a take that would raise the debt above the amount of one minute is refused.
 *
 * Debts are whole numbers of grains. A unit has sixty million of them, so that a limit of n units per minute pays off
 * exactly n grains per microsecond. An interval between units (60 s ÷ 7) is no whole number and would drift; grains never
 * do, and a store that computes with doubles (Lua in Redis) agrees with this file bit for bit. Exact up to 150 million
 * units per minute, where the amount of a minute reaches 2^53; beyond that the error is one part in 10^15.
 */

export type RateUnit = 'requests' | 'tokens' | 'images'

export interface RateLimit {
  /** `project:<name>:requests`, `key:<id>:tokens` … : unique, and the key under which it is counted. */
  readonly id: string
  /** Its owner; limits of one project are counted on one shard. */
  readonly project: string
  readonly unit: RateUnit
  /** Whole units per minute, at least one; as many may come in one burst after a quiet minute. */
  readonly perMinute: number
}

/** A deployment's limits, as set by an operator. Per minute: all nodes together. `concurrency`: each node. */
export interface DeploymentLimits {
  readonly requestsPerMinute?: number | undefined
  readonly tokensPerMinute?: number | undefined
  readonly imagesPerMinute?: number | undefined
  readonly concurrency?: number | undefined
  /** The limit that a node learns from latency never falls below this. */
  readonly minConcurrency?: number | undefined
  /** False: the node learns no limit, and only `concurrency` bounds the calls in progress. */
  readonly learnsConcurrency?: boolean | undefined
}

/** The amount of one limit that a request takes. */
export interface RateTake {
  readonly limit: RateLimit
  /** Whole units: 1 request, or a number of tokens or images. */
  readonly amount: number
}

/** The state of a limit after a decision. */
export interface RateState {
  readonly limit: RateLimit
  /** Whole units available now. */
  readonly remaining: number
  /** Time until the limit is fully available again. */
  readonly resetMs: number
  /**
   * Time until this take would have been allowed: 0 when it was, undefined when it never can be (more than the amount of a
   * whole minute).
   */
  readonly retryAfterMs: number | undefined
}

export interface RateDecision {
  readonly allowed: boolean
  /** In the order of the takes. */
  readonly states: readonly RateState[]
}

/** The stored state of one limit. */
export interface RateDebt {
  readonly atMicroseconds: number
  readonly grains: number
}

export const UNTOUCHED: RateDebt = { atMicroseconds: 0, grains: 0 }

const GRAINS_PER_UNIT = 60_000_000
const MICROSECONDS_PER_MS = 1000

/**
 * Decides one request over all its limits, each named once: all or nothing. `share` is the part of every limit that this
 * decider may grant: 1, or 1 ÷ nodes while they cannot see one another.
 */
export function takeAll(
  debts: readonly RateDebt[],
  nowMicroseconds: number,
  takes: readonly RateTake[],
  share = 1,
): { readonly decision: RateDecision; readonly debts: readonly RateDebt[] } {
  const grains = takes.map(({ limit }, index) =>
    grainsAt(debts[index] ?? UNTOUCHED, nowMicroseconds, sharePerMinute(limit, share)),
  )
  const allowed = takes.every((take, index) => fits(take, grains[index] ?? 0, share))
  const after = takes.map(
    ({ amount }, index) => (grains[index] ?? 0) + (allowed ? amount * GRAINS_PER_UNIT : 0),
  )
  return {
    decision: decisionOf(takes, allowed, after, share),
    debts: after.map((grains, index) => {
      const debt = debts[index] ?? UNTOUCHED
      // A refusal changes nothing, so stores need not write it.
      const isKept = !allowed && debt.atMicroseconds <= nowMicroseconds
      return isKept ? debt : { atMicroseconds: nowMicroseconds, grains }
    }),
  }
}

/** Takes more or gives back once the true amount is known: beyond the limit if need be, never below zero. */
export function correct(
  debt: RateDebt,
  nowMicroseconds: number,
  limit: RateLimit,
  difference: number,
  share = 1,
): RateDebt {
  const grains = grainsAt(debt, nowMicroseconds, sharePerMinute(limit, share))
  return {
    atMicroseconds: nowMicroseconds,
    grains: Math.max(0, grains + difference * GRAINS_PER_UNIT),
  }
}

/** The answer for callers, from the grains each limit owes after the decision. */
export function decisionOf(
  takes: readonly RateTake[],
  allowed: boolean,
  grainsAfter: readonly number[],
  share = 1,
): RateDecision {
  const states = takes.map((take, index): RateState => {
    const { limit } = take
    const grains = grainsAfter[index] ?? 0
    const perMinute = sharePerMinute(limit, share)
    return {
      limit,
      remaining: Math.max(0, Math.floor((perMinute * GRAINS_PER_UNIT - grains) / GRAINS_PER_UNIT)),
      resetMs: msToPayOff(grains, perMinute),
      retryAfterMs: allowed ? 0 : retryAfterMs(take, grains, share),
    }
  })
  return { allowed, states }
}

/** Whether nothing is owed any more, unless another take comes. */
export function isUntouched(debt: RateDebt, nowMicroseconds: number, limit: RateLimit, share = 1): boolean {
  return grainsAt(debt, nowMicroseconds, sharePerMinute(limit, share)) === 0
}

/** A clock that was set back pays nothing off, and the debt gets a new timestamp: no caller waits for the old hour to return. */
function grainsAt(debt: RateDebt, nowMicroseconds: number, perMinute: number): number {
  const elapsed = Math.max(0, nowMicroseconds - debt.atMicroseconds)
  return Math.max(0, debt.grains - elapsed * perMinute)
}

/**
 * Rounded to the nearest unit and never less than one per minute: nodes together are off by at most half a unit each, which
 * is within 10 % from five units per node on.
 */
function sharePerMinute(limit: RateLimit, share: number): number {
  return share === 1 ? limit.perMinute : Math.max(1, Math.round(limit.perMinute * share))
}

function fits(take: RateTake, grains: number, share: number): boolean {
  return take.amount <= take.limit.perMinute && missingGrains(take, grains, share) <= 0
}

function retryAfterMs(take: RateTake, grains: number, share: number): number | undefined {
  if (take.amount > take.limit.perMinute) return undefined
  return msToPayOff(Math.max(0, missingGrains(take, grains, share)), sharePerMinute(take.limit, share))
}

/**
 * What must be paid off before this take fits. A take larger than the share, but not than the limit, needs the whole share
 * available and leaves a debt of several minutes: it could never pass otherwise, and the rate over time stays the same.
 */
function missingGrains({ limit, amount }: RateTake, grains: number, share: number): number {
  const perMinute = sharePerMinute(limit, share)
  return grains + Math.min(amount, perMinute) * GRAINS_PER_UNIT - perMinute * GRAINS_PER_UNIT
}

/** Rounded up to the next whole millisecond, in integers so that it is exact. */
function msToPayOff(grains: number, perMinute: number): number {
  const grainsPerMs = perMinute * MICROSECONDS_PER_MS
  const wholeMs = Math.floor(grains / grainsPerMs)
  return wholeMs * grainsPerMs < grains ? wholeMs + 1 : wholeMs
}
