import type { Caller } from './caller.ts'

/** What a call asks of the dispatch. */
export interface TurnRequest {
  readonly model: string
  readonly project: string
  /** The call serves several projects: it waits in the name of one, and reveals nothing of its texts. */
  readonly isOfSeveralProjects?: boolean
  /** Estimated tokens of the call. */
  readonly tokens: number
  readonly images: number
  /** On the monotonic clock. */
  readonly deadlineMs: number
  /**
   * The request has calls in progress or paid. A refusal would waste them, so the call stays in the queue
   * until its deadline.
   */
  readonly isBegun?: boolean
  /** A background call: it gets the capacity that others leave, however long that takes. */
  readonly isBackground?: boolean | undefined
  /** The batch it belongs to: batches of a project take turns. */
  readonly batchId?: string | undefined
  /** When it leaves, the call gives up its place in the queue. */
  readonly caller?: Caller | undefined
}

/** Whether the call waits until its deadline: leaving would waste paid calls, or no caller waits for it. */
export function mayWait({ isBegun, isBackground }: TurnRequest): boolean {
  return isBegun === true || isBackground === true
}

/** The right to make one call to one deployment now. It is ended once, in one of these ways. */
export interface Turn<Offer> {
  readonly offer: Offer
  /** How long the call waited for it. */
  readonly waitedMs: number
  /** The call was made and failed with `error`, or succeeded. */
  end(error?: unknown): void
  /** The call was made and failed. The calls that follow show whether the deployment is at fault. */
  endUnclear(): void
  /** No call was made, and nothing was learnt about the deployment. */
  giveBack(): void
}
