/** An embeddings request after its admission: what its steps and its calls share. */
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import type { Input } from '#core/embedding/input.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import type { VectorForm } from '#core/embedding/vector.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { faultOfFailure } from '#core/fault/of-failure.ts'
import { endedOf } from '#core/catalog/model-end.ts'
import type { RequestTrace } from '#core/request/request-trace.ts'
import type { Caller } from '../traffic/caller.ts'
import type { CalledWork } from '../traffic/ended-call.ts'
import type { Dispatch } from '../traffic/dispatch.ts'
import type { EmbeddingAdmission } from './admit.ts'
import type { EmbedOutside } from './outside.ts'

/** What all calls of one request share. */
export interface CallContext {
  readonly requestId: string
  readonly project: string
  readonly model: EmbeddingModel
  readonly admission: EmbeddingAdmission
  readonly trace: RequestTrace
  /** A background request: no caller waits, and its calls get the capacity that others leave. */
  readonly isBackground?: boolean | undefined
  readonly batchId?: string | undefined
  /** Undefined for requests of the node itself, which have no client that can leave. */
  readonly caller?: Caller | undefined
  /** On the monotonic clock. */
  readonly deadlineMs: number
  readonly outside: EmbedOutside
  /** Whether the input is large enough that other requests get the event loop between two passes over it. */
  readonly isLarge: boolean
  readonly attemptsMade: () => number
  readonly countAttempt: () => void
}

export interface AdmittedRequest extends CallContext {
  readonly dispatch: Dispatch
  readonly offers: readonly Offer[]
  /** A field that forbids splitting the inputs, if there is one. */
  readonly wholeBecauseOf: string | undefined
  /** Tokens by text, of texts that were counted to split the request. */
  tokenCounts?: Map<string, number> | undefined
  readonly wantedForm: VectorForm
  /** The index of a distinct input in the caller's request, for messages. */
  readonly placeOf: (slot: number) => number
}

const sameIndex = (index: number): number => index

/** The share of one request in a call. */
export interface Share {
  readonly request: CallContext
  readonly inputs: Input
  readonly work: CalledWork
}

/** The error that the caller gets when this error ends its request. `placeOf`: the index in the request of an input of the call. */
export function endOf(
  error: unknown,
  { model, attemptsMade, outside }: Pick<CallContext, 'model' | 'attemptsMade' | 'outside'>,
  placeOf: (index: number) => number = sameIndex,
): unknown {
  if (!(error instanceof UpstreamFailure)) return error
  const { tooLongInput } = error.detail
  if (tooLongInput !== undefined) {
    const param = `input[${placeOf(tooLongInput)}]`
    const options = { param, upstream: error.detail, cause: error }
    return new Fault('input_too_long', `${param} ${error.message}`, options)
  }
  const ended = endedOf(model, error.detail.deployment, outside.clock.nowMs())
  return faultOfFailure(error, model.id, attemptsMade(), ended)
}
