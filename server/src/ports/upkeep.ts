/** What runs beside requests for the books. Every method rejects with `StoreAway` when the store can't be reached. */
import type { Actor } from './audit.ts'
import type { NodeSetup } from './node-setup.ts'

/**
 * Chores. Each may be done by any node, at any time, twice or by two nodes at once: the outcome is the same. Each is done in
 * short steps, so that nobody waits long behind it, and what could not be done now is done the next time.
 */
export interface Upkeep {
  /**
   * True for the living node that has been there longest. Chores are left to it, so that many nodes do not all do the same;
   * when it goes, the next one takes over.
   */
  isEldest(nodeId: string): Promise<boolean>
  /**
   * Makes the partitions that rows of now and of the time to come belong in. To be called before the first row is written:
   * a partition can't be made any more once its rows lie in the one for the rest. One that can't be made holds up no other.
   */
  makePartitions(): Promise<PartitionsMade>
  /** Removes what has been kept for its time: the request log, and nodes that ended long ago. The ledger is kept for good. */
  dropOld(): Promise<OldDropped>
  /** Makes the days from the hours: the last nine, which is how far back entries usually come late, or all of them. */
  rollUpDays(span: 'recent' | 'all'): Promise<void>
  /** Posts unknowns that nobody resolved within `UNKNOWN_POSTED_AFTER_MS` at what was reserved, as actor `system`. How many. */
  expireUnknowns(): Promise<number>
  /**
   * Removes what is kept of projects that were deleted: their request log, keys and secrets, and at last their names. What
   * they spent stays in the ledger. Waits until no node can be without the news of the deletion. The projects that are gone.
   */
  deleteProjects(): Promise<readonly string[]>
}

/** An operator has a week, with its weekend, to ask the upstream. */
export const UNKNOWN_POSTED_AFTER_MS = 7 * 86_400_000

export interface PartitionsMade {
  readonly made: readonly string[]
  /** Could not be made now, and why. */
  readonly missing: readonly { readonly partition: string; readonly reason: 'rows in the way' | 'busy' }[]
}

export interface OldDropped {
  /** Partitions of the request log that are gone. */
  readonly partitions: readonly string[]
  /** Ended nodes that are forgotten. */
  readonly nodes: number
}

/** Whether the books agree with one another. */
export interface Reconciler {
  /** What stands in the books now: cheap, to be asked every minute. */
  figures(): Promise<BooksFigures>
  /**
   * Adds the ledger up again and compares it with what is kept beside it. Of the ledger it reads the last hours, the one that
   * runs included, or all of it. Rollups that differ are reported and never touched. What a budget of that time says it has
   * spent or leased is made what it must be, in one step with an audit entry, and reported.
   */
  reconcile(hours: number | 'all'): Promise<Reconciliation>
}

export interface BooksFigures {
  /** Unknowns that nobody has resolved. */
  readonly unknowns: {
    readonly open: number
    readonly amountNanoUsd: bigint
    readonly oldestAtMs: number | undefined
  }
  readonly nodes: { readonly alive: number; readonly silent: number }
  /** Money held by nodes that have ended, or have been silent for long: no request can use it. */
  readonly lostLeases: readonly { readonly nodeId: string; readonly amountNanoUsd: bigint }[]
  /** Rows that no partition was made for; counted up to `REST_ROWS_MAX`. */
  readonly restRows: { readonly ledger: number; readonly requests: number }
  /** Hard budgets in the window of now, the fullest first, up to `BUDGETS_MAX`. */
  readonly budgets: readonly BudgetFigures[]
  /** Projects that wait for their deletion. */
  readonly deletedProjects: number
  /** Users and tags of the last day of which not all are counted apart; the dearest first, up to `OVERFLOWS_MAX`. */
  readonly overflows: readonly LabelOverflow[]
}

/** Beyond it, how many more there are makes no difference to what has to be done. */
export const REST_ROWS_MAX = 10_000
/** Each is a series of its own in the metrics. */
export const BUDGETS_MAX = 200

/** Beyond it, how many more there are makes no difference to what has to be done. */
export const OVERFLOWS_MAX = 200

interface LabelOverflow {
  readonly project: string
  /** `user`, `tag:<key>`, or `tag:` for all tags whose keys are not counted apart. */
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

/** One project in one stretch of time: what the entries add up to, and what the hours say. */
export interface LedgerDifference {
  readonly project: string
  /** Of the sums by user, or by a tag, which are compared as well. */
  readonly label?: string | undefined
  /** Where the stretch begins, an hour or more before its end; undefined: at the beginning of all. */
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

/** What one node says of itself, with no question to anybody. */
export interface NodeFigures {
  readonly isStoreAway: boolean
  /** Entries that wait on its disk for the store. */
  readonly spoolWaiting: number
  /** Calls under way. */
  readonly journalOpen: number
  /** Why its disk can't be written, if so: then it takes no requests. */
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
  /** `local`: Redis is away, and the node decides by its share of each limit. */
  readonly state: 'shared' | 'local'
  /** What Redis does when its memory is full. Undefined: it does not tell. */
  readonly evictionPolicy?: string | undefined
  /** Since its start. */
  readonly counts: {
    readonly takes: number
    readonly localDecisions: number
    readonly scriptCalls: number
    readonly timeouts: number
    readonly errors: number
  }
}

/** The processes that write to the books. */
export interface NodeRegister {
  /** Those that have not ended, and those that ended in the last days; newest first. */
  list(): Promise<readonly NodeRecord[]>
  /**
   * An operator says that the machine of a node is gone: its leases come home, and nothing more is taken in its name. What
   * its journal held is lost with it. A node that was seen within `SILENT_AFTER_MS` is refused as `alive` unless forced, for
   * it would have to stop. The actor is written to the audit in the same step.
   */
  end(nodeId: string, options: { readonly force: boolean; readonly actor: Actor }): Promise<NodeEnding>
}

/** Sixty heartbeats: longer than any pause of a machine that is still there. */
export const SILENT_AFTER_MS = 60_000

export interface NodeRecord {
  readonly id: string
  readonly host: string
  readonly version: string
  /** One of `NODE_ROLES`, or one that only a newer version knows. */
  readonly role: string
  readonly startedAtMs: number
  readonly seenAtMs: number
  readonly endedAtMs: number | undefined
  readonly state: 'alive' | 'silent' | 'ended'
  readonly leasedNanoUsd: bigint
  /** Undefined: it has not said, or is of an earlier version. */
  readonly setup: NodeSetup | undefined
}

export type NodeEnding =
  | { readonly kind: 'ended'; readonly returnedNanoUsd: bigint }
  | { readonly kind: 'missing' | 'alive' | 'ended-before' }
