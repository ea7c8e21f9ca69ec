/** Works on batches: claims as many chunks as this node has capacity for, and renews its claims while it works. */
import { Circuits } from '#core/batch/circuits.ts'
import { batchPrefix } from '#core/batch/part.ts'
import { isOfPictures } from '#core/batch/request.ts'
import { SYSTEM } from '#ports/audit.ts'
import { ChunkLost, type ChunkHold, type ChunkKind, type HeldChunk } from '#ports/batches.ts'
import { decided } from '#request/access/terms-now.ts'
import { runChunk, type ChunkDependencies } from '#request/batches/run-chunk.ts'
import { Suspects, type ChunkOrders } from '#request/batches/run-lines.ts'
import { runPictures, type PictureDependencies } from '#request/batches/run-pictures.ts'
import { StopSignal } from '#request/batches/stop-signal.ts'
import { deleteFolder } from '#request/files/delete-folder.ts'
import type { BatchEndings } from './batch-endings.ts'
import { every, everyMs, type Repetition } from './every.ts'
import type { Pulse } from './pulse.ts'

export interface BatchWorkerParts extends ChunkDependencies {
  readonly nodeId: string
  /** Whether this node deletes expired batches: one node is enough, once its clock can be believed. */
  readonly mustForget: () => Promise<boolean>
  readonly forPictures: PictureDependencies
  /** Whether each model's space is known. Before that no vector of a batch is made, because its space would have no name. */
  readonly knowsSpaces: () => boolean
  readonly pulse?: Pick<Pulse, 'on' | 'may'> | undefined
  /** Ends batches whose chunks are done. Undefined: each ends with its last chunk. */
  readonly endings?: Pick<BatchEndings, 'look' | 'stop'> | undefined
}

export interface BatchWorkerEvents {
  tookOver(hold: ChunkHold): void
  forgot(count: number): void
  /** The batch was cancelled because its key was revoked as leaked or its project was deleted. */
  cancelled(id: string, because: string): void
  failed(what: string, error: unknown): void
}

/**
 * Concurrent chunks. A chunk of texts has a call in progress or writes its results: an upstream that takes 32
 * calls needs more chunks than that, or its slots are idle between two calls. A chunk of images is one image
 * job, which takes seconds or minutes.
 */
const CHUNKS_AT_ONCE: Readonly<Record<ChunkKind, number>> = { texts: 48, pictures: 16 }
/** Additional concurrent calls of chunks whose lines need several calls. Their answers are in memory as well. */
const CALLS_BESIDE = 16
/**
 * Bytes of text results in memory until their chunks end, estimated from the lines so far: eleven calls of
 * 256 texts with 1,536 dimensions. The answers that they are made of are in memory beside them for a moment.
 */
const MAX_RESULT_BYTES = 24 * 1024 * 1024
/**
 * Bytes of lines in memory until their chunks end, with their media once more beside them: 24 chunks of images, as large as
 * chunks are.
 */
const MAX_INPUT_BYTES = 96 * 1024 * 1024
/** Assumed size of a result before the first is there: 1,536 dimensions in base64. */
const USUAL_LINE_BYTES = 8500
/** Chunks per claim. Few, so that several nodes share a batch from its beginning and memory is checked in between. */
const CLAIMED_AT_ONCE = 4
/**
 * A full node still takes one chunk of each project without one here, and of each batch without one, up to
 * this many of each: chunks of a slow model take minutes, and a small batch would wait for them.
 */
const BEYOND = 8
/** Interval at which new batches and abandoned chunks are noticed. */
const LOOK_MS = 1000
/** Well within the lifetime of a claim. A batch that a person pauses or cancels buys nothing more after this time. */
const RENEW_MS = 2000
/** Back-off before a failed chunk is claimed again: the next attempt may be another node's. */
const FAILED_AGAIN_MS = 5000
const FORGET_MS = 10 * 60_000
/** Interval at which leaked keys and deleted projects are noticed while nothing of their batches runs. */
const REVIEW_MS = 2000
/** Batches deleted per round. */
const PAGE_SIZE = 100

