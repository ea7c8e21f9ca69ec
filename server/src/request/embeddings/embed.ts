/**
 * One embeddings request, step by step: find the model, negotiate what each deployment can do, check the
 * inputs, gather the vectors, account for them. The listener authenticates and parses before this, and
 * encodes afterwards.
 */
import type { Catalog, EmbeddingModel } from '#core/catalog/catalog.ts'
import type { EmbeddingRequest } from '#core/embedding/request.ts'
import { inputSize } from '#core/embedding/input.ts'
import { hasAddress } from '#core/content/content.ts'
import { fittedTo } from '#core/embedding/content-fit.ts'
import { spaceOf, type ModelSpace } from '#core/embedding/space.ts'
import type { TypeView } from '#core/embedding/vector-types/view.ts'
import type { VectorForm } from '#core/embedding/vector.ts'
import { fieldOfUnknownEffect, negotiate, type Offer } from '#core/embedding/negotiate.ts'
import { Fault } from '#core/fault/fault.ts'
import { labelsOf } from '#core/money/labels.ts'
import { inTiers } from '#core/schedule/order.ts'
import type { Key } from '#ports/keys.ts'
import type { RequestTrace } from '#core/request/request-trace.ts'
import { admit, type EmbeddingAdmission } from './admit.ts'
import { allowedNow, pricesOf } from './allowed-now.ts'
import { findEmbeddingModel, mayUse } from '../access/find-model.ts'
import type { KeyAsked } from '../access/terms-now.ts'
import type { Caller } from '../traffic/caller.ts'
import type { Dispatch } from '../traffic/dispatch.ts'
import { namingSkips } from '../traffic/skips.ts'
import { dryRun, type DryRun } from './dry-run.ts'
import { gather, sameSlot } from './gather.ts'
import { payable } from '../money/hard-budget.ts'
import type { LabelTerms } from '../money/label-shares.ts'
import type { TakenRates } from '../money/rates.ts'
import { checkLengths } from './inputs.ts'
import { tokensOfCall } from './one-call.ts'
import { resultOf, savedBy, unconfirmedIn, type EmbedResult } from './embed-result.ts'
import type { EmbedOutside } from './outside.ts'
import type { GatheredVectors } from './served.ts'
import type { SharingRules } from './shared-vectors.ts'
import { checkSpace, type SpaceWatch } from './space.ts'
import { checkFloat16, spaceFor } from './types.ts'
import type { TokenContext } from './tokens.ts'
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

/**
 * Lines of a batch. Their calls get the capacity that others leave, however long that takes; they share no call and leave no vector in
 * the cache, where a corpus would evict vectors that others ask for again.
 */
interface Background {
  /** For the ledger and for fair turns. */
  readonly batchId: string
  /** Asked before each call: the work outlives the look-up of its key. */
  readonly keyNow: KeyAsked
  /** Shares of the request with their own user and tags. */
  readonly labelTerms: LabelTerms
}

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
  /** Set for lines of a batch. Undefined when a caller waits. */
  readonly background?: Background | undefined
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
  const offered = negotiateOffers(findModel({ request, options, dependencies }))
  if (options.dryRun) return dryRun(request.input, offered.tokenContext, offered.space, offered)
  const admitted = await admitRequest(await checkInputs(offered))
  // Replaces `using`, which takes half a microsecond more.
  try {
    return await settle(await gatherVectors(admitted))
  } catch (error) {
    throw nameUntried(error, offered)
  } finally {
    admitted.admission[Symbol.dispose]()
  }
}

/** Each step takes the result of the one before, and adds its own. */
interface Asked {
  readonly request: EmbeddingRequest
  readonly options: EmbedOptions
  readonly dependencies: EmbedDependencies
}

interface Found extends Asked {
  readonly model: EmbeddingModel
  /** The model with the deployments that take the contents. All of them take texts. */
  readonly fitted: EmbeddingModel
}

function findModel(asked: Asked): Found {
  const { request, options, dependencies } = asked
  const { key } = options
  const catalog = dependencies.catalog()
  const model = findEmbeddingModel(request.model, key, catalog)
  const { input } = request
  const fitted =
    input.kind === 'contents'
      ? fittedTo(model, input.contents, { catalog, mayUse: (one) => mayUse(key, one) })
      : model
  return { ...asked, model, fitted }
}

