/**
 * One embeddings request, step by step: find the model, negotiate what each deployment can do, check the inputs, gather the
 * vectors, account for them. Authentication and parsing come before, encoding after: they belong to the listener.
 */
import type { Catalog, EmbeddingModel } from '#core/catalog.ts'
import type { EmbeddingRequest } from '#core/embedding/request.ts'
import { inputCount, inputSize } from '#core/embedding/input.ts'
import { spaceOf } from '#core/embedding/space.ts'
import type { Vector } from '#core/embedding/vector.ts'
import { Fault } from '#core/fault.ts'
import type { RateState } from '#core/limit.ts'
import { mustStayWhole, negotiate, type Negotiated, type Offer } from '#core/negotiate.ts'
import { costText, maxCostOf } from '#core/price.ts'
import { orderOffers } from '#core/schedule/order.ts'
import type { Key } from '#ports/keys.ts'
import type { RequestTrace } from '#ports/observer.ts'
import { admit } from './admit.ts'
import type { Outside } from './attempt.ts'
import { findEmbeddingModel } from './find-model.ts'
import { gather } from './gather.ts'
import { hasHardBudget, refuseUnknownFields } from './hard-budget.ts'
import { checkLengths } from './inputs.ts'
import { usageOf, type RequestUsage } from './usage.ts'

export interface EmbedDependencies extends Outside {
  /** The catalog of this moment. */
  readonly catalog: () => Catalog
  readonly random: () => number
}

/** What the caller said beside the body. */
export interface EmbedOptions {
  readonly requestId: string
  readonly key: Key
  readonly unsupported: 'refuse' | 'drop' | undefined
  readonly pinnedSpace: string | undefined
  readonly dryRun: boolean
  /** The caller's own time-out, when its SDK told us. */
  readonly callerTimeoutMs: number | undefined
  /** Filled in on the way, also of a request that fails. */
  readonly trace: RequestTrace
}

export interface Embedded {
  readonly kind: 'embedded'
  readonly model: EmbeddingModel
  readonly vectors: readonly Vector[]
  readonly usage: RequestUsage
  /** Where the caller's rate limits stand. */
  readonly rates: readonly RateState[]
  readonly space: string
  readonly width: number
  readonly attempts: number
  /** Ids of the deployments that served it. */
  readonly deployments: readonly string[]
  readonly emulated: readonly string[]
  readonly dropped: readonly string[]
  /** Extra top-level fields of the upstream's answer; kept only when one call served the request. */
  readonly extraFields: Readonly<Record<string, unknown>>
}

/** The answer to `x-torana-dry-run`: what would happen, without a call. */
export interface DryRun {
  readonly kind: 'dry-run'
  readonly model: EmbeddingModel
  readonly space: string
  readonly deployments: readonly {
    id: string
    native: boolean
    emulated: readonly string[]
    maxCostUsd: string
  }[]
  readonly dropped: readonly string[]
  /** No more tokens than this can be charged. */
  readonly maxTokens: number
}

/** Characters or token ids over which one pass takes a millisecond or more. */
const LARGE_INPUT = 512 * 1024

