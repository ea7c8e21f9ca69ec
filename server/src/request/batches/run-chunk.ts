/**
 * One chunk of a batch: its lines are run in order through the same engine as requests that somebody waits for, as many as a call
 * takes at once. Each request has an id of its own, made in this claim, and is in the books before the results are kept. So a
 * holder that dies leaves either a part, which the next one takes as it is, or nothing, and then the chunk is run again.
 */
import { linesIn, runFrom, type BatchLine, type LineRun } from '#core/batch/line.ts'
import { NOTHING, withoutInput, type LineRange } from '#core/batch/chunk.ts'
import { inputCount, inputSize, joinInputs } from '#core/embedding/input.ts'
import { Fault } from '#core/fault/fault.ts'
import { RequestTrace } from '#core/request-trace.ts'
import type { Batches, HeldChunk } from '#ports/batches.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { Key, TermsInForce } from '#ports/keys.ts'
import { BATCH_LINES_ROUTE } from '#ports/request-reports.ts'
import { StoreAway } from '#ports/store.ts'
import { embed, type EmbedDependencies } from '../embeddings/embed.ts'
import { labelTermsOf, type LabelShare } from '../money/label-shares.ts'
import { batchKey } from './batch-key.ts'
import { ChunkResults } from './chunk-results.ts'
import { keepPart, partBefore } from './kept-part.ts'
import { MAX_HOLDERS, MAX_WAITS, pauseAfter, soonMs } from './patience.ts'
import { ResultRoom, type RoomOutside } from './result-room.ts'
import type { StopSign } from './stop-sign.ts'
import { namedInput, verdictOn } from './verdict.ts'

export interface ChunkDependencies extends EmbedDependencies, Pick<RoomOutside, 'diskRoom'> {
  readonly batches: Batches
  /** Where parts are kept, for all nodes. */
  readonly blobs: BlobStore
  /** Undefined: the file is gone. */
  readonly readInput: (
    fileId: string,
    range: Pick<LineRange, 'firstByte' | 'bytes'>,
  ) => Promise<Uint8Array | undefined>
  /** How many inputs a call in the background may carry at present. */
  readonly callInputs: () => number
  readonly docsUrl: () => string
  readonly terms: TermsInForce
  readonly wait: (ms: number) => Promise<unknown>
}

/** What the holder of a chunk is told while it works. */
export interface ChunkOrders {
  /** It ends with what it has: the batch was cancelled, the node stops, or the chunk is no longer its own. */
  readonly stop: StopSign
  /** Whether a call of this model succeeded since then, on the monotonic clock. */
  readonly succeededSince: (model: string, sinceMs: number) => boolean
  readonly succeeded: (model: string) => void
  /** So many lines of the chunk have answers by now, which are in memory. */
  readonly answered: (lines: number, bytes: number) => void
}

/** Calls that fail are made again after such waits. Then the lines are looked at one by one, or the batch waits. */
const RETRY_AFTER_MS = [1000, 3000]
/** While the store can't take the results, which have been paid for. */
const KEEP_AGAIN_MS = 2000

/** The trouble that keeps the rest of a chunk from running now. */
interface Trouble {
  readonly fault: Fault
}

export async function runChunk(
  held: HeldChunk,
  orders: ChunkOrders,
  dependencies: ChunkDependencies,
): Promise<void> {
  const { hold, batch } = held
  const { batches, blobs, limits, docsUrl } = dependencies
  const before = await partBefore(hold, blobs)
  if (before !== undefined) return batches.finish(hold, { ...before, pictureBytes: 0 })
  if (batch.state === 'cancelling') return batches.finish(hold, { counts: NOTHING, part: undefined })
  const bytes = await dependencies.readInput(batch.inputFileId, held)
  if (bytes === undefined)
    return batches.finish(hold, {
      counts: withoutInput(held.lines),
      part: undefined,
    })
  const lines = linesIn(bytes, { maxInputs: limits.maxInputs, textOf, tags: batch.tags })
  const { firstLine } = held
  const results = new ChunkResults({
    batchId: batch.id,
    firstLine,
    docsUrl: docsUrl(),
  })
  const { done, trouble } = await new ChunkRun(held, results, orders, dependencies).all(lines)
  const pauseMs = trouble === undefined ? 0 : pauseAfter(trouble.fault)
  const pause = async (): Promise<void> => trouble && batches.pause(batch.id, trouble.fault.code, pauseMs)
  if (done === 0 && lines.length > 0) {
    await pause()
    return batches.giveBack(hold, pauseMs)
  }
  const rest = done < lines.length ? restOf(held, lines, done) : undefined
  const reached = whenReached(orders, dependencies)
  let tries = 0
  const end = await reached(() => {
    tries += 1
    return keepPart(hold, results, rest, blobs)
  })
  // A try that was given up may still be sending them.
  if (tries === 1) results.release()
  await reached(pause)
  await reached(() => batches.finish(hold, { ...end, pictureBytes: 0 }))
}

