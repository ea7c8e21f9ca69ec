/** How a request ended, in the one word that people see. */
export const OUTCOMES = ['answered', 'refused', 'limited', 'failed', 'unknown'] as const
/**
 * How a request ended for its caller. `refused`: the caller's fault. `limited`: by a limit or a budget of Torana's.
 * `failed`: by Torana or an upstream. `unknown`: it may have been paid.
 */
export type Outcome = (typeof OUTCOMES)[number]

export function outcomeOf(status: number, fault: string | undefined): Outcome {
  if (status < 400) return 'answered'
  if (status === 424) return 'unknown'
  if (status >= 500 || fault === 'upstream_rate_limited') return 'failed'
  return status === 429 ? 'limited' : 'refused'
}