export async function embed(
  request: EmbeddingRequest,
  options: EmbedOptions,
  dependencies: EmbedDependencies,
): Promise<Embedded | DryRun> {
  const model = findEmbeddingModel(request.model, options.key, dependencies.catalog())
  const negotiated = negotiate(request, model, options.unsupported ?? model.unsupported)
  const offers = orderOffers(payable(negotiated.offers, model, options.key), dependencies.random)
  const [first] = offers as readonly [Offer]
  const space = spaceFor(model, first.width, options.pinnedSpace)
  if (options.dryRun) return dryRun(request, model, space, { ...negotiated, offers }, dependencies.bytesOf)
  const isLarge = inputSize(request.input) > LARGE_INPUT
  if (isLarge) await dependencies.nextTurn()
  const lengths = checkLengths({ model, outside: dependencies }, request.input)
  if (lengths !== undefined) await lengths
  if (isLarge) await dependencies.nextTurn()

  const { maxAttempts } = dependencies.limits
  const { requestId, key, trace } = options
  const { clock } = dependencies
  const startedMs = clock.monotonicMs()
  const admitted = admit({ requestId, key, model, offers, input: request.input }, dependencies)
  await using admission = admitted instanceof Promise ? await admitted : admitted
  const admittedMs = clock.monotonicMs()
  trace.admitMs = admittedMs - startedMs
  let attempts = 0
  const gathered = await gather({
    outside: dependencies,
    isLarge,
    requestId,
    model,
    admission,
    trace,
    deadlineMs: admittedMs + timeoutOf(options, dependencies),
    input: request.input,
    offers: offers.length > maxAttempts ? offers.slice(0, maxAttempts) : offers,
    wholeBecauseOf: mustStayWhole(request, first.deployment.capabilities),
    wantedForm: request.encoding === 'base64' ? 'base64' : 'text',
    countAttempt: () => void (attempts += 1),
    attemptsMade: () => attempts,
  })
  const { served } = gathered
  const only = served.length === 1 ? served[0] : undefined
  const counted = usageOf({ model, outside: dependencies, input: request.input }, gathered)
  const usage = counted instanceof Promise ? await counted : counted
  const gatheredMs = clock.monotonicMs()
  trace.gatherMs = gatheredMs - admittedMs
  await admission.settle()
  trace.settleMs = clock.monotonicMs() - gatheredMs
  return {
    kind: 'embedded',
    model,
    vectors: gathered.vectors,
    usage,
    rates: admission.rates,
    space,
    attempts,
    width: first.width,
    deployments: only ? [only.offer.deployment.id] : unique(served.map(({ offer }) => offer.deployment.id)),
    emulated: only ? only.offer.emulated : unique(served.flatMap(({ offer }) => offer.emulated)),
    dropped: negotiated.dropped,
    extraFields: only ? only.answer.extraFields : NO_FIELDS,
  }
}

/**
 * Under a hard budget only what has a price may be called, and only with fields whose price is known: an unknown field may
 * multiply the cost.
 */
function payable(offers: readonly Offer[], model: EmbeddingModel, key: Key): readonly Offer[] {
  if (!hasHardBudget(key)) return offers
  const priced = offers.filter(({ deployment }) => deployment.price.kind !== 'unpriced')
  if (priced.length === 0) {
    throw new Fault(
      'model_unpriced',
      `'${model.id}' has no price, and key '${key.name}' has a hard budget that its cost could not be held against.`,
    )
  }
  refuseUnknownFields(priced, key)
  return priced
}

/** Leave the caller's SDK a moment to read our error before its own clock runs out. */
const CALLER_MARGIN_MS = 250

function timeoutOf({ callerTimeoutMs }: EmbedOptions, { limits }: EmbedDependencies): number {
  if (callerTimeoutMs === undefined) return limits.requestTimeoutMs
  return Math.min(limits.requestTimeoutMs, Math.max(callerTimeoutMs - CALLER_MARGIN_MS, callerTimeoutMs / 2))
}

function spaceFor(model: EmbeddingModel, width: number, pinned: string | undefined): string {
  const space = width === model.facts.dimensions ? model.space : spaceOf(model.id, width)
  if (pinned !== undefined && pinned !== space) {
    throw new Fault(
      'space_mismatch',
      `The request pins space '${pinned.slice(0, 200)}'; '${model.id}' answers in '${space}'.`,
    )
  }
  return space
}

function dryRun(
  request: EmbeddingRequest,
  model: EmbeddingModel,
  space: string,
  negotiated: Negotiated,
  bytesOf: Outside['bytesOf'],
): DryRun {
  const { input } = request
  const maxTokens =
    input.kind === 'tokens'
      ? input.tokens.reduce((sum, tokens) => sum + tokens.length, 0)
      : input.texts.reduce((sum, text) => sum + bytesOf(text), 0)
  return {
    kind: 'dry-run',
    model,
    space,
    deployments: negotiated.offers.map(({ deployment, emulated }) => ({
      id: deployment.id,
      native: emulated.length === 0,
      emulated,
      maxCostUsd: costText(maxCostOf(deployment.price, { tokens: maxTokens, rows: inputCount(input) })),
    })),
    dropped: negotiated.dropped,
    maxTokens,
  }
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)]
}

const NO_FIELDS: Readonly<Record<string, unknown>> = Object.freeze({})