/** What was paid for is not given up because a store is away: it is asked again until it is back, or the chunk must end. */
function whenReached({ stop }: ChunkOrders, { wait }: ChunkDependencies) {
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof StoreAway) || stop.isUp) throw error
        await wait(KEEP_AGAIN_MS)
      }
    }
  }
}

class ChunkRun {
  readonly #held: HeldChunk
  readonly #results: ChunkResults
  readonly #orders: ChunkOrders
  readonly #dependencies: ChunkDependencies
  readonly #room: ResultRoom

  constructor(held: HeldChunk, results: ChunkResults, orders: ChunkOrders, dependencies: ChunkDependencies) {
    this.#held = held
    this.#results = results
    this.#orders = orders
    this.#dependencies = dependencies
    this.#room = new ResultRoom(held, dependencies)
  }

  /** Runs the lines in order. `done`: so many of them have a result. */
  async all(lines: readonly BatchLine[]): Promise<{ readonly done: number; readonly trouble?: Trouble }> {
    let done = 0
    while (done < lines.length) {
      const line = lines[done] as BatchLine
      if (this.#isLate) {
        this.#results.expired(lines.slice(done))
        return { done: lines.length }
      }
      if (this.#orders.stop.isUp || this.#results.isFull) return { done }
      const run = runFrom(lines, done, this.#dependencies.callInputs())
      const roomy = await this.#linesWithRoom(run ?? [line], lines.length - done)
      if (roomy instanceof Fault) return { done, trouble: { fault: roomy } }
      if (run === undefined) {
        const fault = line.fault ?? new Fault('internal_error', 'The line could not be read.')
        this.#results.refused([line], fault, this.#dependencies.identifiers.next())
        done += 1
        continue
      }
      const trouble = await this.#runTogether(firstOf(run, roomy), (count) => void (done += count))
      await this.#dependencies.yieldLoop()
      if (trouble !== undefined) return { done, trouble }
    }
    return { done }
  }

  /** How many lines have room for their results, at least one; a fault: none has. */
  async #linesWithRoom(
    lines: readonly [BatchLine, ...BatchLine[]],
    linesLeft: number,
  ): Promise<number | Fault> {
    const { bytes: resultBytes } = this.#results
    try {
      return await whenReached(
        this.#orders,
        this.#dependencies,
      )(() => this.#room.linesFor(lines, { resultBytes, linesLeft }))
    } catch (error) {
      if (error instanceof Fault) return error
      throw error
    }
  }

  /** Runs a few lines as one request, or in parts where one of them is at fault. `ended`: told how many have a result, in order. */
  async #runTogether(all: LineRun, ended: (count: number) => void): Promise<Trouble | undefined> {
    const waiting: LineRun[] = [all]
    const sinceMs = this.#dependencies.clock.monotonicMs()
    let failures = 0
    let waits = 0
    for (let lines = waiting.shift(); lines !== undefined; lines = waiting.shift()) {
      const requestId = this.#dependencies.identifiers.next()
      try {
        const fromMs = this.#dependencies.clock.nowMs()
        const result = await this.#embedded(lines, requestId)
        const untilMs = this.#dependencies.clock.nowMs()
        this.#results.answered(lines, result, requestId, { fromMs, untilMs })
        this.#orders.answered(this.#results.counts.completed, this.#results.outputBytes)
        ended(lines.length)
        continue
      } catch (error) {
        const fault = faultOf(error)
        const verdict = verdictOn(fault)
        if (verdict === 'later') {
          // What is left of a budget may still be enough for fewer lines.
          if (fault.code !== 'budget_exhausted' || lines.length === 1) return { fault }
          waiting.unshift(...parted(lines, fault))
          continue
        }
        if (verdict === 'soon') {
          waits += 1
          if (waits > MAX_WAITS) return { fault }
          await this.#dependencies.wait(soonMs(fault.retryAfterMs))
          waiting.unshift(lines)
        } else if (verdict === 'failing' && failures < RETRY_AFTER_MS.length) {
          await this.#dependencies.wait(RETRY_AFTER_MS[failures] as number)
          failures += 1
          waiting.unshift(lines)
        } else if (verdict === 'failing' && !this.#isTextsFault(lines, sinceMs)) return { fault }
        else if (verdict === 'lines' || lines.length === 1) {
          this.#results.refused(lines, fault, requestId)
          ended(lines.length)
        } else waiting.unshift(...parted(lines, fault))
        if (this.#orders.stop.isUp || this.#isLate) return undefined
      }
    }
    return undefined
  }

  async #embedded(lines: LineRun, requestId: string) {
    const { clock, observer } = this.#dependencies
    const [{ request }] = lines
    const input = joinInputs(lines.map((line) => line.request.input))
    const trace = new RequestTrace(clock.monotonicMs())
    const startedMs = clock.monotonicMs()
    const { batch } = this.#held
    const keyNow = (): Key | Promise<Key> => batchKey(batch, this.#dependencies.terms)
    let fault: Fault | undefined
    let result: Awaited<ReturnType<typeof embed>> | undefined
    try {
      result = await embed(
        { ...request, input },
        {
          requestId,
          key: await keyNow(),
          keyNow,
          unsupported: undefined,
          pinnedSpace: undefined,
          dryRun: false,
          callerTimeoutMs: undefined,
          cacheUse: 'usual',
          isBackground: true,
          caller: this.#orders.stop,
          parts: partsOf(lines),
          trace,
        },
        this.#dependencies,
      )
      if (result.kind !== 'embedded') throw new Fault('internal_error', 'A batch was not run.')
      this.#orders.succeeded(request.model)
      return result
    } catch (error) {
      fault = faultOf(error)
      throw fault
    } finally {
      const embedded = result?.kind === 'embedded' ? result : undefined
      trace.askedModel = request.model
      observer.requestEnded({
        requestId,
        route: BATCH_LINES_ROUTE,
        status: fault?.entry.status ?? 200,
        fault: fault?.code,
        cause: fault?.cause,
        clientRequestId: batch.id,
        project: batch.project,
        key: batch.keyId.slice(batch.project.length + 1),
        keyId: batch.keyId,
        model: embedded?.model.id,
        deployment: embedded?.deployments.join(),
        attempts: embedded?.attempts,
        inputs: inputCount(input),
        cache: embedded?.cache,
        promptTokens: embedded?.usage.promptTokens,
        amountNanoUsd: embedded?.usage.cost.kind === 'known' ? embedded.usage.cost.nanoUsd : undefined,
        trace,
        user: request.user,
        tags: labelTermsOf(partsOf(lines)).labels?.tags,
        durationMs: clock.monotonicMs() - startedMs,
      })
    }
  }

  get #isLate(): boolean {
    const { batch, isLate } = this.#held
    return isLate || batch.expiresAtMs <= this.#dependencies.clock.nowMs()
  }

  /** Where others succeed meanwhile, a call that fails again and again has a text in it that its upstream fails on. */
  #isTextsFault([{ request }]: LineRun, sinceMs: number): boolean {
    return this.#orders.succeededSince(request.model, sinceMs) || this.#held.hold.token >= MAX_HOLDERS
  }
}

/** Lines of one request may be for different users and tags. */
function partsOf([first, ...others]: LineRun): [LabelShare, ...LabelShare[]] {
  const part = ({ request: { user, tags, input } }: LineRun[0]): LabelShare => ({
    user,
    tags,
    weight: inputSize(input),
  })
  return [part(first), ...others.map(part)]
}

const decoder = new TextDecoder()
const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)

