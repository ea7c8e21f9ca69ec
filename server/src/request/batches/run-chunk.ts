/**
 * Runs one chunk of a batch. Its lines go through the same engine as interactive requests, in groups that one
 * call can carry, several groups concurrently. Each request gets its own id in this claim and is in the
 * ledger before the results are kept. A holder that dies therefore leaves either a part, which the next
 * holder takes as it is, or nothing, and then the chunk runs again. Lines end in any order: those with a
 * result are in the part, the others become another chunk.
 */
import { NOTHING, partOf, withoutInput, type LineRange, type PlacedLine } from '#core/batch/chunk.ts'
import {
  LineGroups,
  linesIn,
  requestOf,
  runFrom,
  type BatchLine,
  type LineGroup,
  type LineRun,
  type RunnableLine,
  type UnreadLine,
} from '#core/batch/line.ts'
import { parted } from '#core/batch/parted.ts'
import { kindOf, pauseAfter } from '#core/batch/policy.ts'
import { idOf } from '#core/catalog/catalog.ts'
import { inputCount } from '#core/embedding/input.ts'
import { Fault } from '#core/fault/fault.ts'
import { dividedLine } from '#core/files/request-line.ts'
import { RequestTrace } from '#core/request/request-trace.ts'
import type { Batches, HeldChunk } from '#ports/batches.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { Key, TermsInForce } from '#ports/keys.ts'
import { BATCH_LINES_ROUTE } from '#ports/request-reports.ts'
import type { EmbedResult } from '../embeddings/embed-result.ts'
import { embed, type EmbedDependencies } from '../embeddings/embed.ts'
import { labelTermsOf } from '../money/label-shares.ts'
import { batchKey } from './batch-key.ts'
import { batchRecord } from './batch-record.ts'
import { ChunkResults } from './chunk-results.ts'
import { readTagged, sharesOf, type FetchedMedia, type LineOutside } from './embedding-line.ts'
import { keepPart, partBefore, rangesOf } from './kept-part.ts'
import { retryWhileStoreUnreachable } from './store-retry.ts'
import { ResultRoom, type RoomForLines, type RoomOutside } from './result-room.ts'
import {
  faultOf,
  LineLoop,
  type Attempted,
  type ChunkOrders,
  type LineWork,
  type Trouble,
} from './run-lines.ts'

export interface ChunkDependencies extends EmbedDependencies, LineOutside, Pick<RoomOutside, 'diskRoom'> {
  readonly batches: Batches
  /** Store of the parts, shared by all nodes. */
  readonly blobs: BlobStore
  /** Undefined when the file is gone. */
  readonly readInput: (
    fileId: string,
    range: Pick<LineRange, 'firstByte' | 'bytes'>,
  ) => Promise<Uint8Array | undefined>
  /** Inputs that a background call may carry at present. */
  readonly callInputs: () => number
  readonly docsUrl: () => string
  readonly terms: TermsInForce
  readonly wait: (ms: number) => Promise<unknown>
}

/**
 * Groups of a chunk that run concurrently while the node has slots. More would keep too many answers in
 * memory beside the results.
 */
const GROUPS_AT_ONCE = 8
/** Lines read before other work gets the event loop, and their bytes: a millisecond or two. */
const READ_AT_ONCE = { lines: 64, bytes: 256 * 1024 }

export async function runChunk(
  held: HeldChunk,
  orders: ChunkOrders,
  dependencies: ChunkDependencies,
): Promise<void> {
  const { hold, batch, firstLine } = held
  const { batches, blobs, bytesOf, docsUrl } = dependencies
  const before = await partBefore(held, blobs)
  if (before !== undefined) return batches.finish(hold, { ...before, pictureBytes: 0 })
  if (batch.state === 'cancelling') return batches.finish(hold, { counts: NOTHING, part: undefined })
  const bytes = await dependencies.readInput(batch.inputFileId, held)
  if (bytes === undefined)
    return batches.finish(hold, {
      counts: withoutInput(held.lines),
      part: undefined,
    })
  const within = linesIn(bytes)
  const lines = partOf(held, within)
  const results = new ChunkResults({ batchId: batch.id, firstLine, docsUrl: docsUrl(), bytesOf })
  const run = new ChunkRun(held, lines, results, orders, dependencies)
  const trouble = await run.all()
  const pause = async (): Promise<void> =>
    trouble && batches.pause(batch.id, trouble.fault.code, trouble.pauseMs)
  if (run.ended.size === 0 && lines.length > 0) {
    await pause()
    return batches.giveBack(hold, trouble?.pauseMs ?? 0)
  }
  const ranges = rangesOf(held, within, lines, run.ended)
  const reached = retryWhileStoreUnreachable(orders, dependencies)
  let tries = 0
  const end = await reached(() => {
    tries += 1
    return keepPart(hold, results, ranges, blobs)
  })
  // An abandoned attempt may still be sending them.
  if (tries === 1) results.release()
  await reached(pause)
  await reached(() => batches.finish(hold, { ...end, pictureBytes: 0 }))
}

