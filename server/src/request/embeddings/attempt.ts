/** One call to one deployment, for one or several requests: its timeout, its id, its ledger entries and its record. */
import type { EmbeddingFacts } from '#core/catalog/catalog.ts'
import { chargedUse } from '#core/embedding/content-use.ts'
import { inputCount, joinInputs, type Input } from '#core/embedding/input.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { numbersOf } from '#core/catalog/vector-type.ts'
import { toUnitLength, truncate, valuesOf, type VectorForm } from '#core/embedding/vector.ts'
import { outOfTime, UpstreamFailure, withoutWords } from '#core/fault/failure.ts'
import { usedKinds, type PartUse } from '#core/money/part-use.ts'
import type { PartRates } from '#core/money/price.ts'
import type { CallTrace } from '#core/request/request-trace.ts'
import {
  chargedUsage,
  divideTokens,
  divideWithin,
  MAX_TIMES_EXPECTED,
  type Usage,
} from '#core/money/usage.ts'
import type { EmbeddingAnswer } from '#ports/upstream.ts'
import { callTraceOf, recordCall, type EndedCall } from '../traffic/ended-call.ts'
import type { BegunEmbedding } from './admit.ts'
import type { Share } from './admitted-request.ts'
import type { AccountedAnswer, KnownUsage } from './served.ts'
import { estimateTokens } from './tokens.ts'

/** The answer to each share, in order, with its share of the call's usage. */
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
  let timeoutMs = lead.request.model.attemptTimeoutMs ?? limits.attemptTimeoutMs
  for (const { request } of shares) timeoutMs = Math.min(timeoutMs, request.deadlineMs - startedMs)
  if (timeoutMs <= 0) throw outOfTime(deployment.id)
  const callId = outside.identifiers.next()
  const beginning = begun(shares, callId, offer)
  const calls = beginning instanceof Promise ? await beginning : beginning
  for (const { request } of shares) request.countAttempt()
  const inputs = shares.length === 1 ? lead.inputs : joinInputs(shares.map((share) => share.inputs))
  const ended = (outcome: string, answer: AnsweredCall, failure?: UpstreamFailure): void => {
    // An upstream may repeat what it was sent, in its codes and ids too.
    const isOfOne = areOfOneProject(shares)
    const call: EndedCall = {
      requestId: lead.request.requestId,
      callId,
      model: lead.request.model.id,
      deployment: deployment.id,
      inputs: inputCount(inputs),
      outcome,
      failure: failure && !isOfOne ? withoutWords(failure) : failure,
      startedMs,
      endedMs: clock.monotonicMs(),
      waitedMs,
      firstByteMs: answer.firstByteMs,
      upstreamRequestId: isOfOne
        ? (failure?.detail.upstreamRequestId ?? answer.upstreamRequestId)
        : undefined,
    }
    recordCall(call, outside.observer)
    for (let index = 0; index < shares.length; index += 1) {
      const { request, inputs: own, work } = shares[index] as Share
      const { attempt: number } = calls[index] as BegunEmbedding
      request.trace.calls.push(
        callTraceOf(call, {
          attempt: number,
          part: work.part,
          inputs: inputCount(own),
          insteadOf: work.attempt,
          sharedWith: shares.length - 1,
          counts: countsOf(answer.usages?.[index], offer, (calls[index] as BegunEmbedding).likelyUse),
        }),
      )
      work.attempt = number
    }
  }
  let answers: readonly AccountedAnswer[]
  try {
    const answer = await outside.upstream.embed({
      callId,
      project: lead.request.project,
      deployment,
      inputs,
      dimensions: offer.dimensions,
      width: offer.nativeType ? numbersOf(offer.nativeType, offer.upstreamWidth) : offer.upstreamWidth,
      outputType: offer.nativeType,
      fullWidth: fullWidthOf(offer, lead.request.model.facts),
      inputType: offer.inputType,
      inputTypeField: offer.inputTypeField,
      user: offer.user,
      extraFields: offer.extraFields,
      // Vectors that are truncated or scaled here are requested as values.
      wantedForm: offer.width === offer.upstreamWidth && !offer.isScaledHere ? wantedForm : 'float32',
      timeoutMs,
      traceHeaders: lead.request.trace.context?.headersFor(callId),
    })
    let most = 0
    for (const { mostTokens } of calls) most += mostTokens
    const usage = chargedUsage(answer.usage, leastTokens(offer, inputs), most)
    // Immediate in the common case, where there is nothing to divide and nothing to estimate.
    const usages =
      shares.length === 1 && usage.kind !== 'unknown' ? [usage] : await dividedUsages(usage, shares, calls)
    for (let index = 0; index < shares.length; index += 1)
      shares[index]?.request.admission.served(calls[index] as BegunEmbedding, usages[index] as KnownUsage)
    ended('ok', { firstByteMs: answer.firstByteMs, upstreamRequestId: answer.upstreamRequestId, usages })
    if (answer.usage.kind === 'measured' && (usage !== answer.usage || answer.usage.tokens > most))
      reportCount(lead.request, { callId, deployment: deployment.id }, answer.usage.tokens, usage, most)
    answers = answersOf(asAskedFor(answer, offer), shares, usages)
  } catch (error) {
    const failure = error instanceof UpstreamFailure ? error : undefined
    for (const [index, { request }] of shares.entries())
      request.admission.failed(calls[index] as BegunEmbedding, failure, whatOf(shares[index] as Share))
    ended(failure?.kind ?? 'fault', NOT_ANSWERED, failure)
    throw failure !== undefined && shares.length > 1 ? withoutWords(failure) : error
  }
  if (!isOutside(lead.request, offer, inputs, answers)) return answers
  for (const { request, work } of shares) request.admission.discarded(work.attempt ?? 0)
  // The call is paid for and recorded. Another deployment may answer within the space.
  throw new UpstreamFailure('broken', 'vectors of another space', {
    deployment: deployment.id,
    charge: 'none',
    leftSpace: true,
  })
}

