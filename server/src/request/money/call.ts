/** The ledger entries of a call: begun, paid, saved or failed. */
import type { UpstreamFailure } from '#core/fault/failure.ts'
import type { EntryRemarks } from '#core/money/entry-remarks.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import type { Cost } from '#core/money/price.ts'

export interface BegunCall {
  readonly attempt: number
  /** The ledger entry if its end is never known. */
  readonly unknown: LedgerEntry
}

/** The fields shared by all entries of one call. */
type NamedCall = Pick<
  LedgerEntry,
  'requestId' | 'attempt' | 'callId' | 'project' | 'keyId' | 'model' | 'deployment' | 'batchId' | 'labels'
>

/** The amounts of a call leased from the hard budgets of its project and key. */
type Leased = Pick<LedgerEntry, 'projectLeaseNanoUsd' | 'keyLeaseNanoUsd'>

export const NOTHING_LEASED: Leased = { projectLeaseNanoUsd: 0n, keyLeaseNanoUsd: 0n }

/** The ledger entry of a call until its end is known. `what` describes the call for people. */
export function openEntry(
  call: NamedCall,
  cost: Cost,
  { projectLeaseNanoUsd, keyLeaseNanoUsd }: Leased,
  countsRequest: boolean,
  what?: string,
): LedgerEntry {
  return {
    requestId: call.requestId,
    attempt: call.attempt,
    callId: call.callId,
    project: call.project,
    keyId: call.keyId,
    model: call.model,
    deployment: call.deployment,
    batchId: call.batchId,
    kind: 'unknown',
    usage: 'unknown',
    tokens: undefined,
    images: 0,
    amountNanoUsd: cost.kind === 'known' ? cost.nanoUsd : undefined,
    projectLeaseNanoUsd,
    keyLeaseNanoUsd,
    countsRequest,
    labels: call.labels,
    remarks: what === undefined ? undefined : { what },
  }
}

/** The outcome of a paid call. */
export interface PaidCall {
  readonly usage: 'upstream' | 'estimated'
  /** Undefined means unknown, not zero. */
  readonly tokens: number | undefined
  readonly images: number
  /** Inputs of a call for embeddings, if there are several. */
  readonly inputs?: number | undefined
  readonly cost: Cost
  /** What the upstream counted and charged, where less is charged here. Undefined when nothing was cut. */
  readonly reportedTokens?: number | undefined
  readonly reportedNanoUsd?: bigint | undefined
  /** Set when the cost is the upstream's own figure. Undefined when it follows from the price. */
  readonly costBy?: 'upstream' | undefined
}

/** Inputs that needed no call. */
export interface SavedCall {
  readonly hits: number
  /** The cost of a call for them. */
  readonly savedNanoUsd: bigint
  /** Those that no good check has confirmed yet, by the deployment that made them. Undefined: there are none. */
  readonly unconfirmed?: EntryRemarks['unconfirmed']
}

/** The entry of a call that the upstream answered. It uses its cost from its lease. */
export function paidEntry(unknown: LedgerEntry, call: PaidCall, countsRequest: boolean): LedgerEntry {
  const { usage, tokens, images, inputs, cost } = call
  const amountNanoUsd = cost.kind === 'known' ? cost.nanoUsd : undefined
  const usedOf = (leased: bigint): bigint => ((amountNanoUsd ?? 0n) < leased ? (amountNanoUsd ?? 0n) : leased)
  return {
    ...unknown,
    kind: 'post',
    usage,
    tokens,
    images,
    inputs,
    amountNanoUsd,
    projectLeaseNanoUsd: usedOf(unknown.projectLeaseNanoUsd),
    keyLeaseNanoUsd: usedOf(unknown.keyLeaseNanoUsd),
    countsRequest,
    remarks: remarksOf(call),
  }
}

/** Undefined for nearly every call. */
function remarksOf({ reportedTokens, reportedNanoUsd, costBy }: PaidCall): EntryRemarks | undefined {
  if (reportedTokens === undefined && reportedNanoUsd === undefined && costBy === undefined) return undefined
  return {
    ...(reportedTokens === undefined ? {} : { reportedTokens }),
    ...(costBy === undefined ? {} : { costBy }),
    ...(reportedNanoUsd === undefined ? {} : { reportedNanoUsd: String(reportedNanoUsd) }),
  }
}

/** The entry of an answer that needed no call. */
export function savedEntry(
  call: NamedCall,
  { hits, savedNanoUsd, unconfirmed }: SavedCall,
  countsRequest: boolean,
): LedgerEntry {
  return {
    ...call,
    kind: 'post',
    usage: 'upstream',
    tokens: 0,
    images: 0,
    amountNanoUsd: 0n,
    ...NOTHING_LEASED,
    countsRequest,
    hits,
    savedNanoUsd,
    remarks: unconfirmed && { unconfirmed },
  }
}

/** The entry of a call whose end is not known, with the reason. */
export function leftUnknown(
  unknown: LedgerEntry,
  failure: UpstreamFailure | undefined,
  what: string | undefined,
): LedgerEntry {
  return { ...unknown, remarks: { what, ...unknown.remarks, reason: reasonOf(failure) } }
}

/** In our own words: the upstream's may repeat what the caller sent. */
function reasonOf(failure: UpstreamFailure | undefined): string {
  if (failure === undefined) return 'Torana failed while the call was in progress'
  return failure.isInUpstreamsWords ? `the upstream answered ${failure.detail.status}` : failure.reason
}

/** The leased amount of an entry. */
export function leasedOf({ projectLeaseNanoUsd, keyLeaseNanoUsd }: LedgerEntry): bigint {
  return projectLeaseNanoUsd > keyLeaseNanoUsd ? projectLeaseNanoUsd : keyLeaseNanoUsd
}
