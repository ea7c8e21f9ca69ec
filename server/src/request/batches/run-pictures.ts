/**
 * The line of a batch that asks for pictures. It becomes an image job with the line's own idempotency key. So whoever holds the
 * line finds the job that was begun for it, and nothing is bought twice: the chunk only begins the job, and waits for its end.
 */
import { NOTHING, withoutInput, type ChunkCounts } from '#core/batch/chunk.ts'
import type { BatchLine } from '#core/batch/line.ts'
import { PICTURE_BYTES } from '#core/batch/room.ts'
import { isEdits } from '#core/batch/request.ts'
import { idOf } from '#core/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { isBlank, LineSplitter } from '#core/files/lines.ts'
import { assetIdOf, type ImageResult } from '#core/image/delivery.ts'
import type { ImageRequest } from '#core/image/request.ts'
import { nanoUsdOf } from '#core/price.ts'
import { RequestTrace } from '#core/request-trace.ts'
import type { Semaphore } from '#core/semaphore.ts'
import type { HeldChunk } from '#ports/batches.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { ImageJob } from '#ports/image-jobs.ts'
import type { Key } from '#ports/keys.ts'
import { BATCH_EDITS_ROUTE, BATCH_PICTURES_ROUTE } from '#ports/request-reports.ts'
import { blobsOfBatch } from '../images/batch-blobs.ts'
import type { HeldBytes } from '../images/deliver.ts'
import type { RequestFiles } from '../images/files.ts'
import { generateImages, type ImageDependencies } from '../images/image.ts'
import { outcomeOfOther } from '../images/job.ts'
import type { ImageOutcome } from '../images/outcome.ts'
import { batchKey } from './batch-key.ts'
import { ChunkResults } from './chunk-results.ts'
import { MAX_HOLDERS, MAX_WAITS, pauseAfter, soonMs } from './patience.ts'
import { keepPart, partBefore } from './kept-part.ts'
import type { ChunkDependencies, ChunkOrders } from './run-chunk.ts'
import { ResultRoom } from './result-room.ts'
import { taggedLine, type PictureLine } from './picture-line.ts'
import { verdictOn } from './verdict.ts'

export interface PictureDependencies
  extends Pick<ChunkDependencies, 'batches' | 'readInput' | 'docsUrl'>, ImageDependencies {
  /** Where parts are kept, for all nodes. Pictures are in `blobs`. */
  readonly partBlobs: BlobStore
  /** Pictures in base64 are held whole while a part is made of them. */
  readonly assembling: Semaphore
  /** The line is given away. */
  readonly readLine: (
    endpoint: string,
    line: Uint8Array<ArrayBuffer>,
    project: string,
  ) => Promise<PictureLine>
  /** The body of the answer, in ASCII. Links in it are good until then, in Unix milliseconds. */
  readonly answerOf: (
    made: { readonly result: ImageResult; readonly jobId: string; readonly held: HeldBytes },
    linkedUntilMs: number,
  ) => AsyncIterable<string>
}

/** Jobs that failed with nothing bought are begun again after such waits. Then the line fails, or the batch waits. */
const RETRY_AFTER_MS = [2000, 6000]

/** How it ended for a line. `later`: nothing of the kind can run at present. `stopped`: its holder is to end. */
type LineEnd =
  | { readonly kind: 'made'; readonly job: EndedJob; readonly requestId: string }
  | { readonly kind: 'refused'; readonly fault: Fault; readonly requestId: string }
  | { readonly kind: 'later'; readonly fault: Fault }
  | { readonly kind: 'expired' | 'stopped' }

interface EndedJob {
  readonly id: string
  readonly outcome: Extract<ImageOutcome, { kind: 'made' }>
}

export async function runPictures(
  held: HeldChunk,
  orders: ChunkOrders,
  dependencies: PictureDependencies,
): Promise<void> {
  const { hold, batch } = held
  const { batches, partBlobs, docsUrl, assembling } = dependencies
  const before = await partBefore(hold, partBlobs)
  if (before !== undefined) return batches.finish(hold, before)
  const bytes = await dependencies.readInput(batch.inputFileId, held)
  const content = bytes && lineIn(bytes)
  if (content === undefined)
    return batches.finish(hold, { counts: withoutInput(held.lines), part: undefined })
  const read = async (): Promise<PictureLine> =>
    taggedLine(await dependencies.readLine(batch.endpoint, content.slice(), batch.project), batch.tags)
  const first = await read()
  const end = await new PictureRun(held, orders, dependencies).ended(first, read)
  const { customId } = first
  const line: BatchLine = { firstByte: 0, number: 0, customId, request: undefined, fault: undefined }
  const { firstLine } = held
  const results = new ChunkResults({ batchId: batch.id, firstLine, docsUrl: docsUrl() })
  if (end.kind === 'stopped')
    return batch.state === 'cancelling'
      ? batches.finish(hold, { counts: NOTHING, part: undefined })
      : batches.giveBack(hold, 0)
  if (end.kind === 'later') {
    const pauseMs = pauseAfter(end.fault)
    await batches.pause(batch.id, end.fault.code, pauseMs)
    return batches.giveBack(hold, pauseMs)
  }
  if (end.kind === 'refused') results.refused([line], end.fault, end.requestId)
  else if (end.kind === 'expired') results.expired([line])
  // Until the chunk has ended, whoever holds it finds the job by its key: when the store is away, it is all done anew.
  const part = await assembling.run(async () => {
    if (end.kind === 'made') {
      const { id, outcome } = end.job
      const until = batch.expiresAtMs + batch.resultsKeptMs
      const body = await Array.fromAsync(dependencies.answerOf({ ...outcome, jobId: id }, until))
      results.made(line, body, usedBy(outcome.result), end.requestId)
    }
    return keepPart(hold, results, undefined, partBlobs)
  })
  const pictureBytes = end.kind === 'made' ? keptBytesOf(end.job.outcome.result) : 0
  await batches.finish(hold, { ...part, pictureBytes })
}

