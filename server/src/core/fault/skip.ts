/**
 * Why a deployment was not tried for a request that failed: one table for the fault's message, the request log and the
 * console. It is made only for requests that fail.
 */

export const SKIP_REASONS = [
  'unable',
  'unpriced',
  'quarantined',
  'held-back',
  'drained',
  'ejected',
  'limited',
  'full',
  'withdrawn',
  'charged',
  'time',
  'retries',
] as const
export type SkipReason = (typeof SKIP_REASONS)[number]

export interface Skip {
  readonly deployment: string
  readonly reason: SkipReason
}

/** They follow the name of the deployment and a colon. */
export const SKIP_WORDS: Readonly<Record<SkipReason, string>> = {
  unable: "it can't do what this request asks for",
  unpriced: "it has no price and the key's budget is hard",
  quarantined: 'it is quarantined, because its vectors are of another space',
  'held-back': "its vectors have not been compared with the model's space yet",
  drained: 'an operator has drained it',
  ejected: 'it is ejected, because its recent calls failed',
  limited: 'it is at its rate limit',
  full: 'it is at its limit of concurrent calls',
  withdrawn: 'its configuration has just changed',
  charged: 'the failed call may have been charged, and another could be paid twice',
  time: 'no time was left',
  retries: "the request's attempts, or the model's retries, were used up",
}

/** Deployments that a message names: the request log has the others. */
const MAX_NAMED = 3

export function skipWords(skips: readonly Skip[]): string {
  const named = skips
    .slice(0, MAX_NAMED)
    .map(({ deployment, reason }) => `${deployment} was skipped: ${SKIP_WORDS[reason]}.`)
  const more = skips.length - MAX_NAMED
  if (more > 0) named.push(`And ${more} more ${more === 1 ? 'was' : 'were'} skipped.`)
  return named.join(' ')
}
