/**
 * One embeddings request, step by step: find the model, negotiate what each deployment can do, check the
 * inputs, gather the vectors, account for them. The listener authenticates and parses before this, and
 * encodes afterwards.
 */
import type { Catalog, EmbeddingModel } from '#core/catalog/catalog.ts'
import type { EmbeddingRequest } from '#core/embedding/request.ts'
import { inputSize, type Input } from '#core/embedding/input.ts'
import { hasAddress } from '#core/content/content.ts'
import { fittedTo } from '#core/embedding/content-fit.ts'
import { spaceOf, type ModelSpace } from '#core/embedding/space.ts'
import type { VectorForm } from '#core/embedding/vector.ts'
import { fieldOfUnknownEffect, negotiate, type Negotiated, type Offer } from '#core/embedding/negotiate.ts'
import { Fault } from '#core/fault/fault.ts'
import { labelsOf } from '#core/money/labels.ts'
import { inTiers } from '#core/schedule/order.ts'
import type { Key } from '#ports/keys.ts'
import type { RequestTrace } from '#core/request/request-trace.ts'
import { admit } from './admit.ts'
import { allowedNow, pricesOf } from './allowed-now.ts'
import { findEmbeddingModel, mayUse } from '../access/find-model.ts'
import type { KeyAsked } from '../access/terms-now.ts'
import type { Caller } from '../traffic/caller.ts'
import type { Dispatch } from '../traffic/dispatch.ts'
import { namingSkips, type EndedRequest } from '../traffic/skips.ts'
import { dryRun, type DryRun } from './dry-run.ts'
import { gather, sameSlot } from './gather.ts'
import { payable } from '../money/hard-budget.ts'
import type { LabelTerms } from '../money/label-shares.ts'
import type { TakenRates } from '../money/rates.ts'
import { checkLengths } from './inputs.ts'
import { tokensOfCall } from './one-call.ts'
import { resultOf, savedBy, unconfirmedIn, type EmbedResult } from './embed-result.ts'
import type { EmbedOutside } from './outside.ts'
import type { SharingRules } from './shared-vectors.ts'
import { checkSpace, type SpaceWatch } from './space.ts'
import { checkFloat16, spaceFor } from './types.ts'
import { usageOf } from './usage.ts'

export interface EmbedDependencies extends EmbedOutside, SpaceWatch {
  /** The current catalog. */
  readonly catalog: () => Catalog
  readonly dispatch: Dispatch
  /** How a request of this project may share calls and vectors. Undefined when it may not. */
  readonly sharingOf: (
    model: EmbeddingModel,
    request: EmbeddingRequest,
    terms: SharingTerms,
  ) => SharingRules | undefined
}

/** The project that shares, and to what extent. */
interface SharingTerms {
  readonly project: string
  readonly space: string
  readonly cacheUse: CacheUse
}

/** The caller's cache directive: `fresh` asks for new vectors, `none` also forbids keeping them. */
export type CacheUse = 'usual' | 'fresh' | 'none'

/** Options beside the body. */
export interface EmbedOptions {
  readonly requestId: string
  readonly key: Key
  readonly unsupported: 'refuse' | 'drop' | undefined
  readonly pinnedSpace: string | undefined
  readonly dryRun: boolean
  /** The caller's own timeout, if its SDK sent one. */
  readonly callerTimeoutMs: number | undefined
  readonly cacheUse: CacheUse
  /** When it has left, no further call is made. */
  readonly caller?: Caller | undefined
  /**
   * A background request: no caller waits. Its calls get the capacity that others leave, however long that
   * takes; it shares no call and leaves no vector in the cache, where a corpus would evict vectors that
   * others ask for again.
   */
  readonly isBackground?: boolean | undefined
  /** The batch it belongs to, for the ledger and for fair turns. Undefined for a request outside batches. */
  readonly batchId?: string | undefined
  /** Asked before each call, for work that outlives the look-up of its key. */
  readonly keyNow?: KeyAsked | undefined
  /** Shares of the request with their own user and tags. Undefined when the request's labels apply to all of it. */
  readonly labelTerms?: LabelTerms | undefined
  /** Filled in step by step, also for a request that fails. */
  readonly trace: RequestTrace
  /** What the rate limits counted before the request was read. */
  readonly counted?: TakenRates | undefined
}

