/**
 * Runs lines of a batch until each has an end or the batch has to wait. Each attempt is followed by what
 * `core/batch/policy.ts` decides, for texts and images alike.
 */
import { BoundedMap } from '#core/structure/bounded-map.ts'
import type { Circuits } from '#core/batch/circuits.ts'
import { actionFor, kindOf, waitBefore, type FaultKind } from '#core/batch/policy.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Batches, HeldChunk } from '#ports/batches.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { BudgetRefusal } from '../money/budget-refusal.ts'
import type { StopSignal } from './stop-signal.ts'

/** Orders to the holder of a chunk while it works. */
export interface ChunkOrders {
  /** Ends the chunk with what it has: the batch was cancelled, the node stops, or the chunk was lost to another holder. */
  readonly stop: StopSignal
  readonly circuits: Circuits
  readonly suspects: Suspects
  /** Takes a slot for one more concurrent call, if this node has one. */
  readonly place: () => Disposable | undefined
  /** Reports the answered lines of the chunk and their bytes, which are in memory. */
  readonly answered: (lines: number, bytes: number) => void
}

/** Failures of lines that fail by themselves. They outlive a hold and keep counting in the next one. */
export class Suspects extends BoundedMap<string, Failures> {
  constructor() {
    // A forgotten line is tried a few more times.
    super(10_000)
  }
}

/** Failed calls of a line. */
interface Failures {
  /** Failures after which other lines succeeded before this one failed again. */
  readonly beside: number
  /** On the monotonic clock. */
  readonly lastMs: number
}

export interface LineLoopOutside {
  readonly batches: Pick<Batches, 'resume'>
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly wait: (ms: number) => Promise<unknown>
  /** Whether a call of the model succeeded that began after `sinceMs`, on the monotonic clock. */
  readonly dispatch: { hasSucceededSince(model: string, sinceMs: number): boolean }
}

/** The work that the loop does for one kind of line. */
export interface LineWork<Line> {
  /** The model id, for what is known of the model. */
  readonly model: string
  /** Identifies a line within the batch. */
  readonly nameOf: (line: Line) => string
  /** Returns `ended` when the outcome says nothing about the model, or when the holder must stop. */
  attempt(lines: readonly Line[], requestId: string): Promise<Attempted>
  /** Ends the lines with the fault of this request. */
  fail(lines: readonly Line[], fault: Fault, requestId: string): void
  /** Separates the lines that may have caused the fault from the others. */
  split(lines: readonly Line[], fault: Fault): readonly (readonly Line[])[]
}

export type Attempted = Fault | 'succeeded' | 'ended'

interface Piece<Line> {
  readonly lines: readonly Line[]
  failures: Failures | undefined
  waits: number
}

/** Why lines wait, and for how long. */
export interface Trouble {
  readonly fault: Fault
  readonly pauseMs: number
}

export class LineLoop {
  readonly #held: HeldChunk
  readonly #orders: ChunkOrders
  readonly #outside: LineLoopOutside
  readonly #begunMs: number
  #mustResume: boolean
  /** Lines already tried in this hold are not due again. */
  readonly #tried = new Set<string>()

  constructor(held: HeldChunk, orders: ChunkOrders, outside: LineLoopOutside) {
    this.#held = held
    this.#orders = orders
    this.#outside = outside
    this.#begunMs = outside.clock.monotonicMs()
    this.#mustResume = held.batch.pause !== undefined
  }

  /** Whether nothing more may begin: the holder must stop, or the batch's time is up. */
  get mustEnd(): boolean {
    return this.#orders.stop.isUp || this.isLate
  }

  get isLate(): boolean {
    const { batch, isLate } = this.#held
    return isLate || batch.expiresAtMs <= this.#outside.clock.nowMs()
  }

