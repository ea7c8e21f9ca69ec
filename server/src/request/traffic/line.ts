/** Queues for deployments that have no free slot. */
import type { Fault } from '#core/fault/fault.ts'
import { FairQueue } from '#core/schedule/fair-queue.ts'
import type { Schedulable } from '#core/schedule/scheduler.ts'
import { BoundedMap } from '#core/structure/bounded-map.ts'
import type { Turn, TurnRequest } from './turn.ts'

export interface WaitingCall {
  readonly offers: readonly Schedulable[]
  readonly asked: TurnRequest
  /** No call was made for this work before, so it earns credit for retries. */
  readonly isFirst: boolean
  /** When it entered the queue, on the monotonic clock. */
  readonly sinceMs: number
  readonly begin: (turn: Turn<Schedulable>) => void
  readonly refuse: (fault: Fault) => void
}

/** Calls of one model that wait for the same deployments. Calls that wait for others have another queue. */
export class Line {
  readonly queue: FairQueue<WaitingCall>
  readonly #ended: (intervalMs: number) => void
  /** When the dispatch looks at the queue next. */
  wakesAtMs = Number.POSITIVE_INFINITY
  cancelWaking = (): void => {}

  constructor(maxEntries: number, intervalMs: number | undefined, ended: (intervalMs: number) => void) {
    // The dispatch decides how long a wait may be, not the queue.
    this.queue = new FairQueue({ maxEntries, maxWaitMs: Number.POSITIVE_INFINITY }, intervalMs)
    this.#ended = ended
  }

  /** Ends the queue if no call waits in it. */
  rest(): void {
    if (this.queue.size > 0) return
    this.cancelWaking()
    this.#ended(this.queue.intervalMs)
  }
}

/** Combinations of deployments whose pace is remembered: without it, the first callers of a burst wait in vain before they are refused. */
const REMEMBERED_PACES = 64

/** The queues of a model, by the deployments that their calls wait for. A queue exists only while a call waits in it. */
export class Lines {
  readonly #lines = new Map<string, Line>()
  /** Measured intervals of queues that ended. */
  readonly #intervalsMs = new BoundedMap<string, number>(REMEMBERED_PACES)
  readonly #maxEntries: number

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  get size(): number {
    return this.#lines.size
  }

  all(): readonly Line[] {
    return [...this.#lines.values()]
  }

  find(offers: readonly Schedulable[]): Line | undefined {
    return this.#lines.size === 0 ? undefined : this.#lines.get(keyOf(offers))
  }

  /** For a call that joins it now, or calls `rest` if it can't. */
  open(offers: readonly Schedulable[]): Line {
    const key = keyOf(offers)
    const existing = this.#lines.get(key)
    if (existing !== undefined) return existing
    const line = new Line(this.#maxEntries, this.#intervalsMs.get(key), (intervalMs) => {
      this.#lines.delete(key)
      this.#intervalsMs.set(key, intervalMs)
    })
    this.#lines.set(key, line)
    return line
  }
}

function keyOf(offers: readonly Schedulable[]): string {
  return offers.length === 1 ? (offers[0]?.deployment.id ?? '') : offers.map(idOf).sort().join('\n')
}

function idOf({ deployment }: Schedulable): string {
  return deployment.id
}
