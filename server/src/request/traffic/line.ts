/** The queue for deployments that have no free slot. */
import type { Fault } from '#core/fault/fault.ts'
import { FairQueue } from '#core/schedule/fair-queue.ts'
import type { Schedulable } from '#core/schedule/scheduler.ts'
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
  /** When the dispatch looks at the queue next. */
  wakesAtMs = Number.POSITIVE_INFINITY
  cancelWaking = (): void => {}

  constructor(maxEntries: number) {
    // The dispatch decides how long a wait may be, not the queue.
    this.queue = new FairQueue({ maxEntries, maxWaitMs: Number.POSITIVE_INFINITY })
  }

  rest(): void {
    this.cancelWaking()
    this.wakesAtMs = Number.POSITIVE_INFINITY
  }
}
