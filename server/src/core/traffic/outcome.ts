/** How a request ended, in the one word that people see. */
export const OUTCOMES = ['answered', 'refused', 'limited', 'failed', 'unknown'] as const
export type Outcome = (typeof OUTCOMES)[number]

/**
 * `refused`: the caller's own fault. `limited`: by a limit or budget of Torana. `failed`: ours or an upstream's fault, to
 * which its rate limits belong. `unknown`: it may have been paid, and nobody can tell.
 */
export function outcomeOf(status: number, fault: string | undefined): Outcome {
  if (status < 400) return 'answered'
  if (status === 424) return 'unknown'
  if (status === 429) return fault === 'upstream_rate_limited' ? 'failed' : 'limited'
  return status < 500 ? 'refused' : 'failed'
}
