/** One call to one deployment: its share of the deadline, its id, a record of how it ended. Several requests may share it. */
import type { EmbeddingModel } from '#core/catalog.ts'
import { inputCount, joinInputs, type Input } from '#core/embedding/input.ts'
import type { VectorForm } from '#core/embedding/vector.ts'
import { outOfTime, UpstreamFailure } from '#core/fault/failure.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import type { Limits } from '#core/settings.ts'
import { divideTokens, type Usage } from '#core/usage.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import type { Observer, RequestTrace } from '#ports/observer.ts'
import type { TokenCounter } from '#ports/tokens.ts'
import type { EmbeddingAnswer, EmbeddingUpstream } from '#ports/upstream.ts'
import type { MoneyOutside } from '../money/admission.ts'
import type { BegunEmbedding, EmbeddingAdmission } from './admit.ts'
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

/** One request's part in a call. */
export interface Share {
  readonly request: Attempting
  readonly inputs: Input
}

/** An answer whose usage is known, if only by our own estimate. */
export interface AccountedAnswer extends EmbeddingAnswer {
  readonly usage: KnownUsage
}

type KnownUsage = Exclude<Usage, { readonly kind: 'unknown' }>

/** The answer to each share, in order, with its part of what the call used. */
export async function attempt(
  shares: readonly [Share, ...Share[]],
  offer: Offer,
  wantedForm: VectorForm,
): Promise<readonly AccountedAnswer[]> {
  const [lead] = shares
  const { outside } = lead.request
  const { clock, limits } = outside
  const { deployment } = offer
  const startedMs = clock.monotonicMs()
  let timeoutMs = limits.attemptTimeoutMs
  for (const { request } of shares) timeoutMs = Math.min(timeoutMs, request.deadlineMs - startedMs)
  if (timeoutMs <= 0) throw outOfTime(deployment.id)
  const callId = outside.identifiers.next()
  const calls = await begun(shares, callId, offer)
  for (const { request } of shares) request.countAttempt()
  const inputs = shares.length === 1 ? lead.inputs : joinInputs(shares.map((share) => share.inputs))
  const ended = (outcome: string, failure?: UpstreamFailure): void =>
    record(shares, { callId, offer, outcome, failure, durationMs: clock.monotonicMs() - startedMs })
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
    const usages = await usagesOf(answer.usage, shares)
    for (const [index, { request }] of shares.entries())
      request.admission.served(calls[index] as BegunEmbedding, usages[index] as KnownUsage)
    ended('ok')
    return answersOf(answer, shares, usages)
  } catch (error) {
    const failure = error instanceof UpstreamFailure ? error : undefined
    for (const [index, { request }] of shares.entries())
      request.admission.failed(calls[index] as BegunEmbedding, failure)
    ended(failure?.kind ?? 'fault', failure)
    throw error
  }
}

/** In the books of every request before the call is sent; of all or of none. */
async function begun(
  shares: readonly [Share, ...Share[]],
  callId: string,
  offer: Offer,
): Promise<readonly BegunEmbedding[]> {
  const [lead, ...others] = shares
  if (others.length === 0) return [await lead.request.admission.begin(callId, offer, lead.inputs)]
  const settled = await Promise.allSettled(
    shares.map(({ request, inputs }) => request.admission.begin(callId, offer, inputs)),
  )
  const refusal = settled.find((outcome) => outcome.status === 'rejected')
  if (refusal !== undefined) {
    const unsent = new UpstreamFailure('failed', 'the call was not sent', {
      deployment: offer.deployment.id,
      charge: 'none',
    })
    for (const [index, outcome] of settled.entries())
      if (outcome.status === 'fulfilled') shares[index]?.request.admission.failed(outcome.value, unsent)
    throw refusal.reason
  }
  return settled.map((outcome) => (outcome as PromiseFulfilledResult<BegunEmbedding>).value)
}

/** What the upstream counted, or our estimate, divided so that the parts sum to it exactly. */
async function usagesOf(usage: Usage, shares: readonly [Share, ...Share[]]): Promise<readonly KnownUsage[]> {
  const [lead, ...others] = shares
  if (others.length === 0)
    return usage.kind === 'unknown'
      ? [{ kind: 'estimated', tokens: await estimateTokens(lead.request, lead.inputs) }]
      : [usage]
  const counts = await Promise.all(shares.map(({ request, inputs }) => estimateTokens(request, inputs)))
  if (usage.kind === 'unknown') return counts.map((tokens) => ({ kind: 'estimated', tokens }))
  return divideTokens(usage.tokens, counts).map((tokens) => ({ kind: usage.kind, tokens }))
}

/** Fields beside the vectors are of the whole call: who shared it does not get them. */
function answersOf(
  answer: EmbeddingAnswer,
  shares: readonly Share[],
  usages: readonly KnownUsage[],
): readonly AccountedAnswer[] {
  if (shares.length === 1) return [{ ...answer, usage: usages[0] as KnownUsage }]
  let start = 0
  return shares.map(({ inputs }, index) => {
    const vectors = answer.vectors.slice(start, (start += inputCount(inputs)))
    return { vectors, usage: usages[index] as KnownUsage, extraFields: {} }
  })
}

interface EndedCall {
  readonly callId: string
  readonly offer: Offer
  readonly outcome: string
  readonly failure: UpstreamFailure | undefined
  readonly durationMs: number
}

function record(
  shares: readonly [Share, ...Share[]],
  { callId, offer, outcome, failure, durationMs }: EndedCall,
): void {
  const [{ request }] = shares
  const deployment = offer.deployment.id
  const { status, code } = failure?.detail ?? {}
  for (const share of shares)
    share.request.trace.calls.push({ callId, deployment, outcome, status, durationMs })
  let inputs = 0
  for (const share of shares) inputs += inputCount(share.inputs)
  request.outside.observer.callEnded({
    requestId: request.requestId,
    callId,
    model: request.model.id,
    deployment,
    outcome,
    // An upstream's own words may repeat what the caller sent: the log gets its code instead.
    reason: failure?.isInUpstreamsWords === false ? failure.message : undefined,
    code,
    status,
    inputs,
    durationMs,
  })
}
