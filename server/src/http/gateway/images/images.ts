/** `POST /v1/images/generations` and `/v1/images/edits`. Everything one request does at the listener is in this file, in order. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PathModel } from '#core/request/path-model.ts'
import { Fault } from '#core/fault/fault.ts'
import type { ImageRequest } from '#core/image/request.ts'
import type { Key, KeyDirectory } from '#ports/keys.ts'
import type { RequestTrace } from '#ports/observer.ts'
import { authenticate } from '#request/access/authenticate.ts'
import {
  generateImages,
  type ImageDependencies,
  type ImageDryRun,
  type Made,
  type Queued,
} from '#request/images/image.ts'
import { toFault } from '../../faults.ts'
import { clientRequestId, isDryRun, singleOf, unsupportedIn, writeFault } from '../caller/caller.ts'
import { ImageEvents } from './events.ts'
import { jobView } from './job-view.ts'
import { writeImages, type AnswerOutside } from './answer.ts'
import { presentedKey } from '../caller/presented-key.ts'
import type { ReadRequest } from './read-request.ts'
import { endUnread } from '../caller/unread.ts'

export interface ImagesDependencies extends ImageDependencies, AnswerOutside {
  readonly keys: KeyDirectory
  /** Where error pages are served. */
  readonly docsUrl: () => string
}

export type ImagesHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  path?: PathModel,
) => Promise<void>

/** `read` is what generations and edits differ in. */
export function imagesHandler(
  route: 'images' | 'image-edits',
  read: ReadRequest,
  dependencies: ImagesDependencies,
): ImagesHandler {
  const { clock, identifiers, keys, observer } = dependencies

  return async function serve(request, response, path) {
    const startedMs = clock.monotonicMs()
    const requestId = identifiers.next()
    const trace: RequestTrace = { calls: [] }
    let key: Key | undefined
    let asked: ImageRequest | undefined
    let events: ImageEvents | undefined
    let made: Made | undefined
    let status = 200
    let fault: Fault | undefined
    try {
      // A picture takes seconds: a hundred requests that come at once begin one after another, not in one go.
      await dependencies.nextTurn()
      key = await authenticate(presentedKey(request.headers), keys, clock)
      const options = optionsIn(request)
      const { files, ...rest } = await read(request, path)
      asked = rest.asked
      if (asked.stream) events = eventsOf(asked, response, requestId, dependencies)
      const outcome = await generateImages(
        asked,
        {
          requestId,
          key,
          trace,
          files,
          ...options,
          onPreview: (preview) => events?.preview(preview),
        },
        dependencies,
      )
      if (outcome.kind === 'made') {
        made = outcome
        await answer(response, outcome, requestId, events, dependencies)
      } else {
        events?.cancel()
        if (outcome.kind === 'dry-run') writeDryRun(response, outcome, requestId)
        else {
          status = 202
          await writeQueued(response, outcome, requestId, dependencies)
        }
      }
    } catch (error) {
      fault = toFault(error)
      status = fault.entry.status
      const isTold = (await events?.fail(fault, dependencies.docsUrl())) === true
      if (!isTold) writeFault(response, fault, requestId, dependencies.docsUrl(), !request.complete)
      if (!request.complete) endUnread(request, response)
    }
    observer.requestEnded({
      requestId,
      route,
      status,
      fault: fault?.code,
      cause: fault?.cause,
      clientRequestId: clientRequestId(request),
      project: key?.project,
      key: key?.name,
      keyId: key?.id,
      model: made?.model.id ?? (asked && dependencies.catalog().models.get(asked.model)?.id),
      deployment: made?.result.deployments.join() ?? fault?.upstream?.deployment,
      attempts: made?.result.attempts,
      inputs: asked?.images,
      trace,
      user: asked?.user,
      durationMs: clock.monotonicMs() - startedMs,
    })
  }
}

function eventsOf(
  { edit }: ImageRequest,
  response: ServerResponse,
  requestId: string,
  { clock, nextTurn }: ImagesDependencies,
): ImageEvents {
  const kind = edit === undefined ? 'image_generation' : 'image_edit'
  return new ImageEvents(response, requestId, { kind, nowMs: clock.nowMs, nextTurn })
}

async function answer(
  response: ServerResponse,
  { result, jobId, rates, held }: Made,
  requestId: string,
  events: ImageEvents | undefined,
  dependencies: ImagesDependencies,
): Promise<void> {
  const received = whenReceived(response)
  const meta = { requestId, jobId, rates, held }
  if (events === undefined) await writeImages(response, result, meta, dependencies)
  else await events.complete(result, meta, dependencies)
  // Only an answer that nobody received may be asked for again by an SDK's own retry.
  if (await received)
    await dependencies.jobs.answered(jobId).catch((error: unknown) => dependencies.unended(jobId, error))
}

/** Whether the whole answer was handed to the network while the client was there. */
function whenReceived(response: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    response.once('finish', () => resolve(true))
    response.once('close', () => resolve(false))
    if (response.destroyed) resolve(false)
  })
}

/** OpenAI's own bound on such keys. */
const MAX_IDEMPOTENCY_KEY = 255

function optionsIn(request: IncomingMessage): {
  readonly unsupported: 'refuse' | 'drop' | undefined
  readonly dryRun: boolean
  readonly idempotencyKey: string | undefined
  readonly isRetry: boolean
  readonly respondAsync: boolean
} {
  const { headers } = request
  const idempotencyKey = singleOf(headers['idempotency-key'])
  if (
    idempotencyKey !== undefined &&
    !/^[\x21-\x7e]+$/.test(idempotencyKey.slice(0, MAX_IDEMPOTENCY_KEY + 1))
  )
    throw keyFault('must be visible ASCII characters without spaces')
  if (idempotencyKey !== undefined && idempotencyKey.length > MAX_IDEMPOTENCY_KEY)
    throw keyFault(`has ${idempotencyKey.length} characters; at most ${MAX_IDEMPOTENCY_KEY} are allowed`)
  const preferences = (singleOf(headers['prefer']) ?? '').split(',').map((word) => word.trim().toLowerCase())
  return {
    unsupported: unsupportedIn(request),
    dryRun: isDryRun(request),
    idempotencyKey,
    isRetry: Number(singleOf(headers['x-stainless-retry-count']) ?? 0) >= 1,
    respondAsync: preferences.includes('respond-async'),
  }
}

function keyFault(what: string): Fault {
  return new Fault('invalid_parameter', `The header Idempotency-Key ${what}.`, { param: 'idempotency-key' })
}

async function writeQueued(
  response: ServerResponse,
  { job }: Queued,
  requestId: string,
  dependencies: ImagesDependencies,
): Promise<void> {
  response.writeHead(202, {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': requestId,
    'x-torana-job': job.id,
    'preference-applied': 'respond-async',
    location: `/v1/images/jobs/${job.id}`,
  })
  for await (const piece of jobView(job, dependencies)) response.write(piece)
  response.end()
}

function writeDryRun(
  response: ServerResponse,
  { model, deployments, dropped }: ImageDryRun,
  requestId: string,
): void {
  const body = {
    object: 'torana.dry_run',
    model: model.id,
    dropped,
    deployments: deployments.map(({ id, calls, emulated, maxCostUsd }) => ({
      id,
      calls,
      native: emulated.length === 0,
      emulated,
      cost_usd: { min: maxCostUsd === 'unpriced' ? 'unpriced' : '0.000000000', max: maxCostUsd },
    })),
  }
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'x-request-id': requestId })
  response.end(JSON.stringify(body))
}