class PictureRun {
  readonly #held: HeldChunk
  readonly #orders: ChunkOrders
  readonly #dependencies: PictureDependencies
  /** Of this line alone: no caller can send a line break. */
  readonly #jobKey: string

  constructor(held: HeldChunk, orders: ChunkOrders, dependencies: PictureDependencies) {
    this.#held = held
    this.#orders = orders
    const { batch, hold } = held
    this.#dependencies = { ...dependencies, blobs: blobsOfBatch(batch.id, dependencies.blobs) }
    this.#jobKey = `${batch.id}\n${hold.chunk}`
  }

  /** `read`: reads the line anew, since a job takes the files of an edit with it. */
  async ended(first: PictureLine, read: () => Promise<PictureLine>): Promise<LineEnd> {
    const { batch, hold } = this.#held
    const { jobs } = this.#dependencies
    // An earlier holder may have begun it. What was bought is handed out, however late it is.
    const begun = hold.token === 1 ? undefined : await jobs.findByKey(this.#jobKey, batch.project)
    const earlier = begun && (await this.#endOf(begun, begun.id))
    if (earlier === undefined || earlier instanceof Fault) return this.#run(first, read)
    await first.files.discard()
    return earlier
  }

  /** Begins jobs until one of them tells how it is with the line. Each that ended before bought nothing. */
  async #run(first: PictureLine, read: () => Promise<PictureLine>): Promise<LineEnd> {
    const { clock, identifiers, wait } = this.#dependencies
    const sinceMs = clock.monotonicMs()
    let line = first
    let failures = 0
    let waits = 0
    for (; ; line = await read()) {
      const mustStop = this.#orders.stop.isUp || this.#held.batch.state === 'cancelling'
      if (mustStop || this.#isLate) {
        await line.files.discard()
        return { kind: mustStop ? 'stopped' : 'expired' }
      }
      const { asked, fault = new Fault('internal_error', 'The line could not be read.') } = line
      const requestId = identifiers.next()
      if (asked === undefined) return { kind: 'refused', fault, requestId }
      const full = await this.#takeRoom(asked)
      if (full !== undefined) {
        await line.files.discard()
        return { kind: 'later', fault: full }
      }
      const end = await this.#once(asked, line.files, requestId)
      if (!(end instanceof Fault)) return end
      const verdict = verdictOn(end)
      if (verdict === 'later') return { kind: 'later', fault: end }
      if (verdict === 'soon') {
        waits += 1
        if (waits > MAX_WAITS) return { kind: 'later', fault: end }
        await wait(soonMs(end.retryAfterMs))
      } else if (verdict === 'failing' && failures < RETRY_AFTER_MS.length) {
        await wait(RETRY_AFTER_MS[failures] as number)
        failures += 1
      } else if (verdict === 'failing' && !this.#isLinesFault(asked, sinceMs)) {
        return { kind: 'later', fault: end }
      } else return { kind: 'refused', fault: end, requestId }
    }
  }

  /** A fault: there is no room for what the line asks for. A picture in base64 is kept in the output as well. */
  async #takeRoom({ images }: ImageRequest): Promise<Fault | undefined> {
    try {
      await new ResultRoom(this.#held, this.#dependencies).take(images * PICTURE_BYTES)
      return undefined
    } catch (error) {
      if (error instanceof Fault) return error
      throw error
    }
  }

  /** A fault: the job ended with nothing bought. */
  async #once(asked: ImageRequest, files: RequestFiles, requestId: string): Promise<LineEnd | Fault> {
    const dependencies = this.#dependencies
    const { clock } = dependencies
    const trace = new RequestTrace(clock.monotonicMs())
    const { batch } = this.#held
    const keyNow = (): Key | Promise<Key> => batchKey(batch, dependencies.terms)
    let end: LineEnd | Fault = { kind: 'stopped' }
    try {
      await using unread = new AsyncDisposableStack()
      unread.defer(() => files.discard())
      const key = await keyNow()
      // From here on the request has the files.
      unread.move()
      const begun = await generateImages(
        asked,
        {
          requestId,
          key,
          keyNow,
          unsupported: undefined,
          idempotencyKey: this.#jobKey,
          isRetry: false,
          background: { batchId: batch.id, caller: this.#orders.stop },
          dryRun: false,
          // Nobody waits on this connection, so the files of an edit are kept for a node that may have to go on.
          respondAsync: true,
          whenGone() {},
          onPreview() {},
          trace,
          files,
        },
        dependencies,
      )
      if (begun.kind !== 'queued') throw new Fault('internal_error', 'A line of a batch was not queued.')
      end = await this.#endOf(begun.job, requestId)
      if (!(end instanceof Fault) && end.kind === 'made') this.#orders.succeeded(asked.model)
      return end
    } catch (error) {
      end = faultOf(error)
      return end
    } finally {
      this.#tell(asked, requestId, trace, end)
    }
  }

  /** A fault: it ended with nothing bought, and gave up its key. `stopped`: the job goes on, and the chunk ends before it. */
  async #endOf(job: ImageJob, requestId: string): Promise<LineEnd | Fault> {
    for (;;) {
      const outcome = await outcomeOfOther(job, this.#dependencies).catch(stillRunning)
      if (outcome?.kind === 'made') return { kind: 'made', job: { id: job.id, outcome }, requestId }
      if (outcome !== undefined) {
        const keeper = await this.#dependencies.jobs.findByKey(this.#jobKey, job.project)
        const isOver = keeper?.id === job.id
        return isOver ? { kind: 'refused', fault: outcome.fault, requestId } : outcome.fault
      }
      if (this.#orders.stop.isUp) return { kind: 'stopped' }
    }
  }

  #tell(asked: ImageRequest, requestId: string, trace: RequestTrace, end: LineEnd | Fault): void {
    const { catalog, clock, observer } = this.#dependencies
    const { batch } = this.#held
    const made = !(end instanceof Fault) && end.kind === 'made' ? end.job : undefined
    const fault = end instanceof Fault ? end : end.kind === 'refused' ? end.fault : undefined
    const result = made?.outcome.result
    const [first] = result?.pictures ?? []
    trace.askedModel = asked.model
    trace.usage = result?.usage
    trace.isUnpriced = result?.costUsd === 'unpriced'
    trace.images = result?.pictures.length
    trace.asset = made && first && assetIdOf(made.id, first, batch.id)
    trace.emulated = result?.emulated ?? []
    trace.dropped = result?.dropped ?? []
    observer.requestEnded({
      requestId,
      route: isEdits(batch.endpoint) ? BATCH_EDITS_ROUTE : BATCH_PICTURES_ROUTE,
      status: fault?.entry.status ?? 200,
      fault: fault?.code,
      cause: fault?.cause,
      clientRequestId: batch.id,
      project: batch.project,
      key: batch.keyId.slice(batch.project.length + 1),
      keyId: batch.keyId,
      model: idOf(catalog(), asked.model),
      deployment: result?.deployments.join() ?? fault?.upstream?.deployment,
      attempts: result?.attempts,
      inputs: asked.images,
      extraImages: result?.extra?.length,
      amountNanoUsd: result && usedBy(result).costNanoUsd,
      trace,
      user: asked.user,
      tags: asked.tags,
      durationMs: clock.monotonicMs() - trace.startedMs,
    })
  }

  get #isLate(): boolean {
    const { batch, isLate } = this.#held
    return isLate || batch.expiresAtMs <= this.#dependencies.clock.nowMs()
  }

