/**
 * One image request, step by step: find the model, negotiate, admit, begin a job or join an earlier one, buy
 * and store the images, account for them, end the job. A client that leaves changes nothing: the job
 * continues.
 */
import type { Catalog, ImageModel } from '#core/catalog/catalog.ts'
import type { Holding } from '#core/schedule/fair-share.ts'
import { PICTURE_BYTES } from '#core/batch/room.ts'
import { Fault } from '#core/fault/fault.ts'
import { maxRequestCost } from '#core/image/expected-cost.ts'
import type { ImageResult } from '#core/image/delivery.ts'
import type { ImageOffer } from '#core/image/negotiate.ts'
import type { ImageRequest } from '#core/image/request.ts'
import type { RateState } from '#core/limits/limit.ts'
import { costText } from '#core/money/price.ts'
import type { DiskRoom } from '#ports/disk-room.ts'
import type { Limits } from '#core/settings.ts'
import { JobLost, type Hold, type ImageJob } from '#ports/image-jobs.ts'
import type { Preview } from '#ports/image-upstream.ts'
import type { Key, TermsInForce } from '#ports/keys.ts'
import type { RequestTrace } from '#core/request/request-trace.ts'
import { admitOnDisk } from '../files/disk-fault.ts'
import { findImageModel } from '../access/find-model.ts'
import { keyNow, type KeyAsked } from '../access/terms-now.ts'
import type { Admission, MoneyOutside } from '../money/admission.ts'
import type { TakenRates } from '../money/rates.ts'
import type { PicturesAtHand } from './at-hand.ts'
import { admitImages, offersFor, type ImageOrder } from './admit.ts'
import type { HeldBytes } from './deliver.ts'
import { EditInputs } from './edit-call.ts'
import { forgetFiles, keepFiles, type RequestFiles } from './files.ts'
import {
  asStoreFault,
  beginOrJoin,
  begunJob,
  outcomeOfOther,
  tellEnd,
  type JobOptions,
  type JobOutside,
} from './job.ts'
import { outcomeOfCalls, skipNaming, type ImageOutcome } from './outcome.ts'
import { buy } from './parts.ts'
import type { Background, Bought, BuyingOutside } from './run.ts'

export interface ImageDependencies extends MoneyOutside, BuyingOutside, JobOutside {
  /** The current catalog. */
  readonly catalog: () => Catalog
  readonly limits: Limits
  /** The disk that holds the images. */
  readonly diskRoom: DiskRoom
  readonly terms: TermsInForce
}

/** Options beside the body. */
export interface ImageOptions extends JobOptions {
  readonly dryRun: boolean
  readonly respondAsync: boolean
  readonly trace: RequestTrace
  readonly onPreview: (preview: Preview) => void
  /** The files of the images to be edited. They are discarded when the request, or its job, has ended. */
  readonly files: RequestFiles
  /** What the rate limits counted before the request was read. */
  readonly counted?: TakenRates | undefined
  /**
   * Holds images of the answer in memory while it is written; the caller disposes of it. Undefined when they
   * are read from the store.
   */
  readonly atHand?: PicturesAtHand | undefined
  /** Set for a line of a batch. Undefined when a caller waits. */
  readonly background?: Background | undefined
  /** Asked before each call. Undefined when the key must still be valid. */
  readonly keyNow?: KeyAsked | undefined
}

export interface MadeImages {
  readonly kind: 'made'
  readonly model: ImageModel
  readonly jobId: string
  readonly result: ImageResult
  readonly held: HeldBytes
  readonly rates: readonly RateState[]
}

export interface QueuedJob {
  readonly kind: 'queued'
  readonly job: ImageJob
}

/** The answer to `x-torana-dry-run`: what would happen, without a call. */
export interface ImageDryRun {
  readonly kind: 'dry-run'
  readonly model: ImageModel
  readonly deployments: readonly {
    readonly id: string
    readonly calls: number
    readonly emulated: readonly string[]
    readonly maxCostUsd: string
  }[]
  readonly dropped: readonly string[]
}