/** Whether a probe has shown since the call began that nothing of the deployment may be sent. Notes the size of the call. */
function isOutside(
  { model, outside: { guard } }: Share['request'],
  { deployment }: Offer,
  inputs: Input,
  answers: readonly AccountedAnswer[],
): boolean {
  if (guard === undefined) return false
  let tokens = 0
  for (const { usage } of answers) tokens += usage.tokens
  guard.noteCall(model, deployment, inputs.kind === 'contents' ? 0 : inputCount(inputs), tokens)
  return guard.isOutside(model, deployment)
}

/** The upstream counted more than Torana expects, or too little to be a count. */
function reportCount(
  { requestId, model, outside: { observer } }: Share['request'],
  call: { readonly callId: string; readonly deployment: string },
  tokens: number,
  usage: Usage,
  most: number,
): void {
  const about = { requestId, model: model.id, ...call }
  const cutTokens = usage.kind === 'estimated' ? tokens - usage.tokens : 0
  if (tokens > most) observer.overcounted({ ...about, excessTokens: tokens - most, cutTokens })
  else observer.undercounted({ ...about, reportedTokens: tokens })
}

/** Whether a call is of one project alone. */
function areOfOneProject([lead, ...others]: readonly Share[]): boolean {
  return others.every(({ request }) => request.project === lead?.request.project)
}

/** Text for people who ask the upstream about the call. */
function whatOf({ inputs }: Share): string {
  const count = inputCount(inputs)
  return count === 1 ? '1 input' : `${count} inputs`
}

/** What the end of a call adds to its outcome. */
interface AnsweredCall extends Pick<EmbeddingAnswer, 'firstByteMs' | 'upstreamRequestId'> {
  readonly usages?: readonly KnownUsage[]
}

const NOT_ANSWERED: AnsweredCall = {}

/** A line for each kind of part. */
function partCounts(rates: PartRates, use: PartUse | undefined, { tokens }: KnownUsage): CallTrace['counts'] {
  return usedKinds(use ?? { text: { tokens, count: undefined } }).flatMap(([kind, used]) => {
    const rate = rates[kind]
    const count = rate?.by === 'tokens' ? used.tokens : used.count
    if (rate === undefined || count === undefined) return []
    return [
      {
        of: rate.by === 'tokens' ? `${kind}_input` : COUNTED[kind],
        count,
        nanoUsd: rate.nanoUsdPerMillion,
        per: 1_000_000,
      },
    ]
  })
}

const COUNTED = {
  text: 'characters',
  image: 'given_images',
  audio: 'audio_seconds',
  video: 'video_seconds',
  file: 'pages',
} as const

