/** What reports know that a person should look at. Every method rejects with `StoreAway`. */
export interface AttentionFigures {
  /** Requests of the last day that were refused for something that only an operator can mend. */
  refusals(): Promise<readonly RefusalFigure[]>
  /** How the newest requests of the last quarter of an hour ended, at most `NEWEST_REQUESTS` of them. */
  newest(): Promise<NewestRequests>
  /** Keys that end soon, and keys that nobody has used for long; the most pressing first, and few. */
  keys(): Promise<readonly KeyFigure[]>
  /** Events of the last week that no receiver took, by project. */
  webhooksGivenUp(): Promise<readonly WebhookFigure[]>
  /** What was spent and saved since then. `projects` undefined: all. */
  spentSince(fromMs: number, projects: readonly string[] | undefined): Promise<SpentFigure>
}

/** Requests that are looked at: enough for a share, and read in milliseconds at any rate. */
export const NEWEST_REQUESTS = 1000

export interface NewestRequests {
  readonly requests: number
  /** Those that were not the caller's mistake (status 500 and above), by fault, the most frequent first. */
  readonly failures: readonly { readonly fault: string; readonly requests: number }[]
}

export interface RefusalFigure {
  readonly fault: 'model_unpriced' | 'model_retired'
  /** Undefined: the model is not in the catalog. */
  readonly model: string | undefined
  readonly requests: number
  readonly firstAtMs: number
  readonly projects: readonly string[]
}

export interface KeyFigure {
  readonly key: string
  readonly project: string
  readonly kind: 'idle' | 'ends'
  /** When it was last used, or when it ends. */
  readonly atMs: number
  readonly expiresAtMs: number | undefined
}

export interface WebhookFigure {
  readonly project: string
  readonly events: number
  readonly lastAtMs: number
}

export interface SpentFigure {
  readonly spentNanoUsd: bigint
  readonly savedNanoUsd: bigint
}
