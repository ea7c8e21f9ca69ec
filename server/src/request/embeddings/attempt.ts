/**
 * One call to one deployment, for one request or several:
 * its time, its id, its entries in the books, its record.
 */
import type { EmbeddingFacts } from '#core/catalog.ts'
import { inputCount, joinInputs, type Input } from '#core/embedding/input.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { toUnitLength, truncate, valuesOf, type VectorForm } from '#core/embedding/vector.ts'
import { outOfTime, UpstreamFailure, withoutWords } from '#core/fault/failure.ts'
import type { CallTrace } from '#core/request-trace.ts'
import { believedUsage, divideWithin, type Usage } from '#core/usage.ts'
import type { EmbeddingAnswer } from '#ports/upstream.ts'
import { recordCall } from '../traffic/ended-call.ts'
import type { BegunEmbedding } from './admit.ts'
import type { Share } from './admitted-request.ts'
import type { AccountedAnswer, KnownUsage } from './served.ts'
import { estimateTokens } from './tokens.ts'

/** The answer to each share, in order, with its part of what the call used. */
export async function attempt(
  shares: readonly [Share, ...Share[]],
  offer: Offer,
  wantedForm: VectorForm,
  waitedMs = 0,
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
  const ended = (outcome: string, answer: AnsweredCall, failure?: UpstreamFailure): void => {
    const lineFor = recordCall(
      {
        requestId: lead.request.requestId,
        callId,
        model: lead.request.model.id,
        deployment: deployment.id,
        inputs: inputCount(inputs),
        outcome,
        failure,
        startedMs,
        endedMs: clock.monotonicMs(),
        waitedMs,
        firstByteMs: answer.firstByteMs,
        upstreamRequestId: answer.upstreamRequestId,
      },
      outside.observer,
    )
    for (const [index, share] of shares.entries()) {
      const { work } = share
      const { attempt: number } = calls[index] as BegunEmbedding
      share.request.trace.calls.push(
        lineFor({
          attempt: number,
          part: work.part,
          inputs: inputCount(share.inputs),
          insteadOf: work.attempt,
          sharedWith: shares.length - 1,
          counts: countsOf(answer.usages?.[index], offer),
        }),
      )
      work.attempt = number
    }
  }
  try {
    const answer = await outside.upstream.embed({
      callId,
      project: lead.request.project,
      deployment,
      inputs,
      dimensions: offer.dimensions,
      width: offer.upstreamWidth,
      fullWidth: fullWidthOf(offer, lead.request.model.facts),
      inputType: offer.inputType,
      inputTypeField: offer.inputTypeField,
      user: offer.user,
      extraFields: offer.extraFields,
      // A vector that is going to be truncated or scaled is wanted as values.
      wantedForm: offer.width === offer.upstreamWidth && !offer.isScaledHere ? wantedForm : 'float32',
      timeoutMs,
      traceHeaders: lead.request.trace.context?.headersFor(callId),
    })
    const most = calls.reduce((sum, { mostTokens }) => sum + mostTokens, 0)
    const usage = believedUsage(answer.usage, leastTokens(offer, inputs), most)
    const usages = await usagesOf(usage, shares, calls)
    for (const [index, { request }] of shares.entries())
      request.admission.served(calls[index] as BegunEmbedding, usages[index] as KnownUsage)
    ended('ok', { firstByteMs: answer.firstByteMs, upstreamRequestId: answer.upstreamRequestId, usages })
    if (usage !== answer.usage && answer.usage.kind === 'measured') {
      const { tokens } = answer.usage
      const about = {
        requestId: lead.request.requestId,
        callId,
        model: lead.request.model.id,
        deployment: deployment.id,
      }
      if (tokens > most) outside.observer.overcounted({ ...about, excessTokens: tokens - most })
      else outside.observer.undercounted({ ...about, toldTokens: tokens })
    }
    return answersOf(asAskedFor(answer, offer), shares, usages)
  } catch (error) {
    const failure = error instanceof UpstreamFailure ? error : undefined
    for (const [index, { request }] of shares.entries())
      request.admission.failed(calls[index] as BegunEmbedding, failure, whatOf(shares[index] as Share))
    ended(failure?.kind ?? 'fault', NOT_ANSWERED, failure)
    throw failure !== undefined && shares.length > 1 ? withoutWords(failure) : error
  }
}

