/** One call of a job: begun, sent at most once, and its pictures kept. */
import type { ImageModel } from '#core/catalog.ts'
import type { FairShare } from '#core/fair-share.ts'
import { outOfTime, UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { callCost, type AnsweredCall } from '#core/image/cost.ts'
import { maxCallCost } from '#core/image/expected-cost.ts'
import type { Delivery, KeptPicture } from '#core/image/delivery.ts'
import { pricedCounts } from '#core/image/priced-counts.ts'
import type { ImageOffer } from '#core/image/negotiate.ts'
import type { ImageRequest } from '#core/image/request.ts'
import type { LedgerEntry } from '#core/ledger.ts'
import type { Limits } from '#core/settings.ts'
import { countedTokens, type ImageUsage } from '#core/usage.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import type { Asker } from '#ports/asker.ts'
import { CodecBusy, PictureUnreadable } from '#ports/image-codec.ts'
import { JobLost, type Hold, type ImageJobs } from '#ports/image-jobs.ts'
import type { EditCall, ImageAnswer, ImageUpstream, Preview } from '#ports/image-upstream.ts'
import type { PricedCount, RequestTrace } from '#core/request-trace.ts'
import type { Observer } from '#ports/observer.ts'
import { STORE_RETRY_MS, StoreAway } from '#ports/store.ts'
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
  /** For files that an upstream's wire can't take from disk. */
  readonly memory: FairShare
  readonly dispatch: Dispatch
  readonly limits: Pick<Limits, 'maxAttempts'>
}

/** Where the calls of a job are accounted for. */
export type CallBooks = Pick<Admission, 'project' | 'beginCall' | 'paid' | 'failed'>

/** What every call of one job shares. */
export interface ImageRun {
  readonly hold: Hold
  readonly request: ImageRequest
  readonly model: ImageModel
  readonly books: CallBooks
  /** On the monotonic clock. */
  readonly deadlineMs: number
  readonly trace: RequestTrace
  readonly held: HeldBytes
  readonly onPreview: (preview: Preview) => void
  /** Undefined: there is nothing to edit. */
  readonly inputs: EditInputs | undefined
  /** Where pictures go on being in memory once they are stored. Undefined: nobody waits for them. */
  readonly atHand?: PicturesAtHand | undefined
  /** An earlier process, which died, made calls for it. */
  readonly isResumed: boolean
  /** Undefined: somebody waits for it, or may come back for it. */
  readonly background: Background | undefined
}

/** A job that makes the pictures of a line of a batch: its calls get the turns that others leave. */
export interface Background {
  readonly batchId: string
  /** Leaves the line for a turn when the batch is to stop. Undefined: nobody can say so. */
  readonly caller?: Caller | undefined
}

/** What the calls brought: pictures, and the reasons why there are not more. */
export interface Bought {
  readonly deliveries: readonly Delivery[]
  readonly failures: readonly unknown[]
}

/** Does all that comes before a call may have been sent. An error here has bought nothing. */
export async function beginCall(
  run: ImageRun,
  images: number,
  turn: Turn<ImageOffer>,
  work: CalledWork,
  outside: BuyingOutside,
): Promise<SentCall> {
  const { books, hold, request, model } = run
  const { offer } = turn
  const { deployment } = offer
  const edit = await run.inputs?.callFor(offer, run.deadlineMs)
  if (run.deadlineMs <= outside.clock.monotonicMs()) throw outOfTime(deployment.id)
  const callId = outside.identifiers.next()
  const most = maxCallCost(request, model, offer, images)
  // The job is told of a call before the journal is. So the job of a dead node knows every call that its journal holds, and
  // a number that the job does not know was never used: it can be bought anew.
  let dispatched: number | undefined
  const dispatch = async (attempt: number): Promise<void> => {
    await outside.jobs.dispatched(hold, { attempt, callId, part: attempt, images, deployment: deployment.id })
    dispatched = attempt
  }
  const begun = books.beginCall(callId, deployment.id, most, dispatch, whatOf(images, offer, request))
  const call = await begun.catch(async (error: unknown) => {
    if (dispatched !== undefined) await told(outside.jobs.callEnded(hold, dispatched, 'failed'))
    throw error instanceof StoreAway ? storeFault(error) : error
  })
  return { call, callId, images, offer, turn, submitted: undefined, edit, work, counts: [] }
}

/** `1 picture, 1024×1024`: for people who ask the upstream what became of the call. */
function whatOf(images: number, { size }: ImageOffer, { edit }: ImageRun['request']): string {
  const pictures = images === 1 ? '1 picture' : `${images} pictures`
  const sized = size === undefined ? pictures : `${pictures}, ${size.width}×${size.height}`
  return edit === undefined ? sized : `${sized}, edited`
}

export interface SentCall {
  readonly call: BegunCall
  readonly callId: string
  readonly images: number
  readonly offer: ImageOffer
  /** Undefined: an earlier process had it. */
  readonly turn: Turn<ImageOffer> | undefined
  /** What a polled upstream answered an earlier process. */
  readonly submitted: string | undefined
  readonly edit: EditCall | undefined
  readonly work: CalledWork
  /** Filled in when the call is posted. */
  readonly counts: PricedCount[]
}

