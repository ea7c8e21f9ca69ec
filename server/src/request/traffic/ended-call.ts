import type { UpstreamFailure } from '#core/fault/failure.ts'
import type { CallTrace } from '#core/request/request-trace.ts'
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

/** The work of one call: which part of a request it is, and the last call made for it. */
export interface CalledWork {
  readonly part: number
  attempt: number | undefined
}

/** The fields that each request sharing a call has for itself. */
type OwnShare = Pick<CallTrace, 'attempt' | 'part' | 'inputs' | 'insteadOf' | 'sharedWith' | 'counts'>

/** Tells the observer how a call ended. */
export function recordCall(call: EndedCall, observer: Observer): void {
  const { failure } = call
  observer.callEnded({
    requestId: call.requestId,
    callId: call.callId,
    model: call.model,
    deployment: call.deployment,
    outcome: call.outcome,
    reason: reasonOf(failure),
    code: failure?.detail.code,
    status: failure?.detail.status,
    inputs: call.inputs,
    durationMs: call.endedMs - call.startedMs,
  })
}

/** The line for the trace of one of the requests that the call was made for. */
export function callTraceOf(call: EndedCall, own: OwnShare): CallTrace {
  const { failure } = call
  return {
    attempt: own.attempt,
    callId: call.callId,
    deployment: call.deployment,
    part: own.part,
    inputs: own.inputs,
    startedMs: call.startedMs,
    endedMs: call.endedMs,
    waitedMs: call.waitedMs,
    firstByteMs: call.firstByteMs,
    outcome: call.outcome,
    status: failure?.detail.status,
    reason: reasonOf(failure) ?? failure?.detail.code,
    retryAfterMs: failure?.detail.retryAfterMs,
    upstreamRequestId: call.upstreamRequestId,
    insteadOf: own.insteadOf,
    sharedWith: own.sharedWith,
    counts: own.counts,
  }
}

/** An upstream's words may repeat what the caller sent, so the log gets its code instead. */
function reasonOf(failure: UpstreamFailure | undefined): string | undefined {
  return failure?.isInUpstreamsWords === false ? failure.reason : undefined
}
