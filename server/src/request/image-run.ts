/**
 * Buys the pictures of one job: one call or several side by side, each at most once. A call whose end is not known is never
 * made again; one that provably bought nothing may be made at the next deployment.
 */
import type { ImageModel } from '#core/catalog.ts'
import { UpstreamFailure } from '#core/failure.ts'
import { Fault } from '#core/fault.ts'
import { callCost, maxCallCost } from '#core/image/cost.ts'
import type { Delivery } from '#core/image/delivery.ts'
import { fanOut, type ImageOffer } from '#core/image/negotiate.ts'
import type { ImageRequest } from '#core/image/request.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import { CodecBusy, PictureUnreadable } from '#ports/image-codec.ts'
import { JobLost, type Hold, type ImageJobs } from '#ports/image-jobs.ts'
import type { EditCall, ImageAnswer, ImageUpstream, Preview } from '#ports/image-upstream.ts'
import type { Observer, RequestTrace } from '#ports/observer.ts'
import { StoreAway } from '#ports/store.ts'
import type { Admission, BegunCall } from './admission.ts'
import {
  convertPictures,
  describePictures,
  keepDelivery,
  keepPictures,
  type HeldBytes,
  type KeepingOutside,
} from './image-deliver.ts'
import type { ByteBudget } from './byte-budget.ts'
import type { EditInputs } from './edit-call.ts'
import type { CallNotes } from './image-notes.ts'
import { Lanes } from './lanes.ts'

export interface BuyingOutside extends KeepingOutside {
  readonly imageUpstream: ImageUpstream
  readonly jobs: ImageJobs
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly observer: Observer
  readonly wait: (ms: number) => Promise<unknown>
  /** For files that an upstream's wire can't take from disk. */
  readonly memory: ByteBudget
}

/** Where the calls of a job are accounted for. */
export type CallBooks = Pick<Admission, 'beginCall' | 'paid' | 'failed'>

/** What every call of one job shares. */
export interface ImageRun {
  readonly hold: Hold
  readonly request: ImageRequest
  readonly model: ImageModel
  readonly books: CallBooks
  readonly notes: CallNotes
  /** On the monotonic clock. */
  readonly deadlineMs: number
  readonly trace: RequestTrace
  readonly held: HeldBytes
  readonly onPreview: (preview: Preview) => void
  /** Undefined: there is nothing to edit. */
  readonly inputs: EditInputs | undefined
}

/** What came of the calls: pictures, and the reasons why there are not more. */
export interface Bought {
  readonly deliveries: readonly Delivery[]
  readonly failures: readonly unknown[]
}

/** So many pictures from the first offer that can, the later ones standing by for what fails. */
export async function buy(
  run: ImageRun,
  images: number,
  offers: readonly ImageOffer[],
  outside: BuyingOutside,
): Promise<Bought> {
  const [offer] = offers
  if (offer === undefined) throw new Fault('internal_error', 'No deployment was left to try.')
  const { maxImages, maxParallelCalls } = offer.deployment.capabilities
  const lanes = new Lanes(maxParallelCalls)
  const bought = await Promise.all(
    fanOut(images, maxImages).map((count) => lanes.run(() => buyPart(run, count, offers, outside))),
  )
  return {
    deliveries: bought.flatMap(({ deliveries }) => deliveries),
    failures: bought.flatMap(({ failures }) => failures),
  }
}

async function buyPart(
  run: ImageRun,
  images: number,
  offers: readonly ImageOffer[],
  outside: BuyingOutside,
): Promise<Bought> {
  const [offer] = offers as readonly [ImageOffer]
  try {
    return { deliveries: [await callOnce(run, images, offer, outside)], failures: [] }
  } catch (error) {
    // Somebody else works on this job now.
    if (error instanceof JobLost) throw error
    const mayTryAnother = error instanceof UpstreamFailure && error.mayTryAnother && !error.mayBeCharged
    if (mayTryAnother && offers.length > 1) return buy(run, images, offers.slice(1), outside)
    return { deliveries: [], failures: [error] }
  }
}

async function callOnce(
  run: ImageRun,
  images: number,
  offer: ImageOffer,
  outside: BuyingOutside,
): Promise<Delivery> {
  const { books, hold, request, model } = run
  const { deployment } = offer
  // Not before a call is noted: what fails here has bought nothing.
  using buffers = await outside.memory.take(
    run.inputs?.bufferedBytes(offer) ?? 0,
    run.deadlineMs - outside.clock.monotonicMs(),
    outside.wait,
  )
  const edit = await run.inputs?.callFor(offer)
  if (buffers === undefined || run.deadlineMs <= outside.clock.monotonicMs()) {
    const detail = { deployment: deployment.id, charge: 'none' } as const
    throw new UpstreamFailure('timedOut', 'the time of the whole request had run out', detail)
  }
  const callId = outside.identifiers.next()
  const most = maxCallCost(request, model, offer, images)
  const note = {
    note: (attempt: number) =>
      outside.jobs.dispatched(hold, { attempt, callId, part: attempt, images, deployment: deployment.id }),
    takeBack: (attempt: number) => told(outside.jobs.callEnded(hold, attempt, 'failed')),
  }
  const begin = (): Promise<BegunCall> => books.beginCall(callId, deployment.id, most)
  const call = await run.notes.during(callId, note, begin).catch((error: unknown) => {
    throw error instanceof StoreAway ? storeFault(error) : error
  })
  return await exchange(run, { call, callId, images, offer, submitted: undefined, edit }, outside)
}

