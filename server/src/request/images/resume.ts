/**
 * Continues a job whose node has died. Delivered images are found in the blob store. A polled call is polled
 * again, not bought again. A call that may have been sent and left no trace is unknown. What was provably not
 * sent is bought.
 */
import type { ImageModel } from '#core/catalog/catalog.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { maxCallCost } from '#core/image/expected-cost.ts'
import { resultOf, type Delivery } from '#core/image/delivery.ts'
import { conversionFor } from '#core/image/output.ts'
import type { ImageOffer } from '#core/image/negotiate.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import { labelsOf } from '#core/money/labels.ts'
import type { Cost } from '#core/money/price.ts'
import { JobLost, type ImageJobCall, type TakenJob } from '#ports/image-jobs.ts'
import type { MadePicture } from '#ports/image-upstream.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { RequestTrace } from '#core/request/request-trace.ts'
import { findImageModel } from '../access/find-model.ts'
import { keyNow, type KeyAsked } from '../access/terms-now.ts'
import { paidEntry, type BegunCall, type PaidCall } from '../money/call.ts'
import { admitImages, offersFor } from './admit.ts'
import { blobsOfBatch } from './batch-blobs.ts'
import { keptBytes, keptDelivery, type HeldBytes } from './deliver.ts'
import { EditInputs } from './edit-call.ts'
import type { ImageDependencies } from './image.ts'
import { tellEnd } from './job.ts'
import { outcomeOfCalls, skipNaming, type ImageOutcome } from './outcome.ts'
import { buy } from './parts.ts'
import { converted, exchange, type Bought, type CallLedger, type ImageRun } from './run.ts'
import { keptFiles, lost, NO_FILES } from './files.ts'
import { storedImageRequestOf, type StoredImageRequest } from './stored-request.ts'

export interface ResumeDependencies extends ImageDependencies {
  /** Adds entries to calls that may have entries already: only the difference counts. */
  readonly appendLate: (entries: readonly LedgerEntry[]) => Promise<void>
}

/** Holders after which a job is given up: after this many dead nodes, the job itself is the likely cause. */
const MAX_HOLDERS = 20

export async function resumeJob(taken: TakenJob, outside: ResumeDependencies): Promise<ImageOutcome> {
  const { hold, job } = taken
  const dependencies = { ...outside, blobs: blobsOfBatch(job.batchId, outside.blobs) }
  if (hold.token > MAX_HOLDERS)
    return giveUp(taken, `${hold.token} nodes tried this job and failed.`, dependencies)
  // The request is sealed with a secret that this node does not have. Another node may have it.
  if (taken.request === '')
    throw new Error(`the request of job ${job.id} can't be read: was TORANA_SECRET changed?`)
  return resumeStored(taken, storedImageRequestOf(taken.request), dependencies)
}

async function resumeStored(
  taken: TakenJob,
  stored: StoredImageRequest,
  dependencies: ResumeDependencies,
): Promise<ImageOutcome> {
  const { hold, job } = taken
  const { request } = stored
  const { batchId } = job
  const model = dependencies.catalog().models.get(job.model)
  if (model?.kind !== 'image')
    return giveUp(taken, `Model '${job.model}' is no longer configured.`, dependencies)

  const calls = taken.calls.filter(({ state }) => state !== 'failed')
  const held: HeldBytes = new Map()
  const trace = new RequestTrace(dependencies.clock.monotonicMs())
  const late = new LateCalls(job.project)
  const files =
    request.edit === undefined ? NO_FILES : await keptFiles(job.id, request.edit, dependencies.blobs)
  const {
    able,
    offers,
    dropped,
    fault = files === undefined ? lost() : undefined,
  } = offersNow(stored, model, dependencies)
  const run: ImageRun = {
    hold,
    request,
    model,
    ledger: late,
    deadlineMs: dependencies.clock.monotonicMs() + dependencies.limits.imageTimeoutMs,
    trace,
    held,
    onPreview: () => {},
    inputs: request.edit && new EditInputs(request.edit, files ?? NO_FILES, job.project, dependencies),
    isResumed: calls.length > 0,
    background: batchId === undefined ? undefined : { batchId },
  }
  const resumed = await Promise.all(
    calls.map((call) => resumeCall(run, taken, call, offers, late, dependencies)),
  )
  await dependencies.appendLate(late.entries)

  const asked = calls.reduce((sum, { images }) => sum + images, 0)
  const missing = request.images - asked
  const bought =
    fault !== undefined && missing > 0
      ? { deliveries: [], failures: [fault] }
      : await buyMissing(run, missing, stored, taken, dependencies)
  const all: Bought = {
    deliveries: [...resumed.flatMap(({ deliveries }) => deliveries), ...bought.deliveries],
    failures: [...resumed.flatMap(({ failures }) => failures), ...bought.failures],
  }
  const attempts = taken.calls.length + trace.calls.length
  const tried = [...taken.calls, ...trace.calls]
  // Without offers it is not known which deployments could have served it.
  const naming =
    fault === undefined ? skipNaming(run, { able, offers }, tried, dependencies) : (failed: Fault) => failed
  const about = { request, model, dropped, attempts, held, batchId, naming }
  const outcome = outcomeOfCalls(all, about, dependencies.clock.nowMs())
  await tellEnd(hold, outcome, dependencies)
  await files?.discard()
  return outcome
}