/** For people who ask the upstream what became of the call. */
function whatOf({ inputs }: Share): string {
  const count = inputCount(inputs)
  return count === 1 ? '1 input' : `${count} inputs`
}

/** What a call's end tells beside its outcome. */
interface AnsweredCall extends Pick<EmbeddingAnswer, 'firstByteMs' | 'upstreamRequestId'> {
  readonly usages?: readonly KnownUsage[]
}

const NOT_ANSWERED: AnsweredCall = {}

function countsOf(usage: KnownUsage | undefined, { deployment: { price } }: Offer): CallTrace['counts'] {
  if (usage === undefined || price.kind !== 'perToken') return NOTHING_COUNTED
  return [{ of: 'tokens', count: usage.tokens, nanoUsd: price.nanoUsdPerMillionTokens, per: 1_000_000 }]
}

const NOTHING_COUNTED: CallTrace['counts'] = []

/** Of a model whose vectors may be cut, where the upstream was asked to do it. */
function fullWidthOf(
  { dimensions, upstreamWidth }: Offer,
  { matryoshka, dimensions: full }: EmbeddingFacts,
): number | undefined {
  return dimensions !== undefined && matryoshka && upstreamWidth < full ? full : undefined
}

/** Here, so that requests and caches that share the vectors all get them at their width and length. */
function asAskedFor(answer: EmbeddingAnswer, { upstreamWidth, isScaledHere }: Offer): EmbeddingAnswer {
  if (!answer.isFullWidth && !isScaledHere) return answer
  const vectors = answer.vectors.map((vector) => {
    const values = valuesOf(vector)
    return {
      form: 'float32' as const,
      values: answer.isFullWidth ? truncate(values, upstreamWidth) : toUnitLength(values),
    }
  })
  return { ...answer, vectors }
}

/** Begins the call in the books of every request before it is sent: in all of them or in none. */
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

/** Where tokens are paid for, each input has at least one. A server that charges nothing may count as it likes. */
function leastTokens({ deployment }: Offer, inputs: Input): number {
  return deployment.price.kind === 'perToken' ? inputCount(inputs) : 0
}

/**
 * What the upstream counted, or our estimate, divided so that the parts sum to it exactly. No part is larger than what was
 * reserved for it.
 */
async function usagesOf(
  usage: Usage,
  shares: readonly [Share, ...Share[]],
  calls: readonly BegunEmbedding[],
): Promise<readonly KnownUsage[]> {
  if (shares.length === 1 && usage.kind !== 'unknown') return [usage]
  const counts = await Promise.all(
    shares.map(async ({ request, inputs }, index) => {
      const estimate = await estimateTokens(request, inputs)
      return Math.min(estimate, calls[index]?.mostTokens ?? estimate)
    }),
  )
  if (usage.kind === 'unknown') return counts.map((tokens) => ({ kind: 'estimated', tokens }))
  const mosts = calls.map(({ mostTokens }) => mostTokens)
  return divideWithin(usage.tokens, counts, mosts).map((tokens) => ({ kind: usage.kind, tokens }))
}

/** Fields beside the vectors belong to the whole call: requests that shared it do not get them. */
function answersOf(
  answer: EmbeddingAnswer,
  shares: readonly Share[],
  usages: readonly KnownUsage[],
): readonly AccountedAnswer[] {
  if (shares.length === 1) return [{ ...answer, usage: usages[0] as KnownUsage }]
  let start = 0
  return shares.map(({ inputs }, index) => {
    const vectors = answer.vectors.slice(start, (start += inputCount(inputs)))
    const { isFullWidth = false } = answer
    return { vectors, isFullWidth, usage: usages[index] as KnownUsage, extraFields: {} }
  })
}