export interface SentCall {
  readonly call: BegunCall
  readonly callId: string
  readonly images: number
  readonly offer: ImageOffer
  /** What a polled upstream answered an earlier process. */
  readonly submitted: string | undefined
  readonly edit: EditCall | undefined
}

/** One exchange with an upstream, from the moment it may have been sent to the moment its pictures are kept. */
export async function exchange(run: ImageRun, sent: SentCall, outside: BuyingOutside): Promise<Delivery> {
  const { books, hold } = run
  const { call, offer } = sent
  const startedMs = outside.clock.monotonicMs()
  const ended = (outcome: string, failure?: UpstreamFailure): void =>
    record(run, sent, { outcome, failure, durationMs: outside.clock.monotonicMs() - startedMs }, outside)
  let answer: ImageAnswer
  try {
    answer = await outside.imageUpstream.generate(
      {
        ...offer,
        callId: sent.callId,
        prompt: run.request.prompt,
        images: sent.images,
        timeoutMs: Math.max(1, run.deadlineMs - startedMs),
        submitted: sent.submitted,
        edit: sent.edit,
      },
      {
        // Should it not be written down, this process still knows it.
        submitted: (text) => told(outside.jobs.submitted(hold, call.attempt, text)),
        partial: run.onPreview,
      },
    )
  } catch (error) {
    const failure = error instanceof UpstreamFailure ? error : undefined
    books.failed(call, failure)
    ended(failure?.kind ?? 'fault', failure)
    if (error instanceof JobLost) throw error
    const isFree = failure !== undefined && !failure.mayBeCharged
    await told(outside.jobs.callEnded(hold, call.attempt, isFree ? 'failed' : 'unknown'))
    throw failure ?? unforeseen(error, offer.deployment.id)
  }
  ended('ok')
  return deliver(run, sent, answer, outside)
}

/** What failed here may have happened after the upstream was paid. */
function unforeseen(cause: unknown, deployment: string): UpstreamFailure {
  const message = 'the gateway failed while the call was under way'
  const failure = new UpstreamFailure('broken', message, { deployment, charge: 'unknown' })
  failure.cause = cause
  return failure
}

/** The record first, by the digests of the pictures: once the last of them is kept, whoever takes the job over finds all. */
async function deliver(
  run: ImageRun,
  { call, offer }: SentCall,
  answer: ImageAnswer,
  outside: BuyingOutside,
): Promise<Delivery> {
  const { books, hold, request, model, held } = run
  const kept = await describePictures(answer.pictures, outside)
  const paid = callCost({
    request,
    model,
    offer,
    tokens: answer.tokens,
    pictures: kept,
    echoes: answer.echoes,
  })
  const post = books.paid(call, {
    usage: paid.source,
    tokens: paid.tokens,
    images: kept.length,
    cost: paid.cost,
  })
  const { tokens, echoes, extraFields } = answer
  const delivery: Delivery = {
    project: post.project,
    post,
    pictures: kept,
    tokens,
    echoes,
    extraFields,
    emulated: offer.emulated,
  }
  await keepDelivery(hold.jobId, delivery, outside)
  await keepPictures(answer.pictures, kept, held, outside)
  await told(outside.jobs.callEnded(hold, call.attempt, 'delivered'))
  if (offer.conversion === undefined) return delivery
  const whole = { ...delivery, pictures: await converted(run, kept, answer, offer, outside) }
  await keepDelivery(hold.jobId, whole, outside)
  return whole
}

/** A while after which the codec may have less to do. */
const CODEC_WAIT_MS = 500

/** A picture that can't be converted is paid and kept, but is not what was asked for. */
export async function converted(
  run: ImageRun,
  kept: Delivery['pictures'],
  { pictures }: Pick<ImageAnswer, 'pictures'>,
  { conversion, deployment }: ImageOffer,
  outside: BuyingOutside,
): Promise<Delivery['pictures']> {
  if (conversion === undefined) return kept
  for (;;) {
    try {
      return await convertPictures(kept, pictures, conversion, run.held, outside)
    } catch (cause) {
      const mayWait = run.deadlineMs > outside.clock.monotonicMs()
      if (cause instanceof CodecBusy && mayWait) await outside.wait(CODEC_WAIT_MS)
      else if (cause instanceof PictureUnreadable || cause instanceof CodecBusy) {
        const what = `a picture that could not be converted to ${conversion.format}: ${cause.message}`
        throw new Fault('upstream_broken_answer', `${deployment.id} sent ${what}`, { cause })
      } else throw cause
    }
  }
}

/** The store need not hear of it at once: what was kept says it too. */
async function told(telling: Promise<void>): Promise<void> {
  try {
    await telling
  } catch (error) {
    if (!(error instanceof StoreAway)) throw error
  }
}

function record(
  run: ImageRun,
  { callId, offer, images }: SentCall,
  {
    outcome,
    failure,
    durationMs,
  }: { outcome: string; failure: UpstreamFailure | undefined; durationMs: number },
  { observer }: BuyingOutside,
): void {
  const deployment = offer.deployment.id
  const { status, code } = failure?.detail ?? {}
  run.trace.calls.push({ callId, deployment, outcome, status, durationMs })
  const isInUpstreamsWords = failure !== undefined && failure.kind !== 'broken' && status !== undefined
  observer.callEnded({
    requestId: run.hold.jobId,
    callId,
    model: run.model.id,
    deployment,
    outcome,
    reason: isInUpstreamsWords ? undefined : failure?.message,
    code,
    status,
    inputs: images,
    durationMs,
  })
}

export function storeFault(cause: unknown): Fault {
  return new Fault(
    'image_store_unreachable',
    'The store of image jobs can not be reached. Nothing was bought; retry.',
    { cause },
  )
}
