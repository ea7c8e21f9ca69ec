/** What a request takes from the rate limits of its key and project before it runs. */
import { Fault } from '#core/fault/fault.ts'
import type { RateDecision, RateState, RateTake } from '#core/limits/limit.ts'
import type { Key } from '#ports/keys.ts'
import type { RateLimiter } from '#ports/limiter.ts'

export interface RateTerms {
  readonly key: Key
  /** A first guess; the true count corrects it. */
  readonly tokens: number
  readonly images: number
  /** The count of the request itself, if it was taken before the body was read. */
  readonly counted?: TakenRates | undefined
}

export interface TakenRates {
  readonly takes: readonly RateTake[]
  readonly states: readonly RateState[]
}

export const NOTHING_TAKEN: TakenRates = { takes: [], states: [] }

/**
 * Counts the request itself while only its key is known, so that the body of a caller over its limit is not
 * read. It counts from then on, whatever happens to it. Undefined when no limit counts requests.
 */
export function countRequest({ limits }: Key, limiter: RateLimiter): Promise<TakenRates> | undefined {
  const takes = limits.filter(({ unit }) => unit === 'requests').map((limit) => ({ limit, amount: 1 }))
  if (takes.length === 0) return undefined
  return Promise.resolve(limiter.take(takes)).then((decision) => takenBy(decision, takes))
}

/** Takes the request's amounts from the rate limits of its key. */
export async function takeRates(terms: RateTerms, limiter: RateLimiter): Promise<TakenRates> {
  const { key, tokens, images, counted = NOTHING_TAKEN } = terms
  const amounts = { requests: counted === NOTHING_TAKEN ? 1 : 0, tokens, images }
  const takes: RateTake[] = []
  for (const limit of key.limits) {
    const amount = amounts[limit.unit]
    if (amount > 0) takes.push({ limit, amount })
  }
  if (takes.length === 0) return counted
  return takenBy(await limiter.take(takes), takes, counted)
}

interface Used {
  readonly tokens: number
  readonly images: number
}

/** Corrects what was taken at the start by the usage at the end of the request. */
export function correctRates(takes: readonly RateTake[], used: Used, limiter: RateLimiter): void {
  for (const { limit, amount } of takes) {
    const difference = limit.unit === 'requests' ? 0 : used[limit.unit] - amount
    if (difference !== 0) limiter.correct(limit, difference)
  }
}

/** Takes the usage of a call that ended after its request, whose rates were corrected without it. */
export function takeLate(takes: readonly RateTake[], used: Used, limiter: RateLimiter): void {
  for (const { limit } of takes)
    if (limit.unit !== 'requests' && used[limit.unit] > 0) limiter.correct(limit, used[limit.unit])
}

function takenBy(
  { allowed, states }: RateDecision,
  takes: readonly RateTake[],
  before: TakenRates = NOTHING_TAKEN,
): TakenRates {
  const all = before === NOTHING_TAKEN ? states : [...before.states, ...states]
  if (!allowed) throw rateFault(states, takes, all)
  return { takes: before === NOTHING_TAKEN ? takes : [...before.takes, ...takes], states: all }
}

function rateFault(
  states: readonly RateState[],
  takes: readonly RateTake[],
  rates: readonly RateState[],
): Fault {
  const refusals = states.filter(({ retryAfterMs }) => retryAfterMs !== 0)
  const never = refusals.find(({ retryAfterMs }) => retryAfterMs === undefined)
  const worst = never ?? refusals.toSorted((a, b) => (b.retryAfterMs ?? 0) - (a.retryAfterMs ?? 0))[0]
  const { limit, remaining, retryAfterMs } = worst as RateState
  const wanted = takes.find((take) => take.limit.id === limit.id)?.amount ?? 0
  const [owner = '', name = ''] = limit.id.split(':')
  const which = `The rate limit of ${owner} '${name}' (${limit.perMinute} ${limit.perMinute === 1 ? limit.unit.slice(0, -1) : limit.unit} per minute)`
  if (retryAfterMs === undefined) {
    return new Fault(
      'request_exceeds_rate_limit',
      `${which} is too low for this request, which needs ${wanted}. Send a smaller request.`,
      { rates },
    )
  }
  return new Fault(
    'rate_limit_exceeded',
    `${which} has ${remaining} left; this request needs ${wanted}. Retry in ${(retryAfterMs / 1000).toFixed(1)} s.`,
    { retryAfterMs, rates },
  )
}
