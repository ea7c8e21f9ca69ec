/** Whether the work of a failed call is tried again, and where: one rule for single, shared and image calls. */
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { Schedulable } from '#core/schedule/scheduler.ts'

/** Work, and what has been tried for it. */
export interface TriedWork<Offer> {
  /** The deployments that may still serve it. */
  readonly offers: readonly Offer[]
  /** Failed calls for it. */
  readonly tries: number
}

export interface RetryRules {
  readonly maxAttempts: number
  /** What may have been charged is not bought again, and no deployment is asked twice. */
  readonly buysOnce: boolean
}

/** Whether another deployment may do better. */
export function mayTryAnother(error: unknown): error is UpstreamFailure {
  return error instanceof UpstreamFailure && error.mayTryAnother
}

/** Where the work of a failed call may be tried next. Empty when nowhere. */
export function offersAfter<Offer extends Schedulable>(
  error: unknown,
  failed: Offer,
  { offers, tries }: TriedWork<Offer>,
  { maxAttempts, buysOnce }: RetryRules,
): readonly Offer[] {
  if (!mayTryAnother(error) || tries + 1 >= maxAttempts) return []
  if (buysOnce && error.mayBeCharged) return []
  const others = offers.filter(({ deployment }) => deployment.id !== failed.deployment.id)
  if (buysOnce || others.length > 0) return others
  // A connection that is cut before any answer was often an idle one that the upstream closed. It is worth
  // one more try where there is no other deployment.
  return error.kind === 'unreachable' && tries === 0 ? offers : []
}