interface RunningChunk {
  readonly hold: ChunkHold
  readonly kind: ChunkKind
  readonly project: string
  readonly stop: StopSignal
  readonly lines: number
  /** Of its lines in the input file. */
  readonly bytes: number
}

export class BatchWorker {
  readonly #parts: BatchWorkerParts
  readonly #events: BatchWorkerEvents
  readonly #running = new Map<string, RunningChunk>()
  readonly #ends = new Set<Promise<void>>()
  readonly #circuits = new Circuits()
  readonly #suspects = new Suspects()
  #callsBeside = 0
  readonly #repeating: readonly Repetition[]
  #lineBytes = USUAL_LINE_BYTES
  #looking: Promise<void> | undefined
  #isStopping = false

  constructor(parts: BatchWorkerParts, events: BatchWorkerEvents) {
    this.#parts = parts
    this.#events = events
    const { pulse } = parts
    const looks = pulse?.on('batches') ?? everyMs(LOOK_MS)
    this.#repeating = [
      every(
        FORGET_MS,
        () => this.#forget(),
        (error) => events.failed('forget', error),
      ),
      looks(
        () => this.#look(),
        (error) => events.failed('claim', error),
      ),
      looks(
        async () => parts.endings?.look(),
        (error) => events.failed('end', error),
      ),
      every(
        REVIEW_MS,
        async () => (pulse?.may('batches') === false ? undefined : this.#review()),
        (error) => events.failed('review', error),
      ),
      every(
        RENEW_MS,
        () => this.#renew(),
        (error) => events.failed('renew', error),
      ),
    ]
  }

