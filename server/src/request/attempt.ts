/** One call to one deployment: its share of the deadline, its id, and a record of how it ended. */
import type { EmbeddingModel } from '#core/catalog.ts'
import { inputCount, type Input } from '#core/embedding/input.ts'
import type { VectorForm } from '#core/embedding/vector.ts'
import { UpstreamFailure } from '#core/failure.ts'
import type { Offer } from '#core/negotiate.ts'
import type { Limits } from '#core/settings.ts'
import type { Usage } from '#core/usage.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import type { Observer, RequestTrace } from '#ports/observer.ts'
import type { TokenCounter } from '#ports/tokens.ts'
import type { EmbeddingAnswer, EmbeddingUpstream } from '#ports/upstream.ts'
import type { MoneyOutside } from './admission.ts'
import type { EmbeddingAdmission } from './admit.ts'
import { estimateTokens } from './usage.ts'

/** What the journey needs from outside. */
export interface Outside extends MoneyOutside {
  readonly upstream: EmbeddingUpstream
  readonly tokens: TokenCounter
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly observer: Observer
  readonly limits: Limits
  /** Lets other requests have the event loop: a large request takes it in steps. */
  readonly nextTurn: () => Promise<unknown>
}

/** What every attempt of one request shares. */
export interface Attempting {
  readonly requestId: string
  readonly model: EmbeddingModel
  readonly admission: EmbeddingAdmission
  readonly trace: RequestTrace
  /** On the monotonic clock. */
  readonly deadlineMs: number
  readonly outside: Outside
  /** So much input that each step over it is worth a turn of the event loop of its own. */
  readonly isLarge: boolean
  readonly attemptsMade: () => number
  readonly countAttempt: () => void
}

/** An answer whose usage is known, if only by our own estimate. */
export interface AccountedAnswer extends EmbeddingAnswer {
  readonly usage: KnownUsage
}

type KnownUsage = Exclude<Usage, { readonly kind: 'unknown' }>

export async function attempt(
  shared: Attempting,
  offer: Offer,
  inputs: Input,
  wantedForm: VectorForm,
): Promise<AccountedAnswer> {
  const { deadlineMs, model, outside, requestId } = shared
  const { clock, limits } = outside
  const { deployment } = offer
  const startedMs = clock.monotonicMs()
  const timeoutMs = Math.min(limits.attemptTimeoutMs, deadlineMs - startedMs)
  if (timeoutMs <= 0) {
    throw new UpstreamFailure('timedOut', 'the time of the whole request had run out', {
      deployment: deployment.id,
    })
  }
  const callId = outside.identifiers.next()
  const call = await shared.admission.begin(callId, offer, inputs)
  shared.countAttempt()

  const ended = (outcome: string, failure?: UpstreamFailure): void => {
    const durationMs = clock.monotonicMs() - startedMs
    shared.trace.calls.push({
      callId,
      deployment: deployment.id,
      outcome,
      status: failure?.detail.status,
      durationMs,
    })
    outside.observer.callEnded({
      requestId,
      callId,
      model: model.id,
      deployment: deployment.id,
      outcome,
      // An upstream's own words may repeat what the caller sent: the log gets its code instead.
      reason: failure && !isInUpstreamsWords(failure) ? failure.message : undefined,
      code: failure?.detail.code,
      status: failure?.detail.status,
      inputs: inputCount(inputs),
      durationMs,
    })
  }
  try {
    const answer = await outside.upstream.embed({
      callId,
      deployment,
      inputs,
      dimensions: offer.dimensions,
      width: offer.upstreamWidth,
      inputType: offer.inputType,
      inputTypeField: offer.inputTypeField,
      user: offer.user,
      extraFields: offer.extraFields,
      // A vector that is going to be truncated is wanted as values.
      wantedForm: offer.width === offer.upstreamWidth ? wantedForm : 'float32',
      timeoutMs,
    })
    const usage: KnownUsage =
      answer.usage.kind === 'unknown'
        ? { kind: 'estimated', tokens: await estimateTokens(shared, inputs) }
        : answer.usage
    shared.admission.served(call, usage)
    ended('ok')
    return { ...answer, usage }
  } catch (error) {
    const failure = error instanceof UpstreamFailure ? error : undefined
    shared.admission.failed(call, failure)
    ended(failure?.kind ?? 'fault', failure)
    throw error
  }
}

function isInUpstreamsWords({ kind, detail }: UpstreamFailure): boolean {
  return kind !== 'broken' && detail.status !== undefined
}
