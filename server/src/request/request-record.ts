/** Builds the record of a request: the one place that does, so that requests of every kind have one shape in log and metrics. */
import type { Fault } from '#core/fault/fault.ts'
import { loggedCause, loggedText } from '#core/fault/logged.ts'
import type { RequestTrace } from '#core/request/request-trace.ts'
import type { Key } from '#ports/keys.ts'
import type { RequestRecord } from '#ports/observer.ts'

/** A record whose fields are still being filled in. */
export type OpenRecord<Trace extends RequestTrace | undefined = RequestTrace> = {
  -readonly [Field in keyof RequestRecord]: RequestRecord[Field]
} & { readonly trace: Trace }

/** The facts known of every request. */
export interface RecordedRequest<Trace> extends Pick<
  RequestRecord,
  'requestId' | 'route' | 'clientRequestId' | 'clientAddress'
> {
  readonly trace: Trace
  /** The status of the written answer. A fault has its own. */
  readonly status?: number
  readonly fault?: Fault | undefined
  /** Undefined when the caller is unknown. */
  readonly key?: Pick<Key, 'id' | 'name' | 'project'> | undefined
  readonly durationMs?: number
}

/** All fields are set from the beginning, so that records of every kind have one shape. */
export function recordOf<Trace extends RequestTrace | undefined>({
  requestId,
  route,
  clientRequestId,
  clientAddress,
  trace,
  status = 200,
  fault,
  key,
  durationMs = 0,
}: RecordedRequest<Trace>): OpenRecord<Trace> {
  return {
    requestId,
    route,
    status: fault === undefined ? status : fault.entry.status,
    fault: fault?.code,
    faultText: fault && loggedText(fault),
    faultCause: fault && loggedCause(fault.cause),
    skips: fault?.skips,
    cause: fault?.cause,
    clientRequestId,
    clientAddress,
    project: key?.project,
    key: key?.name,
    keyId: key?.id,
    model: undefined,
    deployment: fault?.upstream?.deployment,
    attempts: undefined,
    inputs: undefined,
    cache: undefined,
    promptTokens: undefined,
    extraImages: undefined,
    amountNanoUsd: undefined,
    trace,
    user: undefined,
    tags: undefined,
    durationMs,
  }
}
