/** The line for deployments that have no room now, and how long it is worth standing in it. */
import type { Fault } from '#core/fault/fault.ts'
import { FairQueue } from '#core/schedule/fair-queue.ts'
import type { Schedulable } from '#core/schedule/scheduler.ts'
import type { Turn, TurnRequest } from './turn.ts'

export interface WaitingCall {
  readonly offers: readonly Schedulable[]
  readonly asked: TurnRequest
  /** No call was made for this work before, so it earns credit for calls that are made again. */
  readonly isFirst: boolean
  readonly begin: (turn: Turn<Schedulable>) => void
  readonly refuse: (fault: Fault) => void
}

/** No call is refused for a wait this short. */
export const SHORT_WAIT_MS = 20
/** How long a wait is worth it, in times of what a call usually takes. A longer line gets no more calls done. */
const WORTH_WAITING = 0.25
/** For a project with fewer calls in line than others: the others made the line. */
const WORTH_WAITING_MODEST = 1
/** For a call that many requests share: each place ahead of it is one call, however many requests that serves. */
const WORTH_WAITING_SHARED = 4
/**
 * A line younger than this may be over soon, when a deployment
 * went away or its limit is tested. It may be this long.
 */
const YOUNG_LINE_MS = 1000
const YOUNG_LINE_WAIT_MS = 200
/** After a refusal a line counts as old for so long, even if it was empty for a moment. */
const OVERLOADED_MS = 1000

/** Calls of one model that wait for the same deployments. Calls that wait for others have a line of their own. */
export class Line {
  readonly queue: FairQueue<WaitingCall>
  /** Since when the line is not empty. */
  sinceMs = 0
  /** When the dispatch looks at the line next. */
  wakesAtMs = Number.POSITIVE_INFINITY
  cancelWaking = (): void => {}
  #overloadedUntilMs = 0

  constructor(maxEntries: number) {
    // `worthMs` decides how long a wait may be, not the queue.
    this.queue = new FairQueue({ maxEntries, maxWaitMs: Number.POSITIVE_INFINITY })
  }

  /** How long a wait is worth it. `usualMs`: what calls of the model usually take, if that is known. */
  worthMs({ project, isShared }: TurnRequest, usualMs: number | undefined, nowMs: number): number {
    const isYoung = nowMs - this.sinceMs < YOUNG_LINE_MS && nowMs >= this.#overloadedUntilMs
    const single = this.queue.isModest(project) ? WORTH_WAITING_MODEST : WORTH_WAITING
    const worth = isShared === true ? WORTH_WAITING_SHARED : single
    const leastMs = isYoung ? YOUNG_LINE_WAIT_MS : SHORT_WAIT_MS
    return usualMs === undefined ? Number.POSITIVE_INFINITY : Math.max(leastMs, usualMs * worth)
  }

  /** A call was refused because the line is too long. */
  refused(nowMs: number): void {
    this.#overloadedUntilMs = nowMs + OVERLOADED_MS
  }

  rest(): void {
    this.cancelWaking()
    this.wakesAtMs = Number.POSITIVE_INFINITY
  }
}