class ChunkRun {
  /** Line numbers that have a result. */
  readonly ended = new Set<number>()
  readonly #held: HeldChunk
  readonly #lines: readonly UnreadLine[]
  readonly #results: ChunkResults
  readonly #orders: ChunkOrders
  readonly #dependencies: ChunkDependencies
  readonly #room: ResultRoom
  readonly #loop: LineLoop
  #trouble: Trouble | undefined

  constructor(
    held: HeldChunk,
    lines: readonly UnreadLine[],
    results: ChunkResults,
    orders: ChunkOrders,
    dependencies: ChunkDependencies,
  ) {
    this.#held = held
    this.#lines = lines
    this.#results = results
    this.#orders = orders
    this.#dependencies = dependencies
    this.#room = new ResultRoom(held, dependencies)
    this.#loop = new LineLoop(held, orders, dependencies)
  }

  /** Runs the lines. Returns why the remaining ones can't run now. */
  async all(): Promise<Trouble | undefined> {
    if (!this.#loop.isLate) {
      await using media = new AsyncDisposableStack()
      await this.#runGroups(await this.#groups(media))
    }
    if (this.#loop.isLate) {
      const left = this.#lines.filter(({ number }) => !this.ended.has(number))
      const named = left.map((line) => ({ ...line, ...dividedLine(line.content, textOf) }))
      this.#results.expired(named)
      this.#end(left)
    }
    return this.#trouble
  }

