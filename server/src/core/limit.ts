/**
 * Rate limits: what they are, and their arithmetic. It is GCRA in its leaky-bucket form: a take adds to a debt, the passing
 * time pays it off, and a take that would make the debt larger than one minute's worth is refused.
 *
 * Debts are whole numbers of grains. A unit has sixty million of them, so that a limit of n units a minute pays off exactly
 * n grains a microsecond. An interval between units (60 s ÷ 7) is no whole number and would drift; grains never do, and a
 * store that computes with doubles (Lua in Redis) agrees with this file bit for bit. Exact up to 150 million units a minute,
 * where a minute's worth reaches 2^53; beyond that the error is one part in 10^15.
 */

export type RateUnit = 'requests' | 'tokens' | 'images'

export interface RateLimit {
  /** `project:<name>:requests`, `key:<id>:tokens` … : unique, and the key under which it is counted. */
  readonly id: string
  /** Its owner; limits of one project are counted on one shard. */
  readonly project: string
  readonly unit: RateUnit
  /** Whole units a minute, at least one; as many may come in one burst after a quiet minute. */
  readonly perMinute: number
}

/** What an operator says a deployment takes. Per minute: all nodes together. `concurrency`: each node. */
export interface DeploymentLimits {
  readonly requestsPerMinute?: number | undefined
  readonly tokensPerMinute?: number | undefined
  readonly imagesPerMinute?: number | undefined
  readonly concurrency?: number | undefined
  /** The limit that a node learns from latency never falls below this. */
  readonly minConcurrency?: number | undefined
  /** False: the node learns no limit, and only `concurrency` bounds the calls under way. */
  readonly learnsConcurrency?: boolean | undefined
}

/** How much of one limit a request wants to take. */
export interface RateTake {
  readonly limit: RateLimit
  /** Whole units: 1 request, so many tokens, so many images. */
  readonly amount: number
}

/** Where a limit stands after a decision. */
export interface RateState {
  readonly limit: RateLimit
  /** Whole units that could be taken now. */
  readonly remaining: number
  /** Until the limit is untouched again. */
  readonly resetMs: number
  /** Until this take would have been allowed: 0 when it was, undefined when it never can be (more than a whole minute's worth). */
  readonly retryAfterMs: number | undefined
}

export interface RateDecision {
  readonly allowed: boolean
  /** In the order of the takes. */
  readonly states: readonly RateState[]
}

/** What is remembered of one limit. */
export interface RateDebt {
  readonly atMicroseconds: number
  readonly grains: number
}

export const UNTOUCHED: RateDebt = { atMicroseconds: 0, grains: 0 }

const GRAINS_PER_UNIT = 60_000_000
const MICROSECONDS_PER_MS = 1000

/**
 * Decides one request over all its limits, each named once: all or nothing. `share` is the part of every limit that this
 * decider may give away: 1, or 1 ÷ nodes while they cannot see one another.
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
      // A refusal changes nothing, so that stores need not write it.
      const isKept = !allowed && debt.atMicroseconds <= nowMicroseconds
      return isKept ? debt : { atMicroseconds: nowMicroseconds, grains }
    }),
  }
}

/** Takes more or gives back once the true amount is known: beyond the limit if need be, never below nothing. */
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

/** What callers are told, from the grains each limit owes after the decision. */
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

/** When nothing is owed any more, as long as nobody takes. */
export function isUntouched(debt: RateDebt, nowMicroseconds: number, limit: RateLimit, share = 1): boolean {
  return grainsAt(debt, nowMicroseconds, sharePerMinute(limit, share)) === 0
}

/** A clock that was set back pays nothing off, and the debt is stamped anew: nobody waits for the old hour to return. */
function grainsAt(debt: RateDebt, nowMicroseconds: number, perMinute: number): number {
  const elapsed = Math.max(0, nowMicroseconds - debt.atMicroseconds)
  return Math.max(0, debt.grains - elapsed * perMinute)
}

/**
 * Rounded to the nearest unit and never less than one a minute: nodes together are off by at most half a unit each, which is
 * within 10 % from five units a node on.
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
 * What must be paid off before this take fits. One that is larger than the share, though not than the limit, needs the whole
 * share untouched and leaves a debt of several minutes: it could never pass otherwise, and the rate over time stays the same.
 */
function missingGrains({ limit, amount }: RateTake, grains: number, share: number): number {
  const perMinute = sharePerMinute(limit, share)
  return grains + Math.min(amount, perMinute) * GRAINS_PER_UNIT - perMinute * GRAINS_PER_UNIT
}

/** Rounded up to the next whole millisecond, in whole numbers so that the very millisecond is right. */
function msToPayOff(grains: number, perMinute: number): number {
  const grainsPerMs = perMinute * MICROSECONDS_PER_MS
  const wholeMs = Math.floor(grains / grainsPerMs)
  return wholeMs * grainsPerMs < grains ? wholeMs + 1 : wholeMs
}
