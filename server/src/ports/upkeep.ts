/** Limits and reports of background work for the ledger, and the figures of a node. */

/**
 * Lead or lag of a machine's clock at which its node does no chores. Clocks that NTP keeps differ by milliseconds; this is well above
 * what a slow heartbeat hides, and well below all that is decided by time.
 */
export const MAX_CLOCK_SKEW_MS = 5000

/** Days of the request log that one round deletes: one is due each day, and a clock that is wrong takes no more of them in an hour. */
export const DAYS_PER_ROUND = 3

/** Time until an unknown is posted: an operator has a week, with its weekend, to ask the upstream. */
export const UNKNOWN_POSTED_AFTER_MS = 7 * 86_400_000

/** Retention of the request log: questions come within a month, and older rows are personal data without a use. */
export const REQUEST_LOG_DAYS = 30

/**
 * Retention of hourly sums, in days: a quarter can be looked at by the hour. They are dropped by the month, and the sums of their
 * days stay.
 */
export const HOURS_KEPT_DAYS = 92

export interface PartitionsMade {
  readonly made: readonly string[]
  /** Partitions that could not be created, and why. */
  readonly missing: readonly { readonly partition: string; readonly reason: 'rows in the way' | 'busy' }[]
}

export interface LedgerFigures {
  /** Unresolved unknowns. */
  readonly unknowns: {
    readonly open: number
    readonly amountNanoUsd: bigint
    readonly oldestAtMs: number | undefined
  }
  /** Entries that the store refused for their content and that wait to be written. */
  readonly refused: { readonly entries: number; readonly amountNanoUsd: bigint }
  readonly nodes: { readonly alive: number; readonly silent: number }
  /** Money held by nodes that have ended, or have been silent for long: no request can use it. */
  readonly lostLeases: readonly { readonly nodeId: string; readonly amountNanoUsd: bigint }[]
  /** Rows without a partition of their own; counted up to a bound. */
  readonly restRows: { readonly ledger: number; readonly requests: number }
  /** Hard budgets in the current window, the fullest first, up to a bound. */
  readonly budgets: readonly BudgetFigures[]
  /** Projects that wait for their deletion. */
  readonly deletedProjects: number
  /**
   * Users and tags of the last day that are not all counted separately; the most expensive first, up to a bound.
   */
  readonly overflows: readonly LabelOverflow[]
  /** Sums of hours that differed from their entries when they were last compared. */
  readonly differences: number
  readonly seal: SealFigures
}

/** How far the ledger has come. */
export interface SealFigures {
  /** Hours before it are sealed. Undefined: none is. */
  readonly sealedThroughMs: number | undefined
  /** Hours before it were compared with their sums. */
  readonly comparedThroughMs: number
  /** Time for which an hour has been due without progress. 0 when none is due. */
  readonly sealWaitsMs: number
  readonly compareWaitsMs: number
  /** Set when a moment up to which hours were sealed, compared or dropped is in the future: a clock was wrong. */
  readonly aheadUntilMs: number | undefined
  /** Nodes of an earlier version that have not been ended: no hour is sealed while there are any. */
  readonly earlierNodes: number
}

interface LabelOverflow {
  readonly project: string
  /** `user`, `tag:<key>`, or `tag:` for all tags whose keys are not counted separately. */
  readonly label: string
  readonly sinceMs: number
  readonly amountNanoUsd: bigint
}

interface BudgetFigures {
  readonly budgetId: string
  readonly limitNanoUsd: bigint
  readonly spentNanoUsd: bigint
  readonly leasedNanoUsd: bigint
}

export interface Reconciliation {
  /** Entries of the ledger that were added up. */
  readonly entries: number
  /** The first hundred. */
  readonly differences: readonly LedgerDifference[]
  readonly budgetsCompared: number
  readonly budgetsCorrected: readonly BudgetCorrection[]
}

/** One project in one span of time: the sum of the entries, and the sum of the hours. Or all projects in a sealed hour. */
export interface LedgerDifference {
  /**
   * What differs from the sealed sums of an hour, in `rollup`: its entries, by their sums or by their hash alone; or, where the
   * entries are no longer in the store, its sums.
   */
  readonly sealed?: 'entries' | 'hash' | 'sums' | undefined
  /** Empty: all projects. */
  readonly project: string
  /** The label of a sum by user or by a tag. Absent for the sum of the project. */
  readonly label?: string | undefined
  /** Start of the span, an hour or more before its end. Undefined: since the first entry. */
  readonly fromMs: number | undefined
  readonly ledger: LedgerSums
  readonly rollup: LedgerSums
}

export interface LedgerSums {
  readonly posts: number
  readonly tokens: number
  readonly images: number
  readonly amountNanoUsd: bigint
  readonly requests: number
  readonly hits: number
  readonly savedNanoUsd: bigint
  readonly unknownNanoUsd: bigint
}

export interface BudgetCorrection {
  readonly budgetId: string
  readonly windowStartMs: number
  readonly spentNanoUsd: Correction
  readonly leasedNanoUsd: Correction
}

interface Correction {
  readonly before: bigint
  readonly after: bigint
}

/** Figures that a node has in memory, without asking a store. */
export interface NodeFigures {
  readonly isStoreUnreachable: boolean
  /** Entries that wait on its disk for the store. */
  readonly spoolWaiting: number
  /** Calls in progress. */
  readonly journalOpen: number
  /** Why its disk can't be written. Undefined while it can; a node that can't write takes no requests. */
  readonly diskFailure: string | undefined
  /** How far its clock is ahead of the store's. Undefined: the store has not said yet. */
  readonly clockSkewMs: number | undefined
  readonly hasConfigFile: boolean
  /** Set while its configuration file is wrong and an earlier one is in force. */
  readonly configRefusal: { readonly sinceMs: number; readonly problems: readonly string[] } | undefined
  /** Undefined without Redis. */
  readonly limiter: LimiterFigures | undefined
}

interface LimiterFigures {
  /** `local`: Redis is unreachable, and the node decides by its share of each limit. */
  readonly state: 'shared' | 'local'
  /** What ended the last connection. Undefined once a request was counted since. */
  readonly lastError?: string | undefined
  /** Since its start. */
  readonly counts: {
    readonly takes: number
    readonly localDecisions: number
    readonly scriptCalls: number
    readonly timeouts: number
    readonly errors: number
  }
}

/** Memory of the Redis that counts rate limits. */
export interface LimiterMemory {
  readonly usedBytes: number
  /** 0: it has no limit. */
  readonly maxBytes: number
  /** What it evicts when its memory is full. */
  readonly evictionPolicy: string
}

/** Silence after which a node may be ended: sixty heartbeats, longer than any pause of a machine that still runs. */
export const SILENT_AFTER_MS = 60_000
