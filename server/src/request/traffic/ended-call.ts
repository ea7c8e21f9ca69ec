import type { UpstreamFailure } from '#core/fault/failure.ts'
import type { CallTrace } from '#core/request-trace.ts'
import type { Observer } from '#ports/observer.ts'

/** How one call ended. */
export interface EndedCall {
  readonly requestId: string
  readonly callId: string
  readonly model: string
  readonly deployment: string
  readonly inputs: number
  /** `ok`, or the kind of failure. */
  readonly outcome: string
  readonly failure: UpstreamFailure | undefined
  /** On the monotonic clock. */
  readonly startedMs: number
  readonly endedMs: number
  readonly waitedMs: number
  readonly firstByteMs: number | undefined
  readonly upstreamRequestId: string | undefined
}

/** Some work of a request that one call is to do: which part of it that is, and the last call that was made for it. */
export interface CalledWork {
  readonly part: number
  attempt: number | undefined
}

/** What the requests that share a call have each of their own. */
type OwnShare = Pick<CallTrace, 'attempt' | 'part' | 'inputs' | 'insteadOf' | 'sharedWith' | 'counts'>

/**
 * Tells the observer how a call ended. Returns what makes the line for the trace of each request that the call was made
 * for.
 */
export function recordCall(call: EndedCall, observer: Observer): (own: OwnShare) => CallTrace {
  const { callId, deployment, outcome, failure, startedMs, endedMs, waitedMs, firstByteMs } = call
  const { status, code, retryAfterMs, upstreamRequestId = call.upstreamRequestId } = failure?.detail ?? {}
  // An upstream's own words may repeat what the caller sent: the log gets its code instead.
  const reason = failure?.isInUpstreamsWords === false ? failure.message : undefined
  observer.callEnded({
    requestId: call.requestId,
    callId,
    model: call.model,
    deployment,
    outcome,
    reason,
    code,
    status,
    inputs: call.inputs,
    durationMs: endedMs - startedMs,
  })
  return ({ attempt, part, inputs, insteadOf, sharedWith, counts }) => ({
    attempt,
    callId,
    deployment,
    part,
    inputs,
    startedMs,
    endedMs,
    waitedMs,
    firstByteMs,
    outcome,
    status,
    reason: reason ?? code,
    retryAfterMs,
    upstreamRequestId,
    insteadOf,
    sharedWith,
    counts,
  })
}
