import type { UpstreamFailure } from '#core/fault/failure.ts'
import type { CallTrace, Observer } from '#ports/observer.ts'

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
  readonly durationMs: number
}

/**
 * Tells the observer how a call ended. Returns the line for
 * the trace of each request that the call was made for.
 */
export function recordCall(
  { requestId, callId, model, deployment, inputs, outcome, failure, durationMs }: EndedCall,
  observer: Observer,
): CallTrace {
  const { status, code } = failure?.detail ?? {}
  observer.callEnded({
    requestId,
    callId,
    model,
    deployment,
    outcome,
    // An upstream's own words may repeat what the caller sent: the log gets its code instead.
    reason: failure?.isInUpstreamsWords === false ? failure.message : undefined,
    code,
    status,
    inputs,
    durationMs,
  })
  return { callId, deployment, outcome, status, durationMs }
}
