/**
 * Runs the line of a batch that asks for images. The line becomes an image job under the line's own
 * idempotency key, so that a later holder of the line finds the same job and nothing is bought twice. The
 * chunk only begins the job and waits for its end.
 */
import { NOTHING, withoutInput } from '#core/batch/chunk.ts'
import { linesIn } from '#core/batch/line.ts'
import type { PartRanges } from '#core/batch/part.ts'
import { PICTURE_BYTES } from '#core/batch/room.ts'
import { isEdits } from '#core/batch/request.ts'
import { idOf } from '#core/catalog/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { assetIdOf, type ImageResult } from '#core/image/delivery.ts'
import type { ImageRequest } from '#core/image/request.ts'
import { nanoUsdOf } from '#core/money/price.ts'
import { RequestTrace } from '#core/request/request-trace.ts'
import type { Semaphore } from '#core/structure/semaphore.ts'
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
import { batchRecord } from './batch-record.ts'
import { ChunkResults } from './chunk-results.ts'
import { keepPart, partBefore } from './kept-part.ts'
import { ResultRoom } from './result-room.ts'
import { taggedLine, type PictureLine } from './picture-line.ts'
import type { ChunkDependencies } from './run-chunk.ts'
import { faultOf, LineLoop, type ChunkOrders, type LineWork, type Trouble } from './run-lines.ts'

export interface PictureDependencies
  extends Pick<ChunkDependencies, 'batches' | 'readInput' | 'docsUrl'>, ImageDependencies {
  /** Store of the parts, shared by all nodes. The images are in `blobs`. */
  readonly partBlobs: BlobStore
  /** Bounds the parts that hold images in base64 in memory. */
  readonly assembling: Semaphore
  /** The caller takes ownership of the files. */
  readonly readLine: (endpoint: string, line: Uint8Array, project: string) => Promise<PictureLine>
  /** The answer's body in ASCII, with links that are valid until `expiresAtMs`, in Unix milliseconds. */
  readonly answerOf: (
    made: { readonly result: ImageResult; readonly jobId: string; readonly held: HeldBytes },
    linkedUntilMs: number,
  ) => AsyncIterable<string>
}

/** How a line ended. `later`: lines of this kind can't run at present. `stopped`: the holder must stop. */
type LineEnd =
  | { readonly kind: 'made'; readonly job: EndedJob; readonly requestId: string }
  | { readonly kind: 'refused'; readonly fault: Fault; readonly requestId: string }
  | { readonly kind: 'later'; readonly trouble: Trouble }
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
  const { batches, partBlobs, bytesOf, docsUrl, assembling } = dependencies
  const before = await partBefore(held, partBlobs)
  if (before !== undefined) return batches.finish(hold, before)
  const bytes = await dependencies.readInput(batch.inputFileId, held)
  const content = bytes && lineIn(bytes)
  if (content === undefined)
    return batches.finish(hold, { counts: withoutInput(held.lines), part: undefined })
  const read = async (): Promise<PictureLine> =>
    taggedLine(await dependencies.readLine(batch.endpoint, content, batch.project), batch.tags)
  const first = await read()
  const end = await new PictureRun(held, orders, dependencies).ended(first, read)
  const { customId } = first
  const line = { number: 0, customId }
  const { firstLine } = held
  const results = new ChunkResults({ batchId: batch.id, firstLine, docsUrl: docsUrl(), bytesOf })
  if (end.kind === 'stopped')
    return batch.state === 'cancelling'
      ? batches.finish(hold, { counts: NOTHING, part: undefined })
      : batches.giveBack(hold, 0)
  if (end.kind === 'later') {
    const { fault, pauseMs } = end.trouble
    await batches.pause(batch.id, fault.code, pauseMs)
    return batches.giveBack(hold, pauseMs)
  }
  if (end.kind === 'refused') results.refused([line], end.fault, end.requestId)
  else if (end.kind === 'expired') results.expired([line])
  // The job can be found by its key until the chunk has ended. When the store is unreachable, the next holder
  // repeats this step.
  const part = await assembling.run(async () => {
    if (end.kind === 'made') {
      const { id, outcome } = end.job
      const until = batch.expiresAtMs + batch.resultsKeptMs
      const body = await Array.fromAsync(dependencies.answerOf({ ...outcome, jobId: id }, until))
      results.made(line, body, outputTokensOf(outcome.result), end.requestId)
    }
    return keepPart(hold, results, WHOLE, partBlobs)
  })
  const pictureBytes = end.kind === 'made' ? keptBytesOf(end.job.outcome.result) : 0
  await batches.finish(hold, { ...part, pictureBytes })
}

/** A chunk of images is one line. */
const WHOLE: PartRanges = { done: undefined, rest: undefined }

class PictureRun {
  readonly #held: HeldChunk
  readonly #orders: ChunkOrders
  readonly #loop: LineLoop
  readonly #dependencies: PictureDependencies
  /** Unique to this line: a caller can't send a line break. */
  readonly #jobKey: string

