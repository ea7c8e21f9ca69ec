/** A call as the books see it: begun, paid, saved or failed. */
import type { UpstreamFailure } from '#core/fault/failure.ts'
import type { EntryRemarks, LedgerEntry } from '#core/ledger.ts'
import type { Cost } from '#core/price.ts'

/** A call that has been begun. */
export interface BegunCall {
  readonly attempt: number
  /** What stands in the books if its end is never known. */
  readonly unknown: LedgerEntry
}

/** What every entry of one call says. */
type NamedCall = Pick<
  LedgerEntry,
  'requestId' | 'attempt' | 'callId' | 'project' | 'keyId' | 'model' | 'deployment' | 'batchId' | 'labels'
>

/** How much of a call is leased from the hard budget of its project, and of its key. */
type Leased = Pick<LedgerEntry, 'projectLeaseNanoUsd' | 'keyLeaseNanoUsd'>

export const NOTHING_LEASED: Leased = { projectLeaseNanoUsd: 0n, keyLeaseNanoUsd: 0n }

/** What stands in the books of a call until its end is known. `what` says for people what is asked for. */
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

/** What a call turned out to be. */
export interface PaidCall {
  readonly usage: 'upstream' | 'estimated'
  /** Undefined: unknown, which is not zero. */
  readonly tokens: number | undefined
  readonly images: number
  readonly cost: Cost
  /** What the upstream counted and charges, where less is charged here. Undefined: nothing was cut. */
  readonly toldTokens?: number | undefined
  readonly toldNanoUsd?: bigint | undefined
  /** The cost is the upstream's own figure. Undefined: it follows from the price. */
  readonly costBy?: 'upstream' | undefined
}

/** What needed no call. */
export interface SavedCall {
  /** How many inputs. */
  readonly hits: number
  /** What a call for them would have cost. */
  readonly savedNanoUsd: bigint
}

/** The entry of a call that the upstream answered. It uses up of its lease what it cost. */
export function paidEntry(unknown: LedgerEntry, call: PaidCall, countsRequest: boolean): LedgerEntry {
  const { usage, tokens, images, cost } = call
  const amountNanoUsd = cost.kind === 'known' ? cost.nanoUsd : undefined
  const usedOf = (leased: bigint): bigint => ((amountNanoUsd ?? 0n) < leased ? (amountNanoUsd ?? 0n) : leased)
  return {
    ...unknown,
    kind: 'post',
    usage,
    tokens,
    images,
    amountNanoUsd,
    projectLeaseNanoUsd: usedOf(unknown.projectLeaseNanoUsd),
    keyLeaseNanoUsd: usedOf(unknown.keyLeaseNanoUsd),
    countsRequest,
    remarks: remarksOf(call),
  }
}

/** Undefined of nearly every call. */
function remarksOf({ toldTokens, toldNanoUsd, costBy }: PaidCall): EntryRemarks | undefined {
  if (toldTokens === undefined && toldNanoUsd === undefined && costBy === undefined) return undefined
  return {
    ...(toldTokens === undefined ? {} : { toldTokens }),
    ...(costBy === undefined ? {} : { costBy }),
    ...(toldNanoUsd === undefined ? {} : { toldNanoUsd: String(toldNanoUsd) }),
  }
}

/** The entry of an answer that needed no call. */
export function savedEntry(
  call: NamedCall,
  { hits, savedNanoUsd }: SavedCall,
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
  }
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