export async function generateImages(
  request: ImageRequest,
  options: ImageOptions,
  dependencies: ImageDependencies,
): Promise<MadeImages | QueuedJob | ImageDryRun> {
  const { files, key, requestId } = options
  // The request owns the files until a job begins, which then owns them.
  await using ownFiles = new AsyncDisposableStack()
  ownFiles.defer(() => files.discard())

  const model = findImageModel(request.model, key, dependencies.catalog())
  const { able, offers, dropped } = offersFor(request, model, key, options.unsupported, dependencies)
  if (options.dryRun) return dryRun(request, model, offers, dropped)
  const { counted } = options
  const stillAllowed = (): Promise<Key> => allowedNow(request, options, dependencies)
  const batchId = options.background?.batchId
  const order = { request, model, offers, key, requestId, counted, batchId, keyNow: stillAllowed }
  const start = await admitAndBegin(order, ownFiles, options, dependencies)
  if (start.kind === 'joined') return await joined(start.job, model, start.rates, options, dependencies)

  const { admission, hold, place } = start
  const job = { hold, request, model, able, offers, dropped, admission, files, ownFiles: ownFiles.move() }
  const running = dependencies.running.start(requestId, place, () => runJob(job, options, dependencies))
  const begun = begunJob(options, model)
  if (options.respondAsync) return { kind: 'queued', job: begun }
  const outcome = await running.catch((error: unknown) => {
    // Another node has taken over the job. This request answers with that node's result.
    if (!(error instanceof JobLost)) throw error
    return outcomeOfOther(begun, dependencies)
  })
  return madeOrThrow(outcome, { model, jobId: requestId, rates: admission.rates })
}

/** The current key, if it may still ask for this. */
async function allowedNow(
  request: ImageRequest,
  { key: { id: keyId, project, player }, keyNow: asked, unsupported }: ImageOptions,
  dependencies: ImageDependencies,
): Promise<Key> {
  const key = await (asked?.() ?? keyNow({ keyId, project, player }, false, dependencies.terms))
  const model = findImageModel(request.model, key, dependencies.catalog())
  offersFor(request, model, key, unsupported, dependencies)
  return key
}

interface Admitted {
  readonly admission: Admission
  /** The job's slot on this node. */
  readonly place: Holding
}

type JobStart =
  | ({ readonly kind: 'begun'; readonly hold: Hold } & Admitted)
  | { readonly kind: 'joined'; readonly job: ImageJob; readonly rates: readonly RateState[] }

/** The job that begins takes over admission and slot. If none begins, both are given back before this returns. */
async function admitAndBegin(
  order: ImageOrder,
  ownFiles: AsyncDisposableStack,
  options: ImageOptions,
  dependencies: ImageDependencies,
): Promise<JobStart> {
  const { blobs, clock } = dependencies
  const { request, model, requestId } = order
  options.trace.admittingMs = clock.monotonicMs()
  const admitted = await admitOrJoin(order, options, dependencies)
  if ('job' in admitted) return { kind: 'joined', job: admitted.job, rates: [] }
  const { admission } = admitted
  await using unused = new AsyncDisposableStack()
  unused.use(admitted.place)
  unused.use(admission)
  options.trace.admittedMs = clock.monotonicMs()
  options.trace.reservation = admission.reservation
  // The client will not wait, so another node may have to continue with these files.
  if (options.respondAsync && request.edit !== undefined) {
    await keepFiles(requestId, request.edit, options.files, blobs).catch(asStoreFault)
    ownFiles.defer(() => forgetFiles(requestId, blobs))
  }
  const begun = await beginOrJoin(request, model, options, dependencies)
  if (begun.kind === 'joined') return { kind: 'joined', job: begun.job, rates: admission.rates }
  unused.move()
  return { kind: 'begun', hold: begun.hold, ...admitted }
}

/** A repeated request gets the answer of the job that was begun for the first one. */
async function joined(
  job: ImageJob,
  model: ImageModel,
  rates: readonly RateState[],
  { respondAsync }: ImageOptions,
  dependencies: ImageDependencies,
): Promise<MadeImages | QueuedJob> {
  if (respondAsync) return { kind: 'queued', job }
  return madeOrThrow(await outcomeOfOther(job, dependencies), { model, jobId: job.id, rates })
}