/** The model may have changed since the job began. Bought images still count. */
function offersNow(
  { request, key, unsupported }: StoredImageRequest,
  model: ImageModel,
  dependencies: ResumeDependencies,
): ReturnType<typeof offersFor> & { readonly fault?: Fault } {
  try {
    return offersFor(request, model, key, unsupported, dependencies)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { able: [], offers: [], dropped: [], fault: error }
  }
}

async function resumeCall(
  run: ImageRun,
  { job }: TakenJob,
  call: ImageJobCall,
  offers: readonly ImageOffer[],
  late: LateCalls,
  dependencies: ResumeDependencies,
): Promise<Bought> {
  const offer = offers.find(({ deployment }) => deployment.id === call.deployment)
  const kept = await keptDelivery(job.id, call.attempt, dependencies.blobs)
  if (kept !== undefined) {
    late.entries.push({ ...kept.post, projectLeaseNanoUsd: 0n, keyLeaseNanoUsd: 0n })
    return boughtBy(() => convertedLate(run, kept, call.images, offer, dependencies))
  }
  const most = offer && maxCallCost(run.request, run.model, offer, call.images)
  const begun: BegunCall = {
    attempt: call.attempt,
    unknown: { ...unknownOf(job, call, most), labels: labelsOf(run.request) },
  }
  const { callId, images, submitted } = call
  if (submitted === undefined || offer === undefined || call.state === 'unknown') {
    const failure = new UpstreamFailure(
      'broken',
      'the process that sent the request died before it stored the answer',
      { deployment: call.deployment, charge: 'unknown' },
    )
    late.failed(begun, failure)
    return { deliveries: [], failures: [failure] }
  }
  return boughtBy(async () => {
    const edit = await run.inputs?.callFor(offer, run.deadlineMs, true)
    const work = { part: call.part, attempt: undefined }
    return exchange(
      run,
      { call: begun, callId, images, offer, turn: undefined, submitted, edit, work, counts: [] },
      dependencies,
    )
  })
}

async function boughtBy(work: () => Promise<Delivery>): Promise<Bought> {
  try {
    return { deliveries: [await work()], failures: [] }
  } catch (error) {
    if (!(error instanceof UpstreamFailure || error instanceof Fault)) throw error
    return { deliveries: [], failures: [error] }
  }
}

/** The process that bought the pictures may have died before it converted them. */
async function convertedLate(
  run: ImageRun,
  delivery: Delivery,
  images: number,
  offer: ImageOffer | undefined,
  dependencies: ResumeDependencies,
): Promise<Delivery> {
  const { pictures } = delivery
  if (offer === undefined) return delivery
  if (!pictures.some(({ converted: done, format }) => !done && conversionFor(offer, format))) return delivery
  const { blobs } = dependencies
  const made: MadePicture[] = []
  for (const picture of pictures)
    made.push({ bytes: await keptBytes(picture, blobs), revisedPrompt: picture.revisedPrompt })
  return converted(run, delivery, { pictures: made }, { images, offer }, dependencies)
}