  /** Undefined when each line has an end, or when `mustEnd`. */
  async run<Line>(lines: readonly Line[], work: LineWork<Line>): Promise<Trouble | undefined> {
    const { circuits } = this.#orders
    const { clock, wait } = this.#outside
    const { id, isContinued } = this.#held.batch
    // A batch that a person lets continue without its key starts with a fresh circuit.
    const circuit = `${id}\n${isContinued}\n${work.model}`
    const waiting: Piece<Line>[] = [this.#pieceOf(lines, work)]
    let failuresInRow = 0
    let rowBeganMs = clock.monotonicMs()
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (this.mustEnd) return undefined
      const isDue = this.#mustResume && !this.#tried.has(circuit)
      const entered = circuits.enter(circuit, clock.monotonicMs(), isDue)
      if (entered instanceof Fault)
        return { fault: entered, pauseMs: circuits.waitMs(circuit, clock.monotonicMs()) }
      this.#tried.add(circuit)
      const isProbe = entered === 'probe'
      const piece = isProbe ? this.#sampleOf(next, waiting, work) : next
      const requestId = this.#outside.identifiers.next()
      const fault = await this.#attempt(piece, work, circuit, requestId)
      if (fault === 'ended') {
        if (isProbe) circuits.left(circuit)
        continue
      }
      if (fault === 'succeeded') {
        circuits.succeeded(circuit)
        await this.#resume()
        continue
      }
      const kind = kindOf(fault)
      // It left the queue because its holder stops, which says nothing about the batch.
      if (kind === 'moment' && this.#orders.stop.isUp) {
        if (isProbe) circuits.left(circuit)
        return undefined
      }
      const nowMs = clock.monotonicMs()
      if (kind === 'call') {
        const isRow = failuresInRow > 0 && !this.#hasSucceeded(work, rowBeganMs)
        failuresInRow = isRow ? failuresInRow + 1 : 1
        if (!isRow) rowBeganMs = nowMs
        this.#fails(piece, work, nowMs)
      }
      const action = actionFor({
        kind,
        lines: piece.lines.length,
        payableLines: payableLines(fault, piece.lines.length),
        isProbe,
        hasSucceeded: this.#hasSucceeded(work, this.#begunMs),
        failuresBeside: piece.failures?.beside ?? 0,
        failuresInRow,
        waits: piece.waits,
      })
      if (action !== 'pause' && isProbe) circuits.left(circuit)
      if (action === 'pause') return this.#trouble(circuit, fault)
      if (action === 'fail') work.fail(piece.lines, fault, requestId)
      // The other lines come first: whether they succeed shows what is at fault.
      else if (action === 'split') waiting.push(...parts(piece, kind, fault, work))
      else {
        if (this.mustEnd) return undefined
        if (kind === 'moment') piece.waits += 1
        await wait(waitBefore(kind, failuresInRow, fault.retryAfterMs))
        waiting.push(piece)
      }
    }
    return undefined
  }

  async #attempt<Line>(
    { lines }: Piece<Line>,
    work: LineWork<Line>,
    circuit: string,
    requestId: string,
  ): Promise<Attempted> {
    try {
      return await work.attempt(lines, requestId)
    } catch (error) {
      this.#orders.circuits.left(circuit)
      throw error
    }
  }

  #trouble(circuit: string, fault: Fault): Trouble {
    const pauseMs = this.#orders.circuits.failed(circuit, fault, this.#outside.clock.monotonicMs())
    return { fault, pauseMs }
  }

  #hasSucceeded<Line>({ model }: LineWork<Line>, sinceMs: number): boolean {
    return this.#outside.dispatch.hasSucceededSince(model, sinceMs)
  }

  #pieceOf<Line>(lines: readonly Line[], work: LineWork<Line>): Piece<Line> {
    return { lines, failures: this.#suspicionOf(lines, work), waits: 0 }
  }

  #suspicionOf<Line>([line, ...others]: readonly Line[], { nameOf }: LineWork<Line>): Failures | undefined {
    return line === undefined || others.length > 0 ? undefined : this.#orders.suspects.get(nameOf(line))
  }

  #fails<Line>(piece: Piece<Line>, work: LineWork<Line>, nowMs: number): void {
    const { lines, failures } = piece
    const isBeside = failures !== undefined && this.#hasSucceeded(work, failures.lastMs)
    piece.failures = { beside: (failures?.beside ?? 0) + Number(isBeside), lastMs: nowMs }
    const [line, ...others] = lines
    if (line !== undefined && others.length === 0)
      this.#orders.suspects.set(work.nameOf(line), piece.failures)
  }

  /** One line is enough to see whether the trouble is over, a different one each time, since a line may be the cause. */
  #sampleOf<Line>(piece: Piece<Line>, waiting: Piece<Line>[], work: LineWork<Line>): Piece<Line> {
    const { lines } = piece
    if (lines.length <= 1) return piece
    const at = this.#held.hold.token % lines.length
    waiting.unshift({ ...piece, lines: lines.toSpliced(at, 1) })
    return this.#pieceOf(lines.slice(at, at + 1), work)
  }

  /** The first success of a paused batch ends its pause. */
  async #resume(): Promise<void> {
    if (!this.#mustResume) return
    this.#mustResume = false
    try {
      await this.#outside.batches.resume(this.#held.batch.id)
    } catch (error) {
      // Paid results are kept all the same; the next success reports it again.
      if (!(error instanceof StoreUnreachable)) throw error
      this.#mustResume = true
    }
  }
}

/** The lines that a fault names have failed with it. */
function parts<Line>(
  piece: Piece<Line>,
  kind: FaultKind,
  fault: Fault,
  work: LineWork<Line>,
): readonly Piece<Line>[] {
  const { lines, failures } = piece
  const count = payableLines(fault, lines.length)
  const cut = kind === 'budget' ? [lines.slice(0, count), lines.slice(count)] : work.split(lines, fault)
  return cut.map((some) => ({ lines: some, failures, waits: 0 }))
}

/** Lines that the rest of the budget can pay for, if all cost the same. */
function payableLines(fault: Fault, lines: number): number {
  if (!(fault instanceof BudgetRefusal) || fault.askedNanoUsd === 0n) return 0
  return Number((BigInt(lines) * fault.leftNanoUsd) / fault.askedNanoUsd)
}

export function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error
  return new Fault('internal_error', 'The gateway failed. The log has the cause under this request id.', {
    cause: error,
  })
}
