/**
 * One image request, step by step: find the model, negotiate, admit, begin a job or join the one that was asked for before,
 * buy and keep the pictures, account for them, end the job. A client that leaves changes nothing: the job goes on.
 */
import type { Catalog, ImageModel } from '#core/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { maxRequestCost } from '#core/image/cost.ts'
import type { ImageResult } from '#core/image/delivery.ts'
import type { ImageOffer } from '#core/image/negotiate.ts'
import { canonicalText, type ImageRequest } from '#core/image/request.ts'
import type { RateState } from '#core/limit.ts'
import { costText } from '#core/price.ts'
import type { Limits } from '#core/settings.ts'
import { JobLost, type BegunJob, type Hold, type ImageJob } from '#ports/image-jobs.ts'
import type { Preview } from '#ports/image-upstream.ts'
import type { Key } from '#ports/keys.ts'
import type { RequestTrace } from '#ports/observer.ts'
import { StoreAway } from '#ports/store.ts'
import type { Admission, MoneyOutside } from '../money/admission.ts'
import { admitImages, offersFor, type AskingForImages } from './admit.ts'
import { EditInputs } from './edit-call.ts'
import { findImageModel } from '../access/find-model.ts'
import type { HeldBytes } from './deliver.ts'
import { endOf, outcomeOf, outcomeOfCalls, type ImageOutcome } from './outcome.ts'
import { buy } from './parts.ts'
import { storeFault, type Bought, type BuyingOutside } from './run.ts'
import { CallNotes } from './notes.ts'
import { keepFiles, type RequestFiles } from './files.ts'
import type { RunningJobs } from './running-jobs.ts'
import { storedText } from './stored-request.ts'

export interface ImageDependencies extends MoneyOutside, BuyingOutside {
  /** The catalog of this moment. */
  readonly catalog: () => Catalog
  readonly limits: Limits
  readonly nodeId: string
  readonly running: RunningJobs
  /** Told of a job that could not be ended in the store: whoever takes it over finds what was bought. */
  readonly unended: (jobId: string, error: unknown) => void
}

/** What the caller said beside the body. */
export interface ImageOptions {
  readonly requestId: string
  readonly key: Key
  readonly unsupported: 'refuse' | 'drop' | undefined
  readonly dryRun: boolean
  readonly idempotencyKey: string | undefined
  /** The caller's SDK says that this is a retry of its own. */
  readonly isRetry: boolean
  readonly respondAsync: boolean
  readonly trace: RequestTrace
  readonly onPreview: (preview: Preview) => void
  /** Those of the pictures that are to be edited. They are discarded when nobody needs them any more. */
  readonly files: RequestFiles
}

export interface Made {
  readonly kind: 'made'
  readonly model: ImageModel
  readonly jobId: string
  readonly result: ImageResult
  readonly held: HeldBytes
  readonly rates: readonly RateState[]
}

export interface Queued {
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
): Promise<Made | Queued | ImageDryRun> {
  let { files } = options
  /** From then on the job discards its files. */
  let hasJob = false
  try {
    const { key, requestId } = options
    const model = findImageModel(request.model, key, dependencies.catalog())
    const { offers, dropped } = offersFor(request, model, key, options.unsupported, dependencies)
    if (options.dryRun) return dryRun(request, model, offers, dropped)
    const startedMs = dependencies.clock.monotonicMs()
    const notes = new CallNotes(dependencies.ledger)
    const admission = await admitOrJoin({ request, model, offers, key, requestId }, options, {
      ...dependencies,
      ledger: notes.ledger,
    })
    if ('job' in admission) return await joined(admission.job, model, [], options, dependencies)
    options.trace.admitMs = dependencies.clock.monotonicMs() - startedMs
    let begun: Exclude<BegunJob, { kind: 'conflict' }>
    try {
      // Nobody waits with these files in hand.
      if (options.respondAsync && request.edit !== undefined)
        files = await keepFiles(requestId, request.edit, files, dependencies.blobs).catch(asStoreFault)
      begun = await beginOrJoin(request, model, options, dependencies)
    } catch (error) {
      await admission[Symbol.asyncDispose]()
      throw error
    }
    if (begun.kind === 'joined') {
      await admission[Symbol.asyncDispose]()
      return await joined(begun.job, model, admission.rates, options, dependencies)
    }
    const { hold } = begun
    const job = { hold, request, model, offers, dropped, admission, notes, files }
    hasJob = true
    const running = dependencies.running.start(requestId, () => runJob(job, options, dependencies))
    if (options.respondAsync) return { kind: 'queued', job: await justBegun(options, dependencies) }
    const outcome = await running.catch(async (error: unknown) => {
      // Another holder works on it: whoever waits here gets what that one makes of it.
      if (!(error instanceof JobLost)) throw error
      return outcomeOfOther(await justBegun(options, dependencies), dependencies)
    })
    return madeOrThrow(outcome, { model, jobId: requestId, rates: admission.rates })
  } finally {
    if (!hasJob) await files.discard()
  }
}

