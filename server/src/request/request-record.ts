/** Builds the record of a request: the one place that does, so that requests of every kind have one shape in log and metrics. */
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { Fault } from '#core/fault/fault.ts'
import type { RequestTrace } from '#core/request/request-trace.ts'
import type { Key } from '#ports/keys.ts'
import type { RequestRecord } from '#ports/observer.ts'

/** Characters of an error text in the log: longer than any that Torana writes, so that a quoted upstream can't fill the table. */
const MAX_TEXT_CHARACTERS = 600

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

/**
 * Refusals for a limit and failures are about Torana, its stores or an upstream. Every other text, and every text in an upstream's
 * words, may quote what the caller sent, which the log never keeps.
 */
function keptText({ entry: { status }, message, code, cause }: Fault): string | undefined {
  const isOurs = !(cause instanceof UpstreamFailure && cause.isInUpstreamsWords)
  const isAboutUs = status === 429 || status >= 500 || code === 'model_unpriced'
  return isOurs && isAboutUs ? message.slice(0, MAX_TEXT_CHARACTERS) : undefined
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
    faultText: fault && keptText(fault),
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