  constructor(held: HeldChunk, orders: ChunkOrders, dependencies: PictureDependencies) {
    this.#held = held
    this.#orders = orders
    const { batch, hold } = held
    this.#dependencies = { ...dependencies, blobs: blobsOfBatch(batch.id, dependencies.blobs) }
    this.#jobKey = `${batch.id}\n${hold.chunk}`
    this.#loop = new LineLoop(held, orders, this.#dependencies)
  }

  /** `read` reads the line again, since a job takes ownership of the files of an edit. */
  async ended(first: PictureLine, read: () => Promise<PictureLine>): Promise<LineEnd> {
    const { batch, hold } = this.#held
    const { jobs } = this.#dependencies
    // An earlier holder may have begun the job. What it bought is handed out, however late.
    const begun = hold.token === 1 ? undefined : await jobs.findByKey(this.#jobKey, batch.project)
    const earlier = begun && (await this.#endOf(begun, begun.id))
    if (earlier === undefined || earlier instanceof Fault) return this.#run(first, read)
    await first.files.discard()
    return earlier
  }

  /** Begins jobs until one decides the line. Every job before it bought nothing. */
  async #run(first: PictureLine, read: () => Promise<PictureLine>): Promise<LineEnd> {
    const { catalog, identifiers } = this.#dependencies
    const { asked, fault = new Fault('internal_error', 'The line could not be read.') } = first
    if (asked === undefined) return { kind: 'refused', fault, requestId: identifiers.next() }
    let end: LineEnd | undefined
    /** A job takes ownership of the files of an edit, so the line is read again for the next job. */
    let unread: PictureLine | undefined = first
    const mustStop = (): boolean => this.#orders.stop.isUp || this.#held.batch.state === 'cancelling'
    const work: LineWork<ImageRequest> = {
      model: idOf(catalog(), asked.model) ?? asked.model,
      nameOf: () => this.#jobKey,
      attempt: async (_lines, requestId) => {
        const { files } = unread ?? (await read())
        unread = undefined
        const full = await this.#takeRoom(asked)
        const ended = full ?? (await this.#once(asked, files, requestId))
        if (full !== undefined) await files.discard()
        if (ended instanceof Fault) return ended
        end = ended
        return ended.kind === 'made' ? 'succeeded' : 'ended'
      },
      fail: (_lines, refusal, requestId) => (end = { kind: 'refused', fault: refusal, requestId }),
      split: (lines) => [lines],
    }
    const trouble = mustStop() ? undefined : await this.#loop.run([asked], work)
    await unread?.files.discard()
    if (trouble !== undefined) return { kind: 'later', trouble }
    return end ?? { kind: mustStop() ? 'stopped' : 'expired' }
  }

  /** A fault when there is no space for the line's results. Images in base64 are kept in the output as well. */
  async #takeRoom({ images }: ImageRequest): Promise<Fault | undefined> {
    try {
      await new ResultRoom(this.#held, this.#dependencies).take(images * PICTURE_BYTES)
      return undefined
    } catch (error) {
      if (error instanceof Fault) return error
      throw error
    }
  }

  /** A fault when the job ended with nothing bought. */
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
      // From here on the request owns the files.
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
          // No client waits on a connection, so the files of an edit are kept for a node that may take over.
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
      return end
    } catch (error) {
      end = faultOf(error)
      return end
    } finally {
      this.#tell(asked, requestId, trace, end)
    }
  }

  /**
   * A fault when the job ended with nothing bought and gave up its key. `stopped` when the chunk ends while
   * the job continues.
   */
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
    trace.usage = result?.usage
    trace.isUnpriced = result?.costUsd === 'unpriced'
    trace.images = result?.pictures.length
    trace.asset = made && first && assetIdOf(made.id, first, batch.id)
    trace.emulated = result?.emulated ?? []
    trace.dropped = result?.dropped ?? []
    const route = isEdits(batch.endpoint) ? BATCH_EDITS_ROUTE : BATCH_PICTURES_ROUTE
    const { model, images: inputs, user, tags } = asked
    const record = batchRecord(
      batch,
      { requestId, route, trace, fault, model, inputs, user, tags },
      catalog(),
    )
    record.durationMs = clock.monotonicMs() - trace.startedMs
    if (result !== undefined) {
      record.deployment = result.deployments.join()
      record.attempts = result.attempts
      record.extraImages = result.extra?.length
      record.amountNanoUsd = result.costUsd === 'unpriced' ? 0n : nanoUsdOf(result.costUsd)
    }
    observer.requestEnded(record)
  }
}

/** A chunk of images is one line. */
function lineIn(bytes: Uint8Array): Uint8Array | undefined {
  return linesIn(bytes)[0]?.content
}

function outputTokensOf({ tokens: { textOutput = 0, imageOutput = 0 } }: ImageResult): number {
  return textOutput + imageOutput
}

/** Bytes of the images in the batch's folder, converted ones included. */
function keptBytesOf({ pictures }: ImageResult): number {
  return pictures.reduce((sum, { bytes, converted }) => sum + bytes + (converted?.bytes ?? 0), 0)
}

function stillRunning(error: unknown): undefined {
  if (!(error instanceof Fault) || error.code !== 'upstream_timeout') throw error
}