  /** No further chunk begins, and those in progress end with what they have: the rest is another node's. */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const { stop } of this.#running.values()) stop.raise()
    await Promise.all(this.#repeating.map((one) => one.stop()))
    // A look in progress may have begun more chunks, which end immediately. Its failure has been reported.
    await Promise.allSettled([this.#looking])
    await Promise.all([this.#parts.endings?.stop(), ...this.#ends])
  }

  /** One look at a time, so that this node never takes more than its capacity. */
  #look(): Promise<void> {
    this.#looking ??= this.#claim().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #claim(): Promise<void> {
    await this.#claimOf('texts')
    await this.#claimOf('pictures')
  }

  async #claimOf(kind: ChunkKind): Promise<void> {
    const { batches, nodeId, knowsSpaces } = this.#parts
    if (kind === 'texts' && !knowsSpaces()) return
    while (!this.#isStopping) {
      const room = this.#roomFor(kind)
      const limit = Math.min(room, CLAIMED_AT_ONCE)
      const claimed =
        room > 0 ? await batches.claim(nodeId, limit, { of: kind }) : await this.#claimBeyond(kind)
      if (claimed.length === 0) return
      for (const held of claimed) this.#begin(held, kind)
    }
  }

  /** A project without a chunk on this node gets one, and so does a batch, however full the node is. */
  async #claimBeyond(kind: ChunkKind): Promise<readonly HeldChunk[]> {
    const { batches, nodeId } = this.#parts
    const running = [...this.#running.values()].filter((one) => one.kind === kind)
    const notOf = [...new Set(running.map(({ project }) => project))]
    const notOfBatches = [...new Set(running.map(({ hold }) => hold.batchId))]
    const claimed = notOf.length > BEYOND ? [] : await batches.claim(nodeId, 1, { of: kind, notOf })
    if (claimed.length > 0 || notOfBatches.length > BEYOND) return claimed
    return batches.claim(nodeId, 1, { of: kind, notOfBatches })
  }

  /** A slot for a call beside that of its chunk. */
  #place(): Disposable | undefined {
    if (this.#callsBeside >= CALLS_BESIDE) return undefined
    this.#callsBeside += 1
    return { [Symbol.dispose]: () => void (this.#callsBeside -= 1) }
  }

  #roomFor(kind: ChunkKind): number {
    let [chunks, lines, bytes] = [0, 0, 0]
    for (const running of this.#running.values()) {
      if (running.kind !== kind) continue
      chunks += 1
      lines += running.lines
      bytes += running.bytes
    }
    const free = CHUNKS_AT_ONCE[kind] - chunks
    if (kind === 'pictures') return free
    // One chunk always runs, however large it is.
    if (chunks === 0) return 1
    const byResults = Math.floor((MAX_RESULT_BYTES / this.#lineBytes - lines) / (lines / chunks))
    const byInput = Math.floor((MAX_INPUT_BYTES - bytes) / (bytes / chunks))
    return Math.max(0, Math.min(free, byResults, byInput))
  }

  #begin(held: HeldChunk, kind: ChunkKind): void {
    const { hold } = held
    if (hold.token > 1) this.#events.tookOver(hold)
    const stop = new StopSignal()
    if (this.#isStopping) stop.raise()
    const name = nameOf(hold)
    const { lines, bytes, batch } = held
    this.#running.set(name, { hold, kind, project: batch.project, stop, lines, bytes })
    const end = this.#run(held, stop).finally(() => {
      this.#running.delete(name)
      this.#ends.delete(end)
      if (this.#isStopping) return
      // There is capacity again, and the batch may be done: neither need wait for the next look.
      void this.#look().catch((error: unknown) => this.#events.failed('claim', error))
      void this.#parts.endings?.look(true).catch((error: unknown) => this.#events.failed('end', error))
    })
    this.#ends.add(end)
  }

  async #run(held: HeldChunk, stop: StopSignal): Promise<void> {
    const { batches } = this.#parts
    try {
      const orders: ChunkOrders = {
        stop,
        circuits: this.#circuits,
        suspects: this.#suspects,
        place: () => this.#place(),
        answered: (lines: number, bytes: number) => void (this.#lineBytes = bytes / lines),
      }
      if (isOfPictures(held.batch.endpoint)) await runPictures(held, orders, this.#parts.forPictures)
      else await runChunk(held, orders, this.#parts)
    } catch (error) {
      if (error instanceof ChunkLost) return
      this.#events.failed(`chunk ${held.hold.chunk} of ${held.hold.batchId}`, error)
      await batches.giveBack(held.hold, FAILED_AGAIN_MS).catch((again: unknown) => {
        this.#events.failed('give back', again)
      })
    }
  }

  async #forget(): Promise<void> {
    if (!(await this.#parts.mustForget())) return
    const count = await deleteDueBatches(this.#parts)
    if (count > 0) this.#events.forgot(count)
  }

  /** Cancels batches whose key or project ended for good. Batches that only pause do so before their next purchase. */
  async #review(): Promise<void> {
    const { batches, terms } = this.#parts
    for (const { ids, isContinued, ...owner } of await batches.open()) {
      const then = await decided(owner, isContinued, terms)
      if (then.does !== 'cancel') continue
      for (const id of ids) {
        await batches.cancel(id, owner.project, SYSTEM, then.because)
        this.#events.cancelled(id, then.because)
      }
    }
  }

  async #renew(): Promise<void> {
    const held = [...this.#running.values()]
    if (held.length === 0) return
    // A chunk with a lost claim ends early too: the store rejects its writes by its token.
    for (const hold of await this.#parts.batches.renew(held.map(({ hold }) => hold))) {
      this.#running.get(nameOf(hold))?.stop.raise()
    }
  }
}

/** Returns how many. The results are deleted first: a known batch always leads to them. */
export async function deleteDueBatches({
  batches,
  blobs,
}: Pick<BatchWorkerParts, 'batches' | 'blobs'>): Promise<number> {
  const due = await batches.due(PAGE_SIZE)
  for (const id of due) {
    await deleteFolder(batchPrefix(id), blobs)
    await batches.forget(id)
  }
  return due.length
}

function nameOf({ batchId, chunk, token }: ChunkHold): string {
  return `${batchId} ${chunk} ${token}`
}