/** One exchange with an upstream: from when it may have been sent until its pictures are kept. */
export async function exchange(run: ImageRun, sent: SentCall, outside: BuyingOutside): Promise<Delivery> {
  const { books, hold } = run
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
      upstreamRequestId: answer?.upstreamRequestId,
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
        project: books.project,
        prompt: run.request.prompt,
        images: sent.images,
        timeoutMs: Math.max(1, run.deadlineMs - startedMs),
        submitted: sent.submitted,
        edit: sent.edit,
      },
      {
        // If the store is away, this process still knows the answer.
        submitted: (text) => told(outside.jobs.submitted(hold, call.attempt, text)),
        partial: run.onPreview,
      },
    )
  } catch (error) {
    const failure = error instanceof UpstreamFailure ? error : undefined
    sent.turn?.end(error)
    if (failure?.detail.counted === undefined) books.failed(call, failure)
    else post(run, sent, { tokens: failure.detail.counted, pictures: [], echoes: {} }, outside)
    ended(failure?.kind ?? 'fault', failure)
    if (error instanceof JobLost) throw error
    const isFree = failure !== undefined && !failure.mayBeCharged
    await told(outside.jobs.callEnded(hold, call.attempt, isFree ? 'failed' : 'unknown'))
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

/** The ledger gets what the upstream says that it used and charges, within bounds, whether or not pictures came. */
function post(
  { books, hold, request, model }: ImageRun,
  { call, callId, offer, images, counts }: SentCall,
  answered: Pick<AnsweredCall, 'tokens' | 'eachTokens' | 'pictures' | 'echoes' | 'reportedNanoUsd'>,
  { observer }: BuyingOutside,
): { readonly entry: LedgerEntry; readonly told: ImageUsage['tokens'] } {
  const paid = callCost({ request, model, offer, images, ...answered })
  const { told, charged, cost, costBy, excessTokens, cutTokens, excessNanoUsd, cutNanoUsd } = paid
  const entry = books.paid(call, {
    usage: paid.source,
    tokens: paid.tokens,
    images: answered.pictures.length,
    cost,
    toldTokens: cutTokens === 0 ? undefined : countedTokens(told),
    toldNanoUsd: cutNanoUsd === 0n ? undefined : answered.reportedNanoUsd,
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
  if (paid.isUncounted) observer.undercounted({ ...about, toldTokens: 0 })
  return { entry, told }
}

/**
 * Keeps the record first, which names the pictures by their digests. Once the last picture is kept, a node that takes the job
 * over finds all.
 */
async function deliver(
  run: ImageRun,
  sent: SentCall,
  answer: ImageAnswer,
  outside: BuyingOutside,
): Promise<Delivery> {
  const { hold, held } = run
  const { call, offer } = sent
  // The caller gets what it is converted to.
  const atHand = offer.conversion === undefined ? run.atHand : undefined
  const kept = await describePictures(answer.pictures, outside)
  const { tokens, eachTokens, usage, echoes, extraFields, reportedNanoUsd } = answer
  const answered = { tokens, eachTokens, pictures: kept, echoes, reportedNanoUsd }
  const { entry, told: toldTokens } = post(run, sent, answered, outside)
  const delivery: Delivery = {
    project: entry.project,
    post: entry,
    pictures: kept,
    tokens: toldTokens,
    ...(usage && isShort(usage) ? { reported: usage } : {}),
    echoes,
    extraFields,
    emulated: offer.emulated,
  }
  try {
    await keepDelivery(hold.jobId, delivery, outside)
    await keepPictures(answer.pictures, kept, held, outside)
    await told(outside.jobs.callEnded(hold, call.attempt, 'delivered'))
    if (offer.conversion === undefined) return delivery
    const whole = { ...delivery, pictures: await converted(run, kept, answer, sent, outside) }
    await keepDelivery(hold.jobId, whole, outside)
    return whole
  } finally {
    for (const [index, picture] of answer.pictures.entries()) {
      const { sha256 } = kept[index] as KeptPicture
      if (!held.has(sha256) && !atHand?.take(sha256, picture)) picture.discard?.()
    }
  }
}

/** OpenAI's has some three hundred characters. A longer one is no count, and would be kept with every job. */
const MOST_USAGE_CHARACTERS = 4096

function isShort(usage: object): boolean {
  return JSON.stringify(usage).length <= MOST_USAGE_CHARACTERS
}

/** A picture that can't be converted is paid and kept, but it is not what the caller asked for. */
export async function converted(
  run: ImageRun,
  kept: Delivery['pictures'],
  { pictures }: Pick<ImageAnswer, 'pictures'>,
  { images, offer }: Pick<SentCall, 'images' | 'offer'>,
  outside: BuyingOutside,
): Promise<Delivery['pictures']> {
  const { conversion, deployment } = offer
  if (conversion === undefined) return kept
  const convert = (asker: Asker): Promise<Delivery['pictures']> =>
    convertPictures(kept, pictures, conversion, images, run.held, asker, outside)
  try {
    return await whenCodecIsFree(convert, { project: run.books.project, deadlineMs: run.deadlineMs }, outside)
  } catch (cause) {
    if (!(cause instanceof PictureUnreadable) && !(cause instanceof CodecBusy)) throw cause
    const what = `an image that could not be converted to ${conversion.format}: ${cause.message}`
    throw new Fault('upstream_broken_answer', `${deployment.id} sent ${what}`, { cause })
  }
}

/** The store may be told later: the kept delivery says the same. */
async function told(telling: Promise<void>): Promise<void> {
  try {
    await telling
  } catch (error) {
    if (!(error instanceof StoreAway)) throw error
  }
}

export function storeFault(cause: unknown): Fault {
  return new Fault(
    'image_store_unreachable',
    'Torana cannot reach PostgreSQL, which images need. Nothing was bought. Retry.',
    { cause, retryAfterMs: STORE_RETRY_MS },
  )
}