  /** Where others succeed meanwhile, a line that fails again and again is at fault itself. */
  #isLinesFault({ model }: ImageRequest, sinceMs: number): boolean {
    return this.#orders.succeededSince(model, sinceMs) || this.#held.hold.token >= MAX_HOLDERS
  }
}

/** A chunk of pictures is one line. */
function lineIn(bytes: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  const splitter = new LineSplitter({ firstLine: 0, firstByte: 0 })
  for (const { content } of [...splitter.push(bytes), ...splitter.end()])
    if (content !== undefined && !isBlank(content)) return new Uint8Array(content)
  return undefined
}

function usedBy({
  costUsd,
  tokens,
}: ImageResult): Pick<ChunkCounts, 'tokens' | 'outputTokens' | 'costNanoUsd'> {
  const { textInput = 0, imageInput = 0, textOutput = 0, imageOutput = 0 } = tokens
  const outputTokens = textOutput + imageOutput
  return {
    tokens: textInput + imageInput + outputTokens,
    outputTokens,
    costNanoUsd: costUsd === 'unpriced' ? 0n : nanoUsdOf(costUsd),
  }
}

/** Of pictures that lie in the folder of the batch, those that Torana converted included. */
function keptBytesOf({ pictures }: ImageResult): number {
  return pictures.reduce((sum, { bytes, converted }) => sum + bytes + (converted?.bytes ?? 0), 0)
}

function stillRunning(error: unknown): undefined {
  if (!(error instanceof Fault) || error.code !== 'upstream_timeout') throw error
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error
  return new Fault('internal_error', 'The gateway failed. The log has the cause under this request id.', {
    cause: error,
  })
}
