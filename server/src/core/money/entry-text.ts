/** Ledger entries as text, one array each: the contents of the journal and the spool. */
import { remarksFrom, storedRemarks, type StoredRemarks } from './entry-remarks.ts'
import type { EntryKind, LedgerEntry, UsageSource } from './ledger.ts'

type Fields = readonly [
  requestId: string,
  attempt: number,
  kind: EntryKind,
  callId: string,
  project: string,
  keyId: string,
  model: string,
  deployment: string,
  usage: UsageSource,
  tokens: number | null,
  images: number,
  amountNanoUsd: string | null,
  projectLeaseNanoUsd: string,
  keyLeaseNanoUsd: string,
  /** Left out where it is empty; an entry of the previous version has none. */
  beside?: Beside,
]

type Beside = Pick<LedgerEntry, 'batchId' | 'countsRequest' | 'hits' | 'inputs' | 'labels'> & {
  readonly remarks?: StoredRemarks | undefined
  readonly savedNanoUsd?: string
}

export function entryText(entry: LedgerEntry): string {
  const fields = [
    entry.requestId,
    entry.attempt,
    entry.kind,
    entry.callId,
    entry.project,
    entry.keyId,
    entry.model,
    entry.deployment,
    entry.usage,
    entry.tokens ?? null,
    entry.images,
    entry.amountNanoUsd === undefined ? null : String(entry.amountNanoUsd),
    String(entry.projectLeaseNanoUsd),
    String(entry.keyLeaseNanoUsd),
  ] as const satisfies Fields
  const beside = besideOf(entry)
  return JSON.stringify(beside === undefined ? fields : [...fields, beside])
}

/** Undefined where it is empty. */
function besideOf(entry: LedgerEntry): Beside | undefined {
  const { batchId, countsRequest, hits, inputs, savedNanoUsd, labels, remarks } = entry
  const isPlain =
    batchId === undefined &&
    hits === undefined &&
    inputs === undefined &&
    savedNanoUsd === undefined &&
    labels === undefined &&
    remarks === undefined
  if (isPlain) return countsRequest ? COUNTS_REQUEST : undefined
  return {
    batchId,
    countsRequest,
    hits,
    inputs,
    labels,
    remarks: remarks && storedRemarks(remarks),
    ...(savedNanoUsd !== undefined && { savedNanoUsd: String(savedNanoUsd) }),
  }
}

/** All that nearly every entry has. */
const COUNTS_REQUEST: Beside = { countsRequest: true }

export function entryFrom(text: string): LedgerEntry {
  const fields = JSON.parse(text) as Fields
  const { savedNanoUsd, remarks, ...beside } = fields[14] ?? {}
  return {
    requestId: fields[0],
    attempt: fields[1],
    kind: fields[2],
    callId: fields[3],
    project: fields[4],
    keyId: fields[5],
    model: fields[6],
    deployment: fields[7],
    usage: fields[8],
    tokens: fields[9] ?? undefined,
    images: fields[10],
    amountNanoUsd: fields[11] === null ? undefined : BigInt(fields[11]),
    projectLeaseNanoUsd: BigInt(fields[12]),
    keyLeaseNanoUsd: BigInt(fields[13]),
    ...beside,
    ...(remarks !== undefined && { remarks: remarksFrom(remarks) }),
    ...(savedNanoUsd !== undefined && { savedNanoUsd: BigInt(savedNanoUsd) }),
  }
}
