/** Image jobs as people look at them. */
import type { ImageJobState } from './image-jobs.ts'

export interface ReportedJob {
  readonly id: string
  readonly state: ImageJobState
  readonly project: string
  readonly key: string
  readonly model: string
  /** How the request log names its route. Undefined: the log has nothing of it. */
  readonly route: string | undefined
  readonly createdAtMs: number
  readonly endedAtMs: number | undefined
  readonly answeredAtMs: number | undefined
  /** Its pictures are kept with the results of a batch, until then. Undefined: it is of none, and they are kept as long as others. */
  readonly keptUntilMs: number | undefined
  /** What it came to, as text: the answer of a settled job, the fault of another. Undefined: it has not ended, or can't be read. */
  readonly result: string | undefined
  readonly costNanoUsd: bigint | undefined
  readonly holders: readonly { readonly node: string; readonly fromMs: number }[]
}

export interface JobFilter {
  /** Undefined: all. */
  readonly projects?: readonly string[] | undefined
  /** How the ids of their keys end. */
  readonly keyEnd?: string | undefined
  readonly model?: string | undefined
  readonly states?: readonly ImageJobState[] | undefined
  /** Begun then or later. */
  readonly sinceMs?: number | undefined
}

/** Over connections of its own. Trouble with the store rejects with `StoreAway`. */
export interface ImageJobReports {
  /** Newest first, `after` the given one. */
  list(
    filter: JobFilter,
    page: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<readonly ReportedJob[]>
  find(id: string): Promise<ReportedJob | undefined>
}
