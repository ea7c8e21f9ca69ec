/** Suspect windows: what a deployment may have made outside its space, where it went, and what embeds it again. */
import type { LineRange, PartPlace } from '#core/batch/chunk.ts'
import type { LineRuns } from '#core/batch/line-runs.ts'
import type { Actor } from './audit.ts'
import type { Batch } from './batches.ts'

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

/** A batch whose suspect lines can be embedded again. */
export interface RepairSource {
  readonly batch: Batch
  readonly lines: LineRuns
}

/** The batch that embeds suspect lines again. */
export interface PlannedRepair {
  readonly batchId: string
  readonly repairBatchId: string
  readonly isMade: boolean
}

/** Every method is one atomic step and may be repeated. Store failures reject with `StoreUnreachable`. */
export interface SuspectStore {
  find(id: string): Promise<SuspectWindow | undefined>
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
  /** Batches whose lines can be embedded again now: their results are listed and their file is there. */
  repairSources(windowId: string, batchId?: string): Promise<readonly RepairSource[]>
  /**
   * Keeps the ids under which batches embed the lines of these again; a batch that has one keeps it. The first request, and each that
   * adds a batch, is written to the audit in the same step. Resolves to all repairs of the window.
   */
  planRepairs(
    windowId: string,
    wanted: readonly Pick<PlannedRepair, 'batchId' | 'repairBatchId'>[],
    actor: Actor,
  ): Promise<readonly PlannedRepair[]>
  /** The batch was made, or can't be made and is planned no more. */
  settleRepair(windowId: string, batchId: string, isMade: boolean): Promise<void>
  /** Repairs that were planned and whose batch is missing: the node that planned them may have died. */
  unmadeRepairs(limit: number): Promise<readonly (PlannedRepair & { readonly windowId: string })[]>
  deleteOld(beforeMs: number): Promise<void>
}

/** Retention of ended windows: what was found in spring can still be repaired in summer. */
export const SUSPECTS_KEPT_MS = 400 * 86_400_000
