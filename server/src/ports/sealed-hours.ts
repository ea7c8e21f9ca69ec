/** Hours of the ledger that are added up once and never again. */
import type { LedgerDifference } from './upkeep.ts'

/**
 * Age at which an hour is sealed, counted from its end: nodes without their store write what they kept for an hour, and an entry
 * that comes later is a correction, which costs a row more.
 */
export const LATENESS_MS = 2 * 3_600_000

/** Time without progress after which due work counts as stalled: two rounds of hourly work were missed. */
export const STALLED_AFTER_MS = 2 * 3_600_000

export interface HoursSealed {
  readonly hours: number
  /** Entries in them. */
  readonly entries: number
  /** The first hundred. */
  readonly differences: readonly LedgerDifference[]
  /** Late entries of nodes of an earlier version that became corrections. */
  readonly adopted: number
  /** Why hours that are due are not sealed yet. */
  readonly waitsFor?: 'a node of an earlier version' | 'a transaction' | undefined
}