/** Characters or token ids for which one pass takes a millisecond or more. */
const LARGE_INPUT = 512 * 1024

export async function embed(
  request: EmbeddingRequest,
  options: EmbedOptions,
  dependencies: EmbedDependencies,
): Promise<EmbedResult | DryRun> {
  const { model, able, offers, dropped } = negotiatedFor(request, options, dependencies)
  const [first] = offers as readonly [Offer]
  const now = dependencies.spaceNow(model)
  const unknownField = fieldOfUnknownEffect(offers)
  const asked = { now, pinned: options.pinnedSpace, unknownField }
  const { views, guardedSpace } = spaceFor(model, first, asked)
  const space = unknownField === undefined ? guardedSpace : undefined
  const { requestId, key, keyNow, labelTerms, trace } = options
  trace.isPinned = options.pinnedSpace !== undefined
  const { clock } = dependencies
  const begunMs = clock.monotonicMs()
  const deadlineMs = begunMs + timeoutOf(options, dependencies)
  const tokenContext = { model, outside: dependencies, project: key.project, deadlineMs }
  if (options.dryRun) return dryRun(request.input, tokenContext, space, { offers, dropped })
  const isLarge = inputSize(request.input) > LARGE_INPUT
  if (isLarge) await dependencies.yieldLoop()
  const lengths = checkLengths(tokenContext, request.input)
  const lengthCounts = lengths && (await lengths)
  if (isLarge) await dependencies.yieldLoop()

  trace.admittingMs = lengths === undefined ? begunMs : clock.monotonicMs()
  const admitted = admit(
    {
      requestId,
      key,
      model,
      offers,
      input: request.input,
      labels: labelTerms === undefined ? labelsOf(request) : labelTerms.labels,
      shares: labelTerms?.shares,
      counted: options.counted,
      batchId: options.batchId,
      keyNow: keyNow && (() => allowedNow({ model, offers, input: request.input }, keyNow, dependencies)),
      tokenContext,
    },
    dependencies,
  )
  const admission = admitted instanceof Promise ? await admitted : admitted
  trace.admittedMs = admitted instanceof Promise ? clock.monotonicMs() : trace.admittingMs
  trace.reservation = admission.reservation
  // Replaces `using`, which takes half a microsecond more.
  try {
    let attempts = 0
    const sharing = sharingFor(model, request, options, { first, now, unknownField }, dependencies)
    const gathered = await gather({
      outside: dependencies,
      isLarge,
      requestId,
      model,
      admission,
      trace,
      caller: options.caller,
      isBackground: options.isBackground,
      batchId: options.batchId,
      deadlineMs,
      input: request.input,
      placeOf: sameSlot,
      project: key.project,
      dispatch: dependencies.dispatch,
      offers,
      sharing,
      wholeBecauseOf: unknownField,
      tokenCounts: lengthCounts,
      wantedForm: formFor(
        request,
        sharing !== undefined || views !== undefined,
        options.isBackground === true,
      ),
      countAttempt: () => void (attempts += 1),
      attemptsMade: () => attempts,
    })
    checkSpace(model, gathered, now, sharing, dependencies)
    if (views !== undefined) checkFloat16(gathered.vectors, views, first)
    if (gathered.hits.length > 0) {
      const saved = savedBy(gathered, request.input, offers, tokenContext)
      const unconfirmed = unconfirmedIn(gathered, sharing)
      trace.savedNanoUsd = saved.savedNanoUsd
      admission.answeredFrom(`${model.id}/cache`, dependencies.identifiers.next(), { ...saved, unconfirmed })
    }
    const counted = usageOf(tokenContext, request.input, gathered)
    const usage = counted instanceof Promise ? await counted : counted
    trace.gatheredMs = clock.monotonicMs()
    const settling = admission.settle()
    if (settling !== undefined) {
      await settling
      // Accounting may have taken a while, so the space is checked again.
      checkSpace(model, gathered, now, sharing, dependencies)
    }
    trace.settledMs = settling === undefined ? trace.gatheredMs : clock.monotonicMs()
    const known = { model, usage, rates: admission.rates, space, guardedSpace, views, attempts, dropped }
    return resultOf(gathered, first, known, sharing !== undefined)
  } catch (error) {
    throw ended(error, request.input, { model, able, offers, deadlineMs, options }, dependencies)
  } finally {
    admission[Symbol.dispose]()
  }
}

