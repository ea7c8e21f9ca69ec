/** Counts a request against the rate limit before, or without, its admission. */
import type { Fault } from '#core/fault/fault.ts'
import type { Key } from '#ports/keys.ts'
import type { RateLimiter } from '#ports/limiter.ts'
import type { RequestTrace } from '#core/request/request-trace.ts'
import { countRequest, type TakenRates } from '#request/money/rates.ts'
import { toFault } from '../../faults.ts'

interface CountedRequest {
  counted: TakenRates | undefined
  readonly mayJoin: boolean
  readonly trace: RequestTrace
}

/** Counts each request once. Undefined if there is nothing to count, or not yet. */
export function countFirst(
  request: CountedRequest,
  key: Key,
  limiter: RateLimiter,
): Promise<void> | undefined {
  if (request.mayJoin || request.counted !== undefined) return undefined
  return countRequest(key, limiter)?.then((counted) => {
    request.counted = counted
  })
}

/**
 * A request that was refused before its admission counts too: otherwise a caller over its limit could ask for refusals without end.
 * Returns the fault for the caller: the same, or that the limit is used up.
 */
export async function countRefused(
  fault: Fault,
  request: CountedRequest,
  key: Key,
  limiter: RateLimiter,
): Promise<Fault> {
  const { status } = fault.entry
  const isRefusal = status >= 400 && status < 500 && status !== 429
  // Its admission has counted it.
  if (!isRefusal || request.trace.admittedMs !== undefined) return fault
  try {
    await countFirst(request, key, limiter)
    return fault
  } catch (error) {
    return toFault(error)
  }
}
