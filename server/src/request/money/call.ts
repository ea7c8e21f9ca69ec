/** A call as the books see it: begun, paid, saved or failed. */
import type { UpstreamFailure } from '#core/fault/failure.ts'
import type { LedgerEntry } from '#core/ledger.ts'
import type { Cost } from '#core/price.ts'

/** A call that has been begun. */
export interface BegunCall {
  readonly attempt: number
  /** What stands in the books if its end is never known. */
  readonly unknown: LedgerEntry
}

/** What a call turned out to be. */
export interface PaidCall {
  readonly usage: 'upstream' | 'estimated'
  /** Undefined: unknown, which is not zero. */
  readonly tokens: number | undefined
  readonly images: number
  readonly cost: Cost
}

/** What needed no call. */
export interface SavedCall {
  /** How many inputs. */
  readonly hits: number
  /** What a call for them would have cost. */
  readonly savedNanoUsd: bigint
}

/** The entry of a call whose end nobody knows, with the reason. */
export function leftUnknown(
  unknown: LedgerEntry,
  failure: UpstreamFailure | undefined,
  what: string | undefined,
): LedgerEntry {
  return { ...unknown, remarks: { what, ...unknown.remarks, reason: reasonOf(failure) } }
}

/** In our own words: an upstream's may repeat what the caller sent. */
function reasonOf(failure: UpstreamFailure | undefined): string {
  if (failure === undefined) return 'Torana failed while the call was under way'
  return failure.isInUpstreamsWords ? `the upstream answered ${failure.detail.status}` : failure.message
}

/** How much of it the node had leased. */
export function leasedOf({ projectLeaseNanoUsd, keyLeaseNanoUsd }: LedgerEntry): bigint {
  return projectLeaseNanoUsd > keyLeaseNanoUsd ? projectLeaseNanoUsd : keyLeaseNanoUsd
}
