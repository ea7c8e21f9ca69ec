import type { Caller } from './caller.ts'

/** What a call asks of the dispatch. */
export interface TurnRequest {
  readonly model: string
  readonly project: string
  /** The call serves others than that project too: it waits in its name, and tells nothing of its texts. */
  readonly isOfSeveralProjects?: boolean
  /** About how many the call will be charged. */
  readonly tokens: number
  readonly images: number
  /** On the monotonic clock. */
  readonly deadlineMs: number
  /**
   * The request has calls under way or paid. A refusal would
   * waste them, so the call stands in line until its deadline.
   */
  readonly isBegun?: boolean
  /** Nobody waits for it: it gets what others leave, however long that takes. */
  readonly isBackground?: boolean | undefined
  /** The batch that it is of: batches of a project take turns. */
  readonly batchId?: string | undefined
  /** Gives up its place in line when it leaves. */
  readonly caller?: Caller | undefined
}

/** The right to make one call to one deployment now. It is ended once, in one of two ways. */
export interface Turn<Offer> {
  readonly offer: Offer
  /** How long it was waited for. */
  readonly waitedMs: number
  /** The call was made, and ended with this error, or well. */
  end(error?: unknown): void
  /** The call was made and failed. Whether the deployment is at fault is told by the calls that follow it. */
  endUnclear(): void
  /** No call was made, and nothing was learnt of the deployment. */
  giveBack(): void
}