/** The error with the deployments that were not tried. Nothing of it is made for a request that succeeds. */
function ended(
  error: unknown,
  input: Input,
  at: Pick<EndedRequest, 'able'> & {
    readonly model: EmbeddingModel
    readonly offers: readonly Offer[]
    readonly deadlineMs: number
    readonly options: EmbedOptions
  },
  dependencies: EmbedDependencies,
): unknown {
  if (!(error instanceof Fault)) return error
  const { key, isBackground, trace } = at.options
  const tokens = tokensOfCall({ ...at, outside: dependencies }, input)
  const asked = { project: key.project, tokens, images: 0, isBackground, deadlineMs: at.deadlineMs }
  return namingSkips(error, { ...at, calls: trace.calls, asked, buysOnce: false }, dependencies)
}

/** The offers of the deployments that take the inputs, by priority. All of them take texts. */
function negotiatedFor(
  request: EmbeddingRequest,
  options: EmbedOptions,
  dependencies: EmbedDependencies,
): Negotiated & { readonly model: EmbeddingModel; readonly able: readonly Offer[] } {
  const { key } = options
  const catalog = dependencies.catalog()
  const model = findEmbeddingModel(request.model, key, catalog)
  const { input } = request
  const able =
    input.kind === 'contents'
      ? fittedTo(model, input.contents, { catalog, mayUse: (one) => mayUse(key, one) })
      : model
  const unsupported = options.unsupported ?? model.unsupported
  const { offers, dropped } = negotiate(request, able, unsupported)
  const inOrder = inTiers(payable(offers, pricesOf(input, model, dependencies.bytesOf), model, key))
  return { model, able: offers, offers: inOrder, dropped }
}

/** What the space of vectors follows from. */
interface Named {
  readonly first: Offer
  readonly now: ModelSpace | undefined
  readonly unknownField: string | undefined
}

/** Undefined when nothing is shared. */
function sharingFor(
  model: EmbeddingModel,
  request: EmbeddingRequest,
  { key, cacheUse, isBackground }: EmbedOptions,
  { first, now, unknownField }: Named,
  { sharingOf }: EmbedDependencies,
): SharingRules | undefined {
  if (unknownField !== undefined || first.nativeType !== undefined) return undefined
  // A vector is cached under its model's own space: a declared one has vectors of several models.
  const use = now === undefined ? 'none' : cacheUse
  const space = spaceOf(model.id, first.upstreamWidth, now?.generation)
  const { input } = request
  const isContents = input.kind === 'contents'
  // What an address leads to can change: it is no name of a vector.
  if (isContents && input.contents.some(({ parts }) => parts.some(hasAddress))) return undefined
  const shared = sharingOf(model, request, { project: key.project, space, cacheUse: use })
  if (shared === undefined || (!isContents && isBackground !== true)) return shared
  // Contents are large, and most wires take one per call.
  return { ...shared, mayKeep: shared.mayKeep && isBackground !== true, microBatch: undefined }
}

function formFor({ encoding }: EmbeddingRequest, needsValues: boolean, isBackground: boolean): VectorForm {
  // The garbage collector copies strings that live as long as a chunk again and again, but not bytes.
  if (encoding === 'base64') return isBackground ? 'base64Bytes' : 'base64'
  // Cached vectors are values and types are made of values, so a text would have to be parsed.
  return needsValues ? 'float32' : 'text'
}

/** Time left for the caller's SDK to read our error before its own timeout. */
const CALLER_MARGIN_MS = 250

/** Timeout of a background request. Nearly all of it may be the wait for a turn. */
const BACKGROUND_MS = 10 * 60_000

function timeoutOf({ callerTimeoutMs, isBackground }: EmbedOptions, { limits }: EmbedDependencies): number {
  if (isBackground === true) return BACKGROUND_MS
  if (callerTimeoutMs === undefined) return limits.requestTimeoutMs
  return Math.min(limits.requestTimeoutMs, Math.max(callerTimeoutMs - CALLER_MARGIN_MS, callerTimeoutMs / 2))
}
