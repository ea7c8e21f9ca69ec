/** Batches as people look at them. */
import type { Batch, BatchState } from './batches.ts'

/** Nothing of what the key allowed: it is for those who run the batch. */
export type ReportedBatch = Omit<Batch, 'terms'>

/** What came of the lines so far, beyond the counts. */
export interface BatchFigures {
  /** Lines that failed, by the code of the fault; the most first. */
  readonly faults: readonly { readonly code: string; readonly lines: number }[]
  /** Lines that were done in each slot, from when the batch was made to its end, or to now. */
  readonly series: { readonly slotMs: number; readonly lines: readonly number[] }
  /** Lines that were done within the last `RATE_MS`, or since the batch was made, if that is less. */
  readonly recentLines: number
}

export interface BatchFilter {
  /** Undefined: all. */
  readonly projects?: readonly string[] | undefined
  readonly states?: readonly BatchState[] | undefined
  /** Those that have not ended, or ended then or later. */
  readonly openSinceMs?: number | undefined
}

/** Over connections of its own. Trouble with the store rejects with `StoreAway`. */
export interface BatchReports {
  /** Newest first, `after` the given one. */
  list(
    filter: BatchFilter,
    page: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<readonly ReportedBatch[]>
  find(id: string): Promise<ReportedBatch | undefined>
  figures(batch: ReportedBatch, nowMs: number): Promise<BatchFigures>
}

/** Chunks of slow models take a minute: over less time the rate of a batch would jump. */
export const RATE_MS = 5 * 60_000
