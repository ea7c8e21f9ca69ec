/** What the end of a call says about its deployment, and the fault of a caller that gets no turn. */
import { UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import type { CallEnd } from '#core/schedule/deployment.ts'
import type { PickResult, Schedulable } from '#core/schedule/scheduler.ts'

/** Timers sometimes ring a little early. */
export const TIMER_ERROR_MS = 5

export function isTimeOut(error: unknown): boolean {
  return error instanceof UpstreamFailure && error.kind === 'timedOut' && error.detail.status === undefined
}

/** What a call's end tells about its deployment. */
export function callEndOf(error: unknown, durationMs: number): CallEnd {
  if (error === undefined) return { kind: 'ok', durationMs }
  if (!(error instanceof UpstreamFailure)) return { kind: 'abandoned' }
  const { retryAfterMs } = error.detail
  switch (error.kind) {
    case 'refused':
    case 'contentRefused':
      return { kind: 'refused', durationMs }
    case 'rateLimited':
      return { kind: 'limited', retryAfterMs }
    case 'rejectedUs':
      // Otherwise one text that a firewall forbids would make the deployment unavailable to all callers.
      return error.mayBeForbiddenText ? { kind: 'failed', durationMs } : { kind: 'rejectedUs' }
    case 'failed':
      return retryAfterMs === undefined ? { kind: 'failed', durationMs } : { kind: 'limited', retryAfterMs }
    case 'missing':
    case 'unreachable':
    case 'timedOut':
    case 'broken':
      return { kind: 'failed', durationMs }
  }
}

/** Shortest retry time: long enough for a queue to have moved. */
const LEAST_RETRY_MS = 1000

export function busyFault(model: string, expectedMs: number): Fault {
  return new Fault(
    'deployments_busy',
    `All deployments of '${model}' are at their limit of concurrent calls, and the queue for them is too long. Retry.`,
    { retryAfterMs: Math.max(LEAST_RETRY_MS, expectedMs) },
  )
}

export function unavailableFault(
  { why, untilMs }: Extract<PickResult<Schedulable>, { kind: 'none' }>,
  model: string,
  nowMs: number,
): Fault {
  const retryAfterMs = Number.isFinite(untilMs) ? Math.max(LEAST_RETRY_MS, untilMs - nowMs) : undefined
  if (why === 'limited')
    return new Fault(
      'upstream_rate_limited',
      `All deployments of '${model}' are at the rate limit of their upstream; retry in ${Math.ceil((retryAfterMs ?? LEAST_RETRY_MS) / 1000)} s.`,
      { retryAfterMs },
    )
  if (why === 'held-back')
    return new Fault(
      'space_unprobed',
      `Torana has not compared any available deployment of '${model}' with its vector space yet. Retry.`,
      { retryAfterMs: LEAST_RETRY_MS },
    )
  if (why === 'quarantined')
    return new Fault(
      'space_quarantined',
      `No available deployment of '${model}' answers in its vector space. An operator must act.`,
    )
  if (why === 'drained')
    return new Fault(
      'deployments_drained',
      `An operator has drained every deployment of '${model}' that could serve this request.`,
    )
  return new Fault(
    'no_healthy_deployment',
    `All deployments of '${model}' are ejected because their recent calls failed. Torana tries them again soon.`,
    { retryAfterMs },
  )
}