/** Buys the images for which no call was ever sent, under the current terms. */
async function buyMissing(
  run: ImageRun,
  images: number,
  { request, unsupported }: StoredImageRequest,
  { job, calls }: TakenJob,
  dependencies: ResumeDependencies,
): Promise<Bought> {
  if (images <= 0) return { deliveries: [], failures: [] }
  const stillGood = (): ReturnType<KeyAsked> => keyNow(job, false, dependencies.terms)
  try {
    const key = await stillGood()
    const model = findImageModel(job.model, key, dependencies.catalog())
    const { offers } = offersFor(request, model, key, unsupported, dependencies)
    // Concurrent calls are recorded in any order, so the highest number may exceed the count.
    const attemptsBefore = calls.reduce((most, { attempt }) => Math.max(most, attempt + 1), 0)
    const about = { requestId: job.id, key, keyNow: stillGood, batchId: job.batchId }
    const order = { ...about, request, model, offers, images, attemptsBefore }
    using admission = await admitImages(order, dependencies)
    const bought = await buy({ ...run, ledger: admission }, images, offers, dependencies).catch(
      (error: unknown) => {
        // Another node accounts for these calls now.
        if (error instanceof JobLost) admission.abandon()
        throw error
      },
    )
    await admission.settle()
    return bought
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    // A key that this node cannot look up is no reason to end the job: it is resumed when the store is reachable again.
    if (error.code === 'key_store_unreachable') throw new StoreUnreachable(error.message, { cause: error })
    return { deliveries: [], failures: [error] }
  }
}

function unknownOf(job: TakenJob['job'], call: ImageJobCall, most?: Cost): LedgerEntry {
  return {
    requestId: job.id,
    attempt: call.attempt,
    kind: 'unknown',
    callId: call.callId,
    project: job.project,
    keyId: job.keyId,
    model: job.model,
    deployment: call.deployment,
    batchId: job.batchId,
    usage: 'unknown',
    tokens: undefined,
    images: 0,
    amountNanoUsd: most?.kind === 'known' ? most.nanoUsd : undefined,
    projectLeaseNanoUsd: 0n,
    keyLeaseNanoUsd: 0n,
  }
}

/** Accounts for calls that a dead node had begun. Its reservations were returned, or are part of its `unknown` entries. */
class LateCalls implements CallLedger {
  readonly entries: LedgerEntry[] = []
  readonly project: string

  constructor(project: string) {
    this.project = project
  }

  beginCall(): Promise<BegunCall> {
    return Promise.reject(new Fault('internal_error', 'A resumed call was begun again.'))
  }

  paid({ unknown }: BegunCall, call: PaidCall): LedgerEntry {
    const post = paidEntry(unknown, call, false)
    this.entries.push(post)
    return post
  }

  failed({ unknown }: BegunCall, failure: UpstreamFailure | undefined): void {
    const isFree = failure !== undefined && !failure.mayBeCharged
    // The dead node's journal has written, or will write, an `unknown` entry. This entry reverses it.
    this.entries.push(isFree ? { ...unknown, kind: 'void', amountNanoUsd: 0n } : unknown)
  }
}

/** Ends a job that can't continue. Bought images are still handed out; the rest is unknown. */
async function giveUp(
  { hold, job, calls, request }: TakenJob,
  message: string,
  dependencies: ResumeDependencies,
): Promise<ImageOutcome> {
  const { blobs, clock } = dependencies
  const deliveries: Delivery[] = []
  const entries: LedgerEntry[] = []
  // A request sealed with a secret of another node can't be read.
  const labels = request === '' ? undefined : labelsOf(storedImageRequestOf(request).request)
  for (const call of calls.filter(({ state }) => state !== 'failed')) {
    const kept = await keptDelivery(job.id, call.attempt, blobs)
    if (kept !== undefined) deliveries.push(kept)
    entries.push(
      kept
        ? { ...kept.post, projectLeaseNanoUsd: 0n, keyLeaseNanoUsd: 0n }
        : { ...unknownOf(job, call), labels },
    )
  }
  await dependencies.appendLate(entries)
  const fault = new Fault('outcome_unknown', message)
  const about = {
    createdSeconds: Math.floor(clock.nowMs() / 1000),
    asked: calls.reduce((sum, { images }) => sum + images, 0),
    batchId: job.batchId,
    form: 'b64_json',
    attempts: calls.length,
    dropped: [],
  } as const
  const outcome: ImageOutcome =
    deliveries.length > 0
      ? { kind: 'made', held: new Map(), result: resultOf(deliveries, about) }
      : { kind: 'fault', fault, isUnknown: true, freesKey: false }
  await tellEnd(hold, outcome, dependencies)
  return outcome
}
