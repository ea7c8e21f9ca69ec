/**
 * Runs lines of a batch until each has an end, or until the batch has to wait: attempt after attempt, each followed by what
 * `core/batch/policy.ts` says. The same for texts and for images.
 */
import { BoundedMap } from '#core/bounded-map.ts'
import type { Circuits } from '#core/batch/circuits.ts'
import { actionFor, kindOf, waitBefore, type FaultKind } from '#core/batch/policy.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Batches, HeldChunk } from '#ports/batches.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import { StoreAway } from '#ports/store.ts'
import { BudgetRefusal } from '../money/budget-refusal.ts'
import type { StopSign } from './stop-sign.ts'

/** What the holder of a chunk is told while it works. */
export interface ChunkOrders {
  /** It ends with what it has: the batch was cancelled, the node stops, or the chunk is no longer its own. */
  readonly stop: StopSign
  readonly circuits: Circuits
  readonly suspects: Suspects
  /** A place for one more call at the same time, if this node has one. */
  readonly place: () => Disposable | undefined
  /** How many lines of the chunk have answers by now, which are in memory. */
  readonly answered: (lines: number, bytes: number) => void
}

/** Lines that fail by themselves, beyond the end of a hold: their failures go on counting with the next one. */
export class Suspects extends BoundedMap<string, Failures> {
  constructor() {
    // A line that is forgotten is tried a few times more.
    super(10_000)
  }
}

/** Failures of calls. */
interface Failures {
  /** After which others succeeded, before the lines failed again. */
  readonly beside: number
  /** On the monotonic clock. */
  readonly lastMs: number
}

export interface LineLoopOutside {
  readonly batches: Pick<Batches, 'resume'>
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly wait: (ms: number) => Promise<unknown>
  /** Whether a call of the model has succeeded that began later than that, on the monotonic clock. */
  readonly dispatch: { hasSucceededSince(model: string, sinceMs: number): boolean }
}

/** What the loop is about. */
export interface LineWork<Line> {
  /** The id of the model, for what is known of it. */
  readonly model: string
  /** Tells a line from all others of the batch. */
  readonly nameOf: (line: Line) => string
  /** `ended`: the lines have an end that tells nothing of their model, or their holder is to stop. */
  attempt(lines: readonly Line[], requestId: string): Promise<Attempted>
  /** The lines end with the fault of this request. */
  fail(lines: readonly Line[], fault: Fault, requestId: string): void
  /** Lines in which the fault may be found, and the others. */
  split(lines: readonly Line[], fault: Fault): readonly (readonly Line[])[]
}

export type Attempted = Fault | 'succeeded' | 'ended'

interface Piece<Line> {
  readonly lines: readonly Line[]
  failures: Failures | undefined
  waits: number
}

/** Why lines wait, and how long. */
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
  /** What was tried once in this hold is not due any more. */
  readonly #tried = new Set<string>()

  constructor(held: HeldChunk, orders: ChunkOrders, outside: LineLoopOutside) {
    this.#held = held
    this.#orders = orders
    this.#outside = outside
    this.#begunMs = outside.clock.monotonicMs()
    this.#mustResume = held.batch.pause !== undefined
  }

  /** Nothing more begins: the holder is to stop, or the time of the batch is up. */
  get mustEnd(): boolean {
    return this.#orders.stop.isUp || this.isLate
  }

  get isLate(): boolean {
    const { batch, isLate } = this.#held
    return isLate || batch.expiresAtMs <= this.#outside.clock.nowMs()
  }

  /** Undefined: each line has an end, or `mustEnd`. */
  async run<Line>(lines: readonly Line[], work: LineWork<Line>): Promise<Trouble | undefined> {
    const { circuits } = this.#orders
    const { clock, wait } = this.#outside
    const { id, isContinued } = this.#held.batch
    // A person who lets it go on without its key starts afresh.
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
      // It left the queue because its holder stops, which says nothing of the batch.
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
      // Others come first: whether they succeed tells what is at fault.
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

  /** One line is enough to see whether the trouble is over: another one each time, since a line may be the trouble itself. */
  #sampleOf<Line>(piece: Piece<Line>, waiting: Piece<Line>[], work: LineWork<Line>): Piece<Line> {
    const { lines } = piece
    if (lines.length <= 1) return piece
    const at = this.#held.hold.token % lines.length
    waiting.unshift({ ...piece, lines: lines.toSpliced(at, 1) })
    return this.#pieceOf(lines.slice(at, at + 1), work)
  }

  /** The first success of a batch that was paused ends its pause. */
  async #resume(): Promise<void> {
    if (!this.#mustResume) return
    this.#mustResume = false
    try {
      await this.#outside.batches.resume(this.#held.batch.id)
    } catch (error) {
      // What was paid for is not given up because of it: the next success tells it again.
      if (!(error instanceof StoreAway)) throw error
      this.#mustResume = true
    }
  }
}

/** The lines of a fault's parts have failed with it. */
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

/** How many of the lines the rest of the budget is enough for, if they cost the same. */
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
