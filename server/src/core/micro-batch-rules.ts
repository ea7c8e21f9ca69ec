/** Whether requests that come at about the same time share a call. */
export interface MicroBatchRules {
  /** The longest that a request waits for others. */
  readonly maxWaitMs: number
  /** Texts of one call. */
  readonly maxItems: number
  /** Whether requests of different projects may share one. */
  readonly acrossProjects: boolean
}
