/** Suspect windows: what a deployment may have made outside its space, and where it went. */
import type { LineRange, PartPlace } from '#core/batch/chunk.ts'
import type { LineRuns } from '#core/batch/line-runs.ts'

/**
 * From the last good check of a deployment until its next good one. The store of spaces opens and ends windows together with the
 * standing of the deployment.
 */
export interface SuspectWindow {
  /** `sus_…`. */
  readonly id: string
  readonly model: string
  readonly deployment: string
  readonly fromMs: number
  /** Undefined while the deployment is outside its space. */
  readonly untilMs: number | undefined
  readonly foundAtMs: number
}

/** A request of a batch whose results hold vectors of a window. */
export interface SuspectRequest {
  readonly requestId: string
  /** Vectors in its results. */
  readonly inputs: number
  /** First and last line of each run, from 1. Undefined: the results are gone. */
  readonly lines: LineRuns | undefined
}

/** A batch that has ended, with requests of a window in the ledger. */
export interface SuspectBatch {
  readonly id: string
  /** Inputs by request id. A request may have been in vain: only those in the results were handed out. */
  readonly requests: ReadonlyMap<string, number>
}

/** A chunk of a batch that has results. */
export interface SuspectChunk extends LineRange {
  readonly chunk: number
  readonly part: PartPlace
}

/** Every method is one atomic step and may be repeated. Store failures reject with `StoreUnreachable`. */
export interface SuspectStore {
  /** Windows whose vectors are to be listed now, oldest first. */
  due(limit: number): Promise<readonly SuspectWindow[]>
  /**
   * Lists the requests outside batches, and those of batches that are gone, from the ledger. Requests that the log shows as not
   * answered are left out, or taken out again.
   */
  listRequests(window: SuspectWindow): Promise<void>
  /**
   * Batches that have ended and are not listed yet. One in progress makes such lines again before it ends, and is looked at later.
   */
  batchesIn(window: SuspectWindow): Promise<readonly SuspectBatch[]>
  /** Chunks of a batch to whose results the deployment contributed within the window. */
  chunksIn(window: SuspectWindow, batchId: string): Promise<readonly SuspectChunk[]>
  listLines(window: SuspectWindow, batchId: string, requests: readonly SuspectRequest[]): Promise<void>
  /** One listing is complete: plans the next, and queues the event for each project's webhooks, once per window and project. */
  listed(window: SuspectWindow): Promise<void>
  /** Ends windows of deployments that are not among these: nothing is made by them any more. */
  endGone(present: readonly { readonly model: string; readonly deployment: string }[]): Promise<void>
  deleteOld(beforeMs: number): Promise<void>
}

/** Retention of ended windows: an index that was built in spring is still searched in summer. */
export const SUSPECTS_KEPT_MS = 400 * 86_400_000