/** An image that was bought before costs nothing now: no limit and no budget keeps a caller from it. */
async function admitOrJoin(
  order: ImageOrder,
  options: ImageOptions,
  dependencies: ImageDependencies,
): Promise<Admitted | { readonly job: ImageJob }> {
  try {
    using unused = new DisposableStack()
    // Batches have their own slots and take none from interactive requests.
    const place = unused.use(
      options.background === undefined ? await dependencies.running.place(order.key.project) : NO_PLACE,
    )
    await admitOnDisk(dependencies.diskRoom, order.request.images * PICTURE_BYTES)
    const admission = await admitImages(order, dependencies)
    unused.move()
    return { admission, place }
  } catch (error) {
    // A batch has already looked for its job.
    const mayHaveAsked =
      (options.idempotencyKey !== undefined || options.isRetry) && options.background === undefined
    if (!(error instanceof Fault) || !mayHaveAsked) throw error
    const begun = await beginOrJoin(order.request, order.model, options, dependencies)
    if (begun.kind === 'joined') return { job: begun.job }
    const refusal = { kind: 'fault', fault: error, isUnknown: false, freesKey: true } as const
    await tellEnd(begun.hold, refusal, dependencies)
    throw error
  }
}

const NO_PLACE: Holding = { [Symbol.dispose]() {} }

interface JobRun {
  readonly hold: Hold
  readonly request: ImageRequest
  readonly model: ImageModel
  readonly able: readonly ImageOffer[]
  readonly offers: readonly ImageOffer[]
  readonly dropped: readonly string[]
  readonly admission: Admission
  readonly files: RequestFiles
  /** Discards the files, and their copies in the store. */
  readonly ownFiles: AsyncDisposable
}

/** Owns the admission and the files of the job from here on, however it ends. The admission ends first. */
async function runJob(
  job: JobRun,
  options: Pick<ImageOptions, 'trace' | 'onPreview' | 'background' | 'atHand'>,
  dependencies: ImageDependencies,
): Promise<ImageOutcome> {
  const { clock, limits } = dependencies
  const { request, files } = job
  const { trace, onPreview, background, atHand } = options
  await using _ = job.ownFiles
  using admission = job.admission
  const held: HeldBytes = new Map()
  const startedMs = clock.monotonicMs()
  const run = {
    ...job,
    ledger: admission,
    deadlineMs: startedMs + limits.imageTimeoutMs,
    trace,
    held,
    onPreview,
    inputs: request.edit && new EditInputs(request.edit, files, admission.project, dependencies),
    atHand,
    isResumed: false,
    background,
  }
  const bought = await buy(run, request.images, job.offers, dependencies).catch((error: unknown) => {
    if (error instanceof JobLost) admission.abandon()
    throw error
  })
  trace.gatheredMs = clock.monotonicMs()
  const naming = skipNaming(run, job, trace.calls, dependencies)
  return await endJob(job, bought, { held, trace, batchId: background?.batchId, naming }, dependencies)
}

/** Writes the ledger first and the job store afterwards: a node that finds the job open then finds what was bought. */
async function endJob(
  { hold, request, model, dropped, admission }: JobRun,
  { deliveries, failures }: Bought,
  about: {
    readonly held: HeldBytes
    readonly trace: RequestTrace
    readonly batchId: string | undefined
    readonly naming: (fault: Fault) => Fault
  },
  dependencies: ImageDependencies,
): Promise<ImageOutcome> {
  const { clock } = dependencies
  const { held, trace, batchId, naming } = about
  await admission.settle()
  trace.settledMs = clock.monotonicMs()
  const attempts = trace.calls.length
  const outcome = outcomeOfCalls(
    { deliveries, failures },
    { request, model, dropped, attempts, held, batchId, naming },
    clock.nowMs(),
  )
  await tellEnd(hold, outcome, dependencies)
  return outcome
}

function madeOrThrow(
  outcome: ImageOutcome,
  about: Pick<MadeImages, 'model' | 'jobId' | 'rates'>,
): MadeImages {
  if (outcome.kind === 'fault') {
    const { code, message, param, upstream, cause, retryAfterMs, rates, skips } = outcome.fault
    throw new Fault(code, message, { param, upstream, cause, retryAfterMs, rates, skips, jobId: about.jobId })
  }
  return { kind: 'made', ...about, result: outcome.result, held: outcome.held }
}

function dryRun(
  request: ImageRequest,
  model: ImageModel,
  offers: readonly ImageOffer[],
  dropped: readonly string[],
): ImageDryRun {
  return {
    kind: 'dry-run',
    model,
    dropped,
    deployments: offers.map((offer) => ({
      id: offer.deployment.id,
      calls: offer.perCall.length,
      emulated: offer.emulated,
      maxCostUsd: costText(maxRequestCost(request, model, offer)),
    })),
  }
}
