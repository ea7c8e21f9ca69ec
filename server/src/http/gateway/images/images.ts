/**
 * `POST /v1/images/generations` and `/v1/images/edits`. This file holds the steps of an image request,
 * `caller/journey.ts` their order.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { idOf } from '#core/catalog/catalog.ts'
import type { FairShare } from '#core/schedule/fair-share.ts'
import { Fault } from '#core/fault/fault.ts'
import { assetIdOf } from '#core/image/delivery.ts'
import type { ImageRequest } from '#core/image/request.ts'
import { nanoUsdOf } from '#core/money/price.ts'
import { endNotice } from '#core/catalog/model-end.ts'
import { TAGS_HEADER, tagsInHeader, withHeaderTags } from '#core/request/labels.ts'
import type { RequestTrace } from '#core/request/request-trace.ts'
import { serverTiming } from '#core/request/server-timing.ts'
import { PicturesAtHand } from '#request/images/at-hand.ts'
import {
  generateImages,
  type ImageDependencies,
  type ImageDryRun,
  type ImageOptions,
  type MadeImages,
  type QueuedJob,
} from '#request/images/image.ts'
import { isDryRun, singleOf, unsupportedIn, writeFault } from '../caller/caller.ts'
import { costRange, writeDryRun } from '../caller/dry-run.ts'
import { handlerOf, type Journey, type ListenerDependencies, type RequestHandler } from '../caller/journey.ts'
import { repetitionIn } from '../caller/repetition.ts'
import { endUnread } from '../../gate/unread.ts'
import type { BatchesDependencies } from '../batches/batches.ts'
import { headerText, writeParts } from '../caller/writing.ts'
import { writeImages, type AnswerOutside } from './answer.ts'
import { ImageEvents } from './events.ts'
import { jobView } from './job-view.ts'
import type { ReadImageRequest, ReadRequest } from './read-request.ts'

/** Includes batches, since their images are kept as long as their results. */
export interface ImagesDependencies
  extends ImageDependencies, AnswerOutside, ListenerDependencies, Pick<BatchesDependencies, 'forBatches'> {
  /** Memory for stored images while their answers are written. */
  readonly answerRoom: FairShare
}

interface ReceivedImages extends ReadImageRequest {
  readonly options: CallerOptions
}

interface AskedImages extends ReceivedImages {
  /** Undefined if the caller wants one answer, not a stream. */
  readonly events: ImageEvents | undefined
  /** Undefined if no caller waits for the images. */
  readonly atHand: PicturesAtHand | undefined
  /** Resolves once the answer is written and the store knows whether the client has it. */
  readonly answered: PromiseWithResolvers<void>
}

/** `read` is the step in which generations and edits differ. */
export function imagesHandler(
  route: 'images' | 'image-edits',
  read: ReadRequest,
  dependencies: ImagesDependencies,
): RequestHandler {
  const { catalog, docsUrl, yieldLoop } = dependencies
  return handlerOf<ReceivedImages, AskedImages, MadeImages | QueuedJob | ImageDryRun>(
    {
      route,
      scope: route === 'images' ? 'images' : 'edits',
      // An image takes seconds: of a hundred requests that come at once, each begins in a turn of its own.
      turn: yieldLoop,
      async receive(journey, key) {
        const options = optionsIn(journey.request)
        const tags = tagsInHeader(journey.request.headers[TAGS_HEADER])
        journey.mayJoin = options.idempotencyKey !== undefined || options.isRetry
        const { asked, files } = await read(journey, key)
        try {
          if (options.respondAsync && asked.stream) throw streamFault()
          return { options, asked: { ...asked, tags: withHeaderTags(asked.tags, tags) }, files }
        } catch (error) {
          await files.discard()
          throw error
        }
      },
      read: (received, journey, { project }) => ({
        ...received,
        atHand: received.options.respondAsync
          ? undefined
          : new PicturesAtHand(project, dependencies.answerRoom),
        events: eventsFor(received.asked, journey, dependencies),
        answered: Promise.withResolvers(),
      }),
      run({ asked, files, options, events, atHand, answered }, key, { response, requestId, trace, counted }) {
        const onPreview: ImageOptions['onPreview'] = (preview) => events?.preview(preview)
        const whenGone: ImageOptions['whenGone'] = (gone) => onceGone(response, answered.promise, gone)
        const all = { requestId, key, trace, counted, files, ...options, onPreview, whenGone, atHand }
        return generateImages(asked, all, dependencies)
      },
      async write(outcome, { events, atHand, answered }, journey) {
        using _ = atHand
        const { response, requestId } = journey
        if (outcome.kind === 'made') await answer(journey, { ...outcome, atHand }, events, dependencies)
        else {
          events?.cancel()
          if (outcome.kind === 'queued') await writeQueued(response, outcome, requestId, dependencies)
          else writeDryRun(response, requestId, dryRunBody(outcome))
        }
        answered.resolve()
      },
      async fail(fault, asked, { request, response, requestId, trace }) {
        using _ = asked?.atHand
        asked?.answered.resolve()
        const isSent = (await asked?.events?.fail(fault, docsUrl())) === true
        if (isSent) endUnread(request, response)
        else trace.bytesOut = writeFault(response, fault, requestId, docsUrl())
      },
      fillRecord(record, { asked }, outcome) {
        const { trace } = record
        record.inputs = asked.images
        record.user = asked.user
        record.tags = asked.tags
        trace.askedModel = asked.model
        if (outcome?.kind !== 'made') {
          record.model = idOf(catalog(), asked.model)
          return
        }
        record.model = outcome.model.id
        record.deployment = outcome.result.deployments.join()
        record.attempts = outcome.result.attempts
        record.extraImages = outcome.result.extra?.length
        const { costUsd } = outcome.result
        record.amountNanoUsd = costUsd === 'unpriced' ? undefined : nanoUsdOf(costUsd)
        noteAnswer(trace, outcome)
      },
    },
    dependencies,
  )
}