  /** Unreadable lines end here. Lines for which there is no space now are left for later, and all behind them. */
  async #groups(media: AsyncDisposableStack): Promise<readonly LineGroup[]> {
    const { catalog, yieldLoop, identifiers } = this.#dependencies
    const { models } = catalog()
    const groups = new LineGroups((name) => {
      const model = models.get(name)
      return model?.kind === 'embedding' && model.deployments.some(({ capabilities }) => capabilities.user)
    })
    let [lines, bytes] = [0, 0]
    for (const unread of this.#lines) {
      if (this.#loop.mustEnd) break
      lines += 1
      bytes += unread.content.length
      if (lines >= READ_AT_ONCE.lines || bytes >= READ_AT_ONCE.bytes) {
        await yieldLoop()
        lines = bytes = 0
      }
      const line = await readTagged(unread, this.#held.batch, media, this.#dependencies)
      if (groups.add(line)) continue
      const fault = line.fault ?? new Fault('internal_error', 'The line could not be read.')
      if (this.#mustWait(fault)) break
      using room = await this.#roomFor([line])
      if (room === undefined) return []
      this.#fail([line], fault, identifiers.next())
    }
    return groups.all
  }

  /** Notes a fault that is about this moment and not about a line. */
  #mustWait(fault: Fault): boolean {
    const kind = kindOf(fault)
    if (kind === 'input' || kind === 'request' || kind === 'call') return false
    this.#note({ fault, pauseMs: pauseAfter(fault) })
    return true
  }

  /** Runs groups one after another, and more of them concurrently while the node has slots. */
  async #runGroups(groups: readonly LineGroup[]): Promise<void> {
    const waiting = [...groups]
    const runs: Promise<void>[] = []
    const errors: unknown[] = []
    let running = 0
    const runNext = async (): Promise<void> => {
      running += 1
      for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
        if (waiting.length > 0 && running < GROUPS_AT_ONCE) runBeside()
        await this.#runGroup(group).catch((error: unknown) => void errors.push(error))
      }
      running -= 1
    }
    const runBeside = (): void => {
      const place = this.#orders.place()
      if (place !== undefined) runs.push(runNext().finally(() => place[Symbol.dispose]()))
    }
    runs.push(runNext())
    for (let next = runs.pop(); next !== undefined; next = runs.pop()) await next
    if (errors.length > 0) throw errors[0]
  }

  async #runGroup(group: LineGroup): Promise<void> {
    const { callInputs, yieldLoop, catalog } = this.#dependencies
    const work: LineWork<RunnableLine> = {
      model: idOf(catalog(), group.model) ?? group.model,
      nameOf: ({ number }) => `${this.#held.batch.id} ${this.#held.firstLine + number}`,
      attempt: (lines, requestId) => this.#attempt(lines as LineRun, requestId),
      fail: (lines, fault, requestId) => this.#fail(lines, fault, requestId),
      split: (lines, fault) => parted(lines, fault),
    }
    for (let first = 0; first < group.lines.length;) {
      if (this.#loop.mustEnd || this.#results.isFull) return
      const run = runFrom(group, first, callInputs())
      using room = await this.#roomFor(run)
      if (room === undefined) return
      await using media = this.#dependencies.fetchedMedia(this.#held.batch.project)
      const lines = await this.#fetched(run.slice(0, room.lines), media)
      if (lines === undefined) return
      const trouble = lines.length === 0 ? undefined : await this.#loop.run(lines, work)
      if (trouble !== undefined) return this.#note(trouble)
      first += room.lines
      await yieldLoop()
    }
  }

  /** The lines with what they name by address. One that can't be fetched ends here. Undefined when the lines must wait. */
  async #fetched(
    lines: readonly RunnableLine[],
    media: FetchedMedia,
  ): Promise<readonly RunnableLine[] | undefined> {
    const fetched: RunnableLine[] = []
    for (const line of lines) {
      if (line.request.input.kind !== 'contents') return lines
      if (this.#loop.mustEnd) return undefined
      try {
        fetched.push({ ...line, request: await media.fetch(line.request) })
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        if (this.#mustWait(error)) return undefined
        this.#fail([line], error, this.#dependencies.identifiers.next())
      }
    }
    return fetched
  }

  /** Undefined when there is no space and the batch waits for some. */
  async #roomFor(lines: readonly [BatchLine, ...BatchLine[]]): Promise<RoomForLines | undefined> {
    const ofChunk = (): { resultBytes: number; linesLeft: number } => ({
      resultBytes: this.#results.bytes,
      linesLeft: this.#lines.length - this.ended.size,
    })
    try {
      const reached = retryWhileStoreUnreachable(this.#orders, this.#dependencies)
      return await reached(() => this.#room.linesFor(lines, ofChunk))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      this.#note({ fault: error, pauseMs: pauseAfter(error) })
      return undefined
    }
  }

  /** Of several reasons to wait, the one that lasts longest is kept. */
  #note(trouble: Trouble): void {
    if (this.#trouble === undefined || trouble.pauseMs > this.#trouble.pauseMs) this.#trouble = trouble
  }

  #end(lines: readonly PlacedLine[]): void {
    for (const { number } of lines) this.ended.add(number)
  }

  #fail(lines: readonly BatchLine[], fault: Fault, requestId: string): void {
    this.#results.refused(lines, fault, requestId)
    this.#end(lines)
  }

  /** One request for all of the lines. */
  async #attempt(lines: LineRun, requestId: string): Promise<Attempted> {
    const { clock, catalog, observer } = this.#dependencies
    const { batch } = this.#held
    const request = requestOf(lines)
    const labelTerms = labelTermsOf(sharesOf(lines, this.#dependencies))
    const trace = new RequestTrace(clock.monotonicMs())
    const keyNow = (): Key | Promise<Key> => batchKey(batch, this.#dependencies.terms)
    const fromMs = clock.nowMs()
    let fault: Fault | undefined
    let embedded: EmbedResult | undefined
    try {
      const result = await embed(
        request,
        {
          requestId,
          key: await keyNow(),
          background: { batchId: batch.id, keyNow, labelTerms },
          unsupported: undefined,
          pinnedSpace: undefined,
          dryRun: false,
          callerTimeoutMs: undefined,
          cacheUse: 'usual',
          caller: this.#orders.stop,
          trace,
        },
        this.#dependencies,
      )
      if (result.kind !== 'embedded') throw new Fault('internal_error', 'A batch was not run.')
      embedded = result
    } catch (error) {
      fault = faultOf(error)
    }
    const { model } = request
    const { user, tags } = labelTerms.labels ?? {}
    const inputs = inputCount(request.input)
    const attempted = { requestId, route: BATCH_LINES_ROUTE, trace, fault, model, inputs, user, tags }
    const record = batchRecord(batch, attempted, catalog())
    record.durationMs = clock.monotonicMs() - trace.startedMs
    if (embedded !== undefined) {
      const { cost, promptTokens } = embedded.usage
      record.deployment = embedded.deployments.join()
      record.attempts = embedded.attempts
      record.cache = embedded.cache
      record.promptTokens = promptTokens
      record.amountNanoUsd = cost.kind === 'known' ? cost.nanoUsd : undefined
      this.#results.answered(lines, embedded, requestId, { fromMs, untilMs: clock.nowMs() })
      this.#orders.answered(this.#results.counts.completed, this.#results.outputBytes)
      this.#end(lines)
    }
    observer.requestEnded(record)
    return fault ?? 'succeeded'
  }
}

const decoder = new TextDecoder()
const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)