interface Offered extends Found {
  /** Of all deployments that can do what the request asks for. */
  readonly able: readonly Offer[]
  /** Of those among them that the key may pay for, by priority. */
  readonly offers: readonly Offer[]
  readonly first: Offer
  readonly dropped: readonly string[]
  /** The model's space, as the guard knows it. */
  readonly now: ModelSpace | undefined
  readonly unknownField: string | undefined
  readonly views: readonly TypeView[] | undefined
  readonly guardedSpace: string | undefined
  /** The name that the answer carries. */
  readonly space: string | undefined
  readonly begunMs: number
  readonly deadlineMs: number
  readonly tokenContext: TokenContext
}

function negotiateOffers(found: Found): Offered {
  const { request, options, dependencies, model, fitted } = found
  const { key, pinnedSpace: pinned, trace } = options
  const { offers: able, dropped } = negotiate(request, fitted, options.unsupported ?? model.unsupported)
  const prices = pricesOf(request.input, model, dependencies.bytesOf)
  const offers = inTiers(payable(able, prices, model, key))
  const first = offers[0] as Offer
  const now = dependencies.spaceNow(model)
  const unknownField = fieldOfUnknownEffect(offers)
  const { views, guardedSpace } = spaceFor(model, first, { now, pinned, unknownField })
  const space = unknownField === undefined ? guardedSpace : undefined
  trace.isPinned = pinned !== undefined
  const begunMs = dependencies.clock.monotonicMs()
  const deadlineMs = begunMs + timeoutOf(options, dependencies)
  const tokenContext = { model, outside: dependencies, project: key.project, deadlineMs }
  const named = { now, unknownField, views, guardedSpace, space }
  return { ...found, able, offers, first, dropped, ...named, begunMs, deadlineMs, tokenContext }
}

interface Checked extends Offered {
  readonly isLarge: boolean
  /** Tokens by text. Undefined when nothing was counted. */
  readonly tokenCounts: Map<string, number> | undefined
}

async function checkInputs(offered: Offered): Promise<Checked> {
  const { request, dependencies, tokenContext } = offered
  const isLarge = inputSize(request.input) > LARGE_INPUT
  if (isLarge) await dependencies.yieldLoop()
  const counting = checkLengths(tokenContext, request.input)
  const tokenCounts = counting && (await counting)
  if (isLarge) await dependencies.yieldLoop()
  return { ...offered, isLarge, tokenCounts }
}

interface Admitted extends Checked {
  readonly admission: EmbeddingAdmission
}

async function admitRequest(checked: Checked): Promise<Admitted> {
  const { request, options, dependencies, model, offers, tokenContext, begunMs, tokenCounts } = checked
  const { requestId, key, counted, background, trace } = options
  const { input } = request
  const { clock } = dependencies
  trace.admittingMs = tokenCounts === undefined ? begunMs : clock.monotonicMs()
  const who = {
    batchId: background?.batchId,
    labels: background === undefined ? labelsOf(request) : background.labelTerms.labels,
    shares: background?.labelTerms.shares,
    keyNow: background && (() => allowedNow({ model, offers, input }, background.keyNow, dependencies)),
  }
  const asked = { requestId, key, model, offers, input, counted, tokenContext, ...who }
  const admitting = admit(asked, dependencies)
  const admission = admitting instanceof Promise ? await admitting : admitting
  trace.admittedMs = admitting instanceof Promise ? clock.monotonicMs() : trace.admittingMs
  trace.reservation = admission.reservation
  return { ...checked, admission }
}

interface Gathered extends Admitted {
  readonly gathered: GatheredVectors
  readonly sharing: SharingRules | undefined
  readonly attempts: number
}