function countsOf(
  usage: KnownUsage | undefined,
  { deployment: { price } }: Offer,
  likelyUse: PartUse | undefined,
): CallTrace['counts'] {
  if (usage === undefined) return NOTHING_COUNTED
  if (price.kind === 'perPart')
    return partCounts(price.rates, likelyUse && chargedUse(usage, likelyUse), usage)
  if (price.kind !== 'perToken') return NOTHING_COUNTED
  return [{ of: 'tokens', count: usage.tokens, nanoUsd: price.nanoUsdPerMillionTokens, per: 1_000_000 }]
}

const NOTHING_COUNTED: CallTrace['counts'] = []

/** The full width of a model with adjustable dimensions, where the upstream was asked to reduce it. */
function fullWidthOf(
  { dimensions, upstreamWidth, nativeType }: Offer,
  { matryoshka, dimensions: full }: EmbeddingFacts,
): number | undefined {
  if (nativeType !== undefined) return undefined
  return dimensions !== undefined && matryoshka && upstreamWidth < full ? full : undefined
}

/** Done here, so that requests and caches that share the vectors get them at their width and length. */
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

/**
 * Writes the call into the ledger of every request before it is sent: for all of them or for none. Immediate
 * where possible.
 */
function begun(
  shares: readonly [Share, ...Share[]],
  callId: string,
  offer: Offer,
): readonly BegunEmbedding[] | Promise<readonly BegunEmbedding[]> {
  if (shares.length > 1) return begunTogether(shares, callId, offer)
  const [{ request, inputs }] = shares
  const call = request.admission.begin(callId, offer, inputs)
  return call instanceof Promise ? call.then((one) => [one]) : [call]
}

async function begunTogether(
  shares: readonly Share[],
  callId: string,
  offer: Offer,
): Promise<readonly BegunEmbedding[]> {
  const settled = await Promise.allSettled(
    shares.map(async ({ request, inputs }) => request.admission.begin(callId, offer, inputs)),
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

/** Where tokens are charged, each input has at least one. The count of a free server is not checked. */
function leastTokens({ deployment }: Offer, inputs: Input): number {
  const { kind } = deployment.price
  return kind === 'perToken' || (kind === 'perPart' && inputs.kind !== 'contents') ? inputCount(inputs) : 0
}

/**
 * What the upstream counted, or our estimate, divided so that the shares add up to it exactly. No share
 * exceeds what can be charged for it.
 */
async function dividedUsages(
  usage: Usage,
  shares: readonly Share[],
  calls: readonly BegunEmbedding[],
): Promise<readonly KnownUsage[]> {
  const counts = await Promise.all(
    shares.map(async ({ request, inputs }, index) => {
      const estimate = await estimateTokens(request, inputs)
      return Math.min(estimate, calls[index]?.mostTokens ?? estimate)
    }),
  )
  if (usage.kind === 'unknown') return counts.map((tokens) => ({ kind: 'estimated', tokens }))
  const expected = calls.map(({ mostTokens }) => mostTokens)
  const isAsExpected = usage.tokens <= expected.reduce((sum, most) => sum + most, 0)
  const mosts = isAsExpected ? expected : expected.map((most) => most * MAX_TIMES_EXPECTED)
  const parts = divideWithin(usage.tokens, counts, mosts)
  if (usage.kind === 'measured') return parts.map((tokens) => ({ kind: 'measured', tokens }))
  const { reportedTokens } = usage
  const reported = reportedTokens === undefined ? [] : divideTokens(reportedTokens, counts)
  return parts.map((tokens, index) => ({ kind: 'estimated', tokens, reportedTokens: reported[index] }))
}

/** Nearly always the upstream has counted and nothing is replaced. */
function isAccounted(answer: EmbeddingAnswer, usage: KnownUsage): answer is AccountedAnswer {
  return answer.usage === usage
}

/** Fields beside the vectors belong to the whole call, so requests that shared it do not get them. */
function answersOf(
  answer: EmbeddingAnswer,
  shares: readonly Share[],
  usages: readonly KnownUsage[],
): readonly AccountedAnswer[] {
  if (shares.length === 1) {
    const [usage] = usages as readonly [KnownUsage]
    return [isAccounted(answer, usage) ? answer : { ...answer, usage }]
  }
  let start = 0
  return shares.map(({ inputs }, index) => {
    const vectors = answer.vectors.slice(start, (start += inputCount(inputs)))
    const { isFullWidth = false } = answer
    return { vectors, isFullWidth, usage: usages[index] as KnownUsage, extraFields: {} }
  })
}