function firstOf(lines: LineRun, count: number): LineRun {
  const [first, ...others] = lines
  return [first, ...others.slice(0, count - 1)]
}

/** The line that the fault names goes alone. Otherwise halves: few requests find one bad text among many. */
function parted(lines: LineRun, fault: Fault): readonly LineRun[] {
  const named = namedInput(fault)
  const place = named === undefined ? -1 : lineOfInput(lines, named)
  const cuts = place === -1 ? [Math.ceil(lines.length / 2)] : [place, place + 1]
  const parts = [lines.slice(0, cuts[0]), lines.slice(cuts[0], cuts[1]), lines.slice(cuts[1] ?? lines.length)]
  return parts.filter((part): part is [LineRun[0], ...LineRun[0][]] => part.length > 0)
}

function lineOfInput(lines: LineRun, input: number): number {
  let before = 0
  return lines.findIndex(({ request }) => {
    before += inputCount(request.input)
    return input < before
  })
}

/** The lines from the given one on, as a chunk of their own. */
function restOf(held: HeldChunk, lines: readonly BatchLine[], first: number): LineRange {
  const { firstByte, number } = lines[first] as BatchLine
  return {
    firstByte: held.firstByte + firstByte,
    bytes: held.bytes - firstByte,
    firstLine: held.firstLine + number,
    lines: lines.length - first,
  }
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error
  return new Fault('internal_error', 'The gateway failed. The log has the cause under this request id.', {
    cause: error,
  })
}
