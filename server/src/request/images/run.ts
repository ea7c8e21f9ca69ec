/** One call of a job: begun, sent at most once, and its pictures kept. */
import type { ImageModel } from '#core/catalog/catalog.ts'
import type { FairShare } from '#core/schedule/fair-share.ts'
import { outOfTime, UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { callCost, type AnsweredCall, withKnownCharge } from '#core/image/cost.ts'
import { maxCallCost } from '#core/image/expected-cost.ts'
import type { Delivery, KeptPicture } from '#core/image/delivery.ts'
import { conversionFor, correctedOptions, type Conversion } from '#core/image/output.ts'
import { pricedCounts } from '#core/image/priced-counts.ts'
import type { ImageOffer } from '#core/image/negotiate.ts'
import type { ImageRequest } from '#core/image/request.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import type { Limits } from '#core/settings.ts'
import { countedTokens, type ImageUsage } from '#core/money/usage.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import type { Asker } from '#ports/asker.ts'
import { CodecBusy, PictureUnreadable } from '#ports/image-codec.ts'
import { JobLost, type Hold, type ImageJobs } from '#ports/image-jobs.ts'
import type { EditCall, ImageAnswer, ImageUpstream, Preview } from '#ports/image-upstream.ts'
import type { PricedCount, RequestTrace } from '#core/request/request-trace.ts'
import type { Observer } from '#ports/observer.ts'
import { STORE_RETRY_MS, StoreUnreachable } from '#ports/store.ts'
import type { Admission } from '../money/admission.ts'
import type { BegunCall } from '../money/call.ts'
import {
  convertPictures,
  describePictures,
  keepDelivery,
  keepPictures,
  type HeldBytes,
  type KeepingOutside,
} from './deliver.ts'
import type { PicturesAtHand } from './at-hand.ts'
import { whenCodecIsFree } from './codec-wait.ts'
import type { Caller } from '../traffic/caller.ts'
import type { Dispatch } from '../traffic/dispatch.ts'
import type { Turn } from '../traffic/turn.ts'
import { callTraceOf, recordCall, type CalledWork, type EndedCall } from '../traffic/ended-call.ts'
import type { EditInputs } from './edit-call.ts'

export interface BuyingOutside extends KeepingOutside {
  readonly imageUpstream: ImageUpstream
  readonly jobs: ImageJobs
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly observer: Observer
  readonly wait: (ms: number) => Promise<unknown>
  /** Memory for files that an upstream's wire can't take from disk. */
  readonly memory: FairShare
  readonly dispatch: Dispatch
  readonly limits: Pick<Limits, 'maxAttempts'>
}

/** Accounts for the calls of a job. */
export type CallLedger = Pick<Admission, 'project' | 'beginCall' | 'paid' | 'failed'>

/** State shared by all calls of one job. */
export interface ImageRun {
  readonly hold: Hold
  readonly request: ImageRequest
  readonly model: ImageModel
  readonly ledger: CallLedger
  /** On the monotonic clock. */
  readonly deadlineMs: number
  readonly trace: RequestTrace
  readonly held: HeldBytes
  readonly onPreview: (preview: Preview) => void
  /** Undefined when there is nothing to edit. */
  readonly inputs: EditInputs | undefined
  /** Keeps images in memory after they are stored. Undefined when no caller waits for them. */
  readonly atHand?: PicturesAtHand | undefined
  /** An earlier process, which died, made calls for it. */
  readonly isResumed: boolean
  /** Undefined when a caller waits for it, or may come back for it. */
  readonly background: Background | undefined
}

/** A job for a line of a batch: its calls get the turns that others leave. */
export interface Background {
  readonly batchId: string
  /** Leaves the queue when the batch must stop. Undefined when nothing can stop it. */
  readonly caller?: Caller | undefined
}

/** The result of the calls: images, and the reasons why there are not more. */
export interface Bought {
  readonly deliveries: readonly Delivery[]
  readonly failures: readonly unknown[]
}

/** Does everything that comes before a call may have been sent. An error here has bought nothing. */
export async function beginCall(
  run: ImageRun,
  images: number,
  turn: Turn<ImageOffer>,
  work: CalledWork,
  outside: BuyingOutside,
): Promise<SentCall> {
  const { ledger, hold, request, model } = run
  const { offer } = turn
  const { deployment } = offer
  const edit = await run.inputs?.callFor(offer, run.deadlineMs)
  if (run.deadlineMs <= outside.clock.monotonicMs()) throw outOfTime(deployment.id)
  const callId = outside.identifiers.next()
  const most = maxCallCost(request, model, offer, images)
  // The job records a call before the journal does. The job of a dead node therefore knows every call in that
  // node's journal, and a call number unknown to the job was never used: it can be bought again.
  let dispatched: number | undefined
  const dispatch = async (attempt: number): Promise<void> => {
    await outside.jobs.dispatched(hold, { attempt, callId, part: attempt, images, deployment: deployment.id })
    dispatched = attempt
  }
  const begun = ledger.beginCall(callId, deployment.id, most, dispatch, whatOf(images, offer, request))
  const call = await begun.catch(async (error: unknown) => {
    if (dispatched !== undefined) await whileReachable(outside.jobs.callEnded(hold, dispatched, 'failed'))
    throw error instanceof StoreUnreachable ? storeFault(error) : error
  })
  return { call, callId, images, offer, turn, submitted: undefined, edit, work, counts: [] }
}

/** `1 image, 1024×1024`: an operator asks the upstream for it. */
function whatOf(images: number, { size }: ImageOffer, { edit }: ImageRun['request']): string {
  const counted = images === 1 ? '1 image' : `${images} images`
  const sized = size === undefined ? counted : `${counted}, ${size.width}×${size.height}`
  return edit === undefined ? sized : `${sized}, edited`
}

export interface SentCall {
  readonly call: BegunCall
  readonly callId: string
  readonly images: number
  readonly offer: ImageOffer
  /** Undefined when an earlier process had the turn. */
  readonly turn: Turn<ImageOffer> | undefined
  /** What a polled upstream answered to an earlier process. */
  readonly submitted: string | undefined
  readonly edit: EditCall | undefined
  readonly work: CalledWork
  /** Filled in when the call is posted. */
  readonly counts: PricedCount[]
}

/** One exchange with an upstream: from the moment it may have been sent until its images are stored. */
export async function exchange(run: ImageRun, sent: SentCall, outside: BuyingOutside): Promise<Delivery> {
  const { ledger, hold } = run
  const { call, offer } = sent
  const startedMs = outside.clock.monotonicMs()
  const ended = (outcome: string, failure?: UpstreamFailure): void => {
    const endedCall: EndedCall = {
      requestId: hold.jobId,
      callId: sent.callId,
      model: run.model.id,
      deployment: offer.deployment.id,
      inputs: sent.images,
      outcome,
      failure,
      startedMs,
      endedMs: outside.clock.monotonicMs(),
      waitedMs: sent.turn?.waitedMs ?? 0,
      firstByteMs: answer?.firstByteMs,
      upstreamRequestId: failure?.detail.upstreamRequestId ?? answer?.upstreamRequestId,
    }
    recordCall(endedCall, outside.observer)
    const { work, counts } = sent
    const { attempt } = call
    const own = {
      attempt,
      part: work.part,
      inputs: sent.images,
      insteadOf: work.attempt,
      sharedWith: 0,
      counts,
    }
    run.trace.calls.push(callTraceOf(endedCall, own))
    work.attempt = attempt
  }
  let answer: ImageAnswer | undefined
  try {
    answer = await outside.imageUpstream.generate(
      {
        ...offer,
        callId: sent.callId,
        traceHeaders: run.trace.context?.headersFor(sent.callId),
        project: ledger.project,
        prompt: run.request.prompt,
        images: sent.images,
        timeoutMs: Math.max(1, run.deadlineMs - startedMs),
        submitted: sent.submitted,
        edit: sent.edit,
      },
      {
        // While the store is unreachable, this process still knows the answer.
        submitted: (text) => whileReachable(outside.jobs.submitted(hold, call.attempt, text)),
        partial: run.onPreview,
      },
    )
  } catch (error) {
    const failure =
      error instanceof UpstreamFailure ? withKnownCharge(error, offer.deployment.price) : undefined
    sent.turn?.end(error)
    if (failure?.detail.counted === undefined) ledger.failed(call, failure)
    else post(run, sent, { tokens: failure.detail.counted, pictures: [], echoes: {} }, outside)
    ended(failure?.kind ?? 'fault', failure)
    if (error instanceof JobLost) throw error
    const isFree = failure !== undefined && !failure.mayBeCharged
    await whileReachable(outside.jobs.callEnded(hold, call.attempt, isFree ? 'failed' : 'unknown'))
    throw failure ?? unforeseen(error, offer.deployment.id)
  }
  // From here on the time is our own, not the deployment's.
  sent.turn?.end()
  ended('ok')
  return deliver(run, sent, answer, outside)
}

/** An error of our own, which may have come after the upstream was paid. */
function unforeseen(cause: unknown, deployment: string): UpstreamFailure {
  const message = 'the gateway failed while the call was running'
  const failure = new UpstreamFailure('broken', message, { deployment, charge: 'unknown' })
  failure.cause = cause
  return failure
}

/** Writes the usage and charge that the upstream reports into the ledger, within bounds, whether or not images came. */
function post(
  { ledger, hold, request, model }: ImageRun,
  { call, callId, offer, images, counts }: SentCall,
  answered: Pick<AnsweredCall, 'tokens' | 'eachTokens' | 'pictures' | 'echoes' | 'reportedNanoUsd'>,
  { observer }: BuyingOutside,
): { readonly entry: LedgerEntry; readonly reported: ImageUsage['tokens'] } {
  const paid = callCost({ request, model, offer, images, ...answered })
  const { reported, charged, cost, costBy, excessTokens, cutTokens, excessNanoUsd, cutNanoUsd } = paid
  const entry = ledger.paid(call, {
    usage: paid.source,
    tokens: paid.tokens,
    images: answered.pictures.length,
    cost,
    reportedTokens: cutTokens === 0 ? undefined : countedTokens(reported),
    reportedNanoUsd: cutNanoUsd === 0n ? undefined : answered.reportedNanoUsd,
    costBy: costBy === 'upstream' ? costBy : undefined,
  })
  if (costBy === 'price')
    counts.push(...pricedCounts(offer.deployment.price, { ...answered, tokens: charged, cost }))
  const about = { requestId: hold.jobId, callId, model: model.id, deployment: offer.deployment.id }
  if (excessTokens > 0 || excessNanoUsd > 0n)
    observer.overcounted({
      ...about,
      excessTokens,
      cutTokens,
      ...(excessNanoUsd > 0n && { excessNanoUsd, cutNanoUsd }),
    })
  if (paid.isUncounted) observer.undercounted({ ...about, reportedTokens: 0 })
  return { entry, reported }
}

/**
 * Stores the record first, which names the images by their digests. Once the last image is stored, a node
 * that takes over the job finds all of them.
 */
async function deliver(
  run: ImageRun,
  sent: SentCall,
  answer: ImageAnswer,
  outside: BuyingOutside,
): Promise<Delivery> {
  const { hold, held } = run
  const { call, offer } = sent
  const kept = await describePictures(answer.pictures, outside)
  const { tokens, eachTokens, usage, echoes, extraFields, reportedNanoUsd } = answer
  const answered = { tokens, eachTokens, pictures: kept, echoes, reportedNanoUsd }
  const { entry, reported } = post(run, sent, answered, outside)
  const delivery: Delivery = {
    project: entry.project,
    post: entry,
    pictures: kept,
    tokens: reported,
    ...(usage && isShort(usage) ? { reported: usage } : {}),
    echoes,
    extraFields,
    emulated: offer.emulated,
  }
  try {
    await keepDelivery(hold.jobId, delivery, outside)
    await keepPictures(answer.pictures, kept, held, outside)
    await whileReachable(outside.jobs.callEnded(hold, call.attempt, 'delivered'))
    return await converted(run, delivery, answer, sent, outside)
  } finally {
    for (const [index, picture] of answer.pictures.entries()) {
      const { sha256, format } = kept[index] as KeptPicture
      // The caller gets the converted image.
      const atHand = conversionFor(offer, format) === undefined ? run.atHand : undefined
      if (!held.has(sha256) && !atHand?.take(sha256, picture)) picture.discard?.()
    }
  }
}

/** Largest usage object that is kept with a job. OpenAI's has some three hundred characters; a longer one is no count. */
const MAX_USAGE_CHARACTERS = 4096

function isShort(usage: object): boolean {
  return JSON.stringify(usage).length <= MAX_USAGE_CHARACTERS
}

/**
 * The delivery with its images in the format that the caller asked for, stored again if one was converted. An image that can't
 * be converted is paid and stored, but it is not what the caller asked for.
 */
export async function converted(
  run: ImageRun,
  delivery: Delivery,
  { pictures }: Pick<ImageAnswer, 'pictures'>,
  { images, offer }: Pick<SentCall, 'images' | 'offer'>,
  outside: BuyingOutside,
): Promise<Delivery> {
  const conversionOf = ({ format }: KeptPicture): Conversion | undefined => conversionFor(offer, format)
  const conversion = delivery.pictures.map(conversionOf).find((needed) => needed !== undefined)
  if (conversion === undefined) return delivery
  const convert = (asker: Asker): Promise<KeptPicture[]> =>
    convertPictures(delivery.pictures, pictures, conversionOf, images, run.held, asker, outside)
  const { project } = run.ledger
  const shown = await whenCodecIsFree(convert, { project, deadlineMs: run.deadlineMs }, outside).catch(
    (cause: unknown) => {
      if (!(cause instanceof PictureUnreadable) && !(cause instanceof CodecBusy)) throw cause
      const what = `an image that could not be converted to ${conversion.format}: ${cause.message}`
      throw new Fault('upstream_broken_answer', `${offer.deployment.id} sent ${what}`, { cause })
    },
  )
  const corrected = offer.conversion === undefined ? correctedOptions(conversion) : []
  const whole = { ...delivery, pictures: shown, emulated: [...corrected, ...delivery.emulated] }
  await keepDelivery(run.hold.jobId, whole, outside)
  return whole
}

/** Ignores an unreachable store: the stored delivery says the same. */
async function whileReachable(write: Promise<void>): Promise<void> {
  try {
    await write
  } catch (error) {
    if (!(error instanceof StoreUnreachable)) throw error
  }
}

export function storeFault(cause: unknown): Fault {
  return new Fault(
    'image_store_unreachable',
    'Torana cannot reach PostgreSQL, which images need. Nothing was bought. Retry.',
    { cause, retryAfterMs: STORE_RETRY_MS },
  )
}