/** What the log says of an answer besides what metrics count. */
function noteAnswer(trace: RequestTrace, { result, jobId }: MadeImages): void {
  const [first] = result.pictures
  trace.usage = result.usage
  trace.isUnpriced = result.costUsd === 'unpriced'
  trace.images = result.pictures.length
  trace.asset = first && assetIdOf(jobId, first, result.batchId)
  trace.emulated = result.emulated
  trace.dropped = result.dropped
}

function eventsFor(
  asked: ImageRequest,
  { response, requestId }: Journey,
  dependencies: ImagesDependencies,
): ImageEvents | undefined {
  if (!asked.stream) return undefined
  const { clock, yieldLoop } = dependencies
  const ends = noticeFor(asked.model, dependencies)
  return new ImageEvents(response, requestId, { asked, ends, nowMs: clock.nowMs, yieldLoop })
}

/** The value of `x-torana-model-ends` for a model by id or alias; undefined if the header is left out. */
export function noticeFor(
  model: string,
  { catalog, clock }: Pick<ImagesDependencies, 'catalog' | 'clock'>,
): string | undefined {
  return endNotice(catalog().models.get(model)?.end, clock.nowMs)
}

async function answer(
  { response, requestId, trace }: Journey,
  { model, result, jobId, rates, held, atHand }: MadeImages & Pick<AskedImages, 'atHand'>,
  events: ImageEvents | undefined,
  dependencies: ImagesDependencies,
): Promise<void> {
  const received = whenReceived(response)
  const { clock, serverTiming: isTimed } = dependencies
  // A request that joined a job waited for calls that are not its own.
  const timing = isTimed && trace.calls.length > 0 ? serverTiming(trace, clock.monotonicMs()) : undefined
  const ends = endNotice(model.end, clock.nowMs)
  const meta = { requestId, jobId, rates, held, atHand, timing, ends }
  trace.bytesOut = await (events === undefined
    ? writeImages(response, result, meta, dependencies)
    : events.complete(result, meta, dependencies))
  await noteAnswered(jobId, received, dependencies)
}

/** An SDK's own retry may repeat only a request whose answer the client did not receive. */
async function noteAnswered(
  jobId: string,
  received: Promise<boolean>,
  { jobs, unended }: ImagesDependencies,
): Promise<void> {
  if (await received) await jobs.answered(jobId).catch((error: unknown) => unended(jobId, error))
}

/** True when the whole answer was handed to the network while the client was still connected. */
function whenReceived(response: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    response.once('finish', () => resolve(true))
    response.once('close', () => resolve(false))
    if (response.destroyed) resolve(false)
  })
}

/** A client that left counts as gone at once. One that has its answer counts as gone when the store knows. */
function onceGone(response: ServerResponse, answered: Promise<void>, gone: () => void): void {
  const closed = (): void => {
    if (response.writableFinished) void answered.then(gone)
    else gone()
  }
  if (response.closed) closed()
  else response.once('close', closed)
}

type CallerOptions = Pick<
  ImageOptions,
  'unsupported' | 'dryRun' | 'idempotencyKey' | 'isRetry' | 'respondAsync'
>

function optionsIn(request: IncomingMessage): CallerOptions {
  const { headers } = request
  const preferences = (singleOf(headers['prefer']) ?? '').split(',').map((word) => word.trim().toLowerCase())
  return {
    unsupported: unsupportedIn(request),
    dryRun: isDryRun(request),
    ...repetitionIn(request),
    respondAsync: preferences.includes('respond-async'),
  }
}

function streamFault(): Fault {
  return new Fault(
    'invalid_parameter',
    'stream is true, but Prefer: respond-async asks for an answer without the images. Send one of them.',
    { param: 'stream' },
  )
}

async function writeQueued(
  response: ServerResponse,
  { job }: QueuedJob,
  requestId: string,
  dependencies: ImagesDependencies,
): Promise<void> {
  const received = whenReceived(response)
  const ends = noticeFor(job.model, dependencies)
  response.writeHead(202, {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': requestId,
    'x-torana-job': job.id,
    ...(ends !== undefined && { 'x-torana-model-ends': headerText(ends) }),
    'preference-applied': 'respond-async',
    location: `/v1/images/jobs/${job.id}`,
  })
  await writeParts(response, jobView(job, dependencies))
  if (!response.destroyed) response.end()
  await noteAnswered(job.id, received, dependencies)
}

function dryRunBody({ model, deployments, dropped }: ImageDryRun) {
  return {
    model: model.id,
    dropped,
    deployments: deployments.map(({ id, calls, emulated, maxCostUsd }) => ({
      id,
      calls,
      native: emulated.length === 0,
      emulated,
      cost_usd: costRange(maxCostUsd),
    })),
  }
}
