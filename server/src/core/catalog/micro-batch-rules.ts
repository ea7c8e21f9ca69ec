/** Whether simultaneous requests share a call. */
export interface MicroBatchRules {
  /** Longest wait of a request for others. */
  readonly maxWaitMs: number
  /** Texts per call. */
  readonly maxItems: number
  /** Whether requests of different projects may share a call. */
  readonly acrossProjects: boolean
}