function asStoreFault(error: unknown): never {
  throw error instanceof StoreAway ? storeFault(error) : error
}

/** What was asked for before is answered by the job that was begun then. */
async function joined(
  job: ImageJob,
  model: ImageModel,
  rates: readonly RateState[],
  { respondAsync }: ImageOptions,
  dependencies: ImageDependencies,
): Promise<Made | Queued> {
  if (respondAsync) return { kind: 'queued', job }
  return madeOrThrow(await outcomeOfOther(job, dependencies), { model, jobId: job.id, rates })
}

/** What was bought before costs nothing now: no limit and no budget stands between a caller and its own picture. */
async function admitOrJoin(
  asking: AskingForImages,
  options: ImageOptions,
  dependencies: ImageDependencies,
): Promise<Admission | { readonly job: ImageJob }> {
  const { running, limits } = dependencies
  try {
    if (running.size >= limits.maxImageJobs)
      throw new Fault(
        'too_many_image_jobs',
        `This node already runs ${running.size} image jobs, its limit. Retry.`,
      )
    return await admitImages(asking, dependencies)
  } catch (error) {
    const mayHaveAsked = options.idempotencyKey !== undefined || options.isRetry
    if (!(error instanceof Fault) || !mayHaveAsked) throw error
    const begun = await beginOrJoin(asking.request, asking.model, options, dependencies)
    if (begun.kind === 'joined') return { job: begun.job }
    const refusal = { kind: 'fault', fault: error, isUnknown: false, freesKey: true } as const
    await tellEnd(begun.hold, refusal, dependencies)
    throw error
  }
}

async function beginOrJoin(
  request: ImageRequest,
  model: ImageModel,
  { requestId, key, idempotencyKey, isRetry, unsupported }: ImageOptions,
  { jobs, hashing, nodeId }: ImageDependencies,
): Promise<Exclude<BegunJob, { kind: 'conflict' }>> {
  const begun = await jobs
    .begin({
      id: requestId,
      project: key.project,
      keyId: key.id,
      model: model.id,
      digest: hashing.sha256OfText(canonicalText(request)),
      idempotencyKey,
      isRetry,
      request: storedText({ request, key, unsupported }),
      nodeId,
    })
    .catch(asStoreFault)
  if (begun.kind === 'conflict') {
    throw new Fault(
      'idempotency_key_reused',
      'This Idempotency-Key was used for a different request within the last 24 hours. Use a new one.',
      { param: 'idempotency-key' },
    )
  }
  return begun
}

async function justBegun({ requestId, key }: ImageOptions, { jobs }: ImageDependencies): Promise<ImageJob> {
  const job = await jobs.find(requestId, key.project).catch(asStoreFault)
  if (job === undefined) throw new Fault('internal_error', 'A job that was just begun is not there.')
  return job
}

/** How often a job of another node is looked at: pictures take seconds. */
const LOOK_MS = 300

