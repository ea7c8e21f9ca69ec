/** The record of a request, made in one place: requests of callers and lines of batches have one shape in log and metrics. */
import type { Fault } from '#core/fault/fault.ts'
import type { RequestTrace } from '#core/request-trace.ts'
import type { Key } from '#ports/keys.ts'
import type { RequestRecord } from '#ports/observer.ts'

/** While its fields are filled in. */
export type OpenRecord = { -readonly [Field in keyof RequestRecord]: RequestRecord[Field] } & {
  readonly trace: RequestTrace
}

/** What is known of every request. */
export interface RecordedRequest extends Pick<RequestRecord, 'requestId' | 'route' | 'clientRequestId'> {
  readonly trace: RequestTrace
  /** Of the answer that was written. A fault has its own. */
  readonly status: number
  readonly fault: Fault | undefined
  /** Undefined: nobody knows who asked. */
  readonly key: Pick<Key, 'id' | 'name' | 'project'> | undefined
}

/** All fields are there from the beginning, so that records of every kind have one shape. */
export function recordOf({
  requestId,
  route,
  clientRequestId,
  trace,
  status,
  fault,
  key,
}: RecordedRequest): OpenRecord {
  return {
    requestId,
    route,
    status: fault === undefined ? status : fault.entry.status,
    fault: fault?.code,
    cause: fault?.cause,
    clientRequestId,
    clientAddress: undefined,
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
    durationMs: 0,
  }
}