async function gatherVectors(admitted: Admitted): Promise<Gathered> {
  const { request, options, dependencies, model, offers, admission, views } = admitted
  const { requestId, key, caller, background, trace } = options
  const isBackground = background !== undefined
  const sharing = sharingFor(admitted)
  let attempts = 0
  const gathered = await gather({
    outside: dependencies,
    isLarge: admitted.isLarge,
    requestId,
    model,
    admission,
    trace,
    caller,
    isBackground,
    batchId: background?.batchId,
    deadlineMs: admitted.deadlineMs,
    input: request.input,
    placeOf: sameSlot,
    project: key.project,
    dispatch: dependencies.dispatch,
    offers,
    sharing,
    wholeBecauseOf: admitted.unknownField,
    tokenCounts: admitted.tokenCounts,
    wantedForm: formFor(request, sharing !== undefined || views !== undefined, isBackground),
    countAttempt: () => void (attempts += 1),
    attemptsMade: () => attempts,
  })
  return { ...admitted, gathered, sharing, attempts }
}

async function settle(done: Gathered): Promise<EmbedResult> {
  const { request, options, dependencies, model, offers, first, now, views, tokenContext } = done
  const { gathered, sharing, admission } = done
  const { input } = request
  const { trace } = options
  const { clock, identifiers } = dependencies
  checkSpace(model, gathered, now, sharing, dependencies)
  if (views !== undefined) checkFloat16(gathered.vectors, views, first)
  if (gathered.hits.length > 0) {
    const saved = savedBy(gathered, input, offers, tokenContext)
    const unconfirmed = unconfirmedIn(gathered, sharing)
    trace.savedNanoUsd = saved.savedNanoUsd
    admission.answeredFrom(`${model.id}/cache`, identifiers.next(), { ...saved, unconfirmed })
  }
  const counting = usageOf(tokenContext, input, gathered)
  const usage = counting instanceof Promise ? await counting : counting
  trace.gatheredMs = clock.monotonicMs()
  const settling = admission.settle()
  if (settling !== undefined) {
    await settling
    // Accounting may have taken a while, so the space is checked again.
    checkSpace(model, gathered, now, sharing, dependencies)
  }
  trace.settledMs = settling === undefined ? trace.gatheredMs : clock.monotonicMs()
  return resultOf(gathered, first, { ...done, usage, rates: admission.rates }, sharing !== undefined)
}

/** The error with the deployments that were not tried. Nothing of it is made for a request that succeeds. */
function nameUntried(error: unknown, offered: Offered): unknown {
  if (!(error instanceof Fault)) return error
  const { request, options, dependencies, model, able, offers, deadlineMs } = offered
  const { key, background, trace } = options
  const tokens = tokensOfCall({ outside: dependencies, offers, model }, request.input)
  const isBackground = background !== undefined
  const asked = { project: key.project, tokens, images: 0, isBackground, deadlineMs }
  const ended = { model, able, offers, calls: trace.calls, asked, buysOnce: false }
  return namingSkips(error, ended, dependencies)
}

/** Undefined when nothing is shared. */
function sharingFor({
  request,
  options,
  dependencies,
  model,
  first,
  now,
  unknownField,
}: Offered): SharingRules | undefined {
  if (unknownField !== undefined || first.nativeType !== undefined) return undefined
  const isBackground = options.background !== undefined
  // A vector is cached under its model's own space: a declared one has vectors of several models.
  const cacheUse = now === undefined ? 'none' : options.cacheUse
  const space = spaceOf(model.id, first.upstreamWidth, now?.generation)
  const { input } = request
  const isContents = input.kind === 'contents'
  // What an address leads to can change: it is no name of a vector.
  if (isContents && input.contents.some(({ parts }) => parts.some(hasAddress))) return undefined
  const shared = dependencies.sharingOf(model, request, { project: options.key.project, space, cacheUse })
  if (shared === undefined || (!isContents && !isBackground)) return shared
  // Contents are large, and most wires take one per call.
  return { ...shared, mayKeep: shared.mayKeep && !isBackground, microBatch: undefined }
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

function timeoutOf({ callerTimeoutMs, background }: EmbedOptions, { limits }: EmbedDependencies): number {
  if (background !== undefined) return BACKGROUND_MS
  if (callerTimeoutMs === undefined) return limits.requestTimeoutMs
  return Math.min(limits.requestTimeoutMs, Math.max(callerTimeoutMs - CALLER_MARGIN_MS, callerTimeoutMs / 2))
}