/** The end of a job that another request began, here or on another node. */
async function outcomeOfOther(job: ImageJob, dependencies: ImageDependencies): Promise<ImageOutcome> {
  const { running, jobs, clock, limits, wait } = dependencies
  const deadlineMs = clock.monotonicMs() + limits.imageTimeoutMs
  for (let current: ImageJob | undefined = job; current !== undefined;) {
    const outcome = outcomeOf(current)
    if (outcome !== undefined) return outcome
    const own = running.endOf(job.id)
    if (own !== undefined) return own
    if (clock.monotonicMs() > deadlineMs) break
    await wait(LOOK_MS)
    current = await jobs.find(job.id, job.project).catch((error: unknown) => {
      if (error instanceof StoreAway) return job
      throw error
    })
  }
  throw new Fault(
    'upstream_timeout',
    `Job ${job.id} is still running. Get its result with GET /v1/images/jobs/${job.id}.`,
  )
}

interface JobRun {
  readonly hold: Hold
  readonly request: ImageRequest
  readonly model: ImageModel
  readonly offers: readonly ImageOffer[]
  readonly dropped: readonly string[]
  readonly admission: Admission
  readonly notes: CallNotes
  readonly files: RequestFiles
}

async function runJob(
  job: JobRun,
  { trace, onPreview }: Pick<ImageOptions, 'trace' | 'onPreview'>,
  dependencies: ImageDependencies,
): Promise<ImageOutcome> {
  try {
    return await runAdmitted(job, { trace, onPreview }, dependencies)
  } finally {
    await job.files.discard()
  }
}

async function runAdmitted(
  job: JobRun,
  { trace, onPreview }: Pick<ImageOptions, 'trace' | 'onPreview'>,
  dependencies: ImageDependencies,
): Promise<ImageOutcome> {
  const { clock, limits } = dependencies
  const { request, admission, files } = job
  await using _ = admission
  const held: HeldBytes = new Map()
  const startedMs = clock.monotonicMs()
  const run = {
    ...job,
    books: admission,
    deadlineMs: startedMs + limits.imageTimeoutMs,
    trace,
    held,
    onPreview,
    inputs: request.edit && new EditInputs(request.edit, files, dependencies),
    isResumed: false,
  }
  const bought = await buy(run, request.images, job.offers, dependencies).catch((error: unknown) => {
    if (error instanceof JobLost) admission.abandon()
    throw error
  })
  trace.gatherMs = clock.monotonicMs() - startedMs
  return endJob(job, bought, held, trace, dependencies)
}

/** Into the books first, then into the store of jobs: whoever finds the job open finds what was bought. */
async function endJob(
  { hold, request, model, dropped, admission }: JobRun,
  { deliveries, failures }: Bought,
  held: HeldBytes,
  trace: RequestTrace,
  dependencies: ImageDependencies,
): Promise<ImageOutcome> {
  const { clock } = dependencies
  const settledMs = clock.monotonicMs()
  await admission.settle()
  trace.settleMs = clock.monotonicMs() - settledMs
  const attempts = trace.calls.length
  const outcome = outcomeOfCalls(
    { deliveries, failures },
    { request, model, dropped, attempts, held },
    clock.nowMs(),
  )
  await tellEnd(hold, outcome, dependencies)
  return outcome
}

/** An end that the store can't hear now does not keep the pictures from whoever waits for them: their delivery is kept. */
export async function tellEnd(
  hold: Hold,
  outcome: ImageOutcome,
  { jobs, unended }: Pick<ImageDependencies, 'jobs' | 'unended'>,
): Promise<void> {
  try {
    await jobs.end(hold, endOf(outcome))
  } catch (error) {
    if (!(error instanceof StoreAway) && !(error instanceof JobLost)) throw error
    unended(hold.jobId, error)
  }
}

function madeOrThrow(outcome: ImageOutcome, about: Pick<Made, 'model' | 'jobId' | 'rates'>): Made {
  if (outcome.kind === 'fault') {
    const { code, message, param, upstream, cause, retryAfterMs, rates } = outcome.fault
    throw new Fault(code, message, { param, upstream, cause, retryAfterMs, rates, jobId: about.jobId })
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
