/** Ledger entries as text, one array each: the contents of the journal and the spool. */
import { remarksFrom, storedRemarks, type StoredRemarks } from '#core/money/entry-remarks.ts'
import type { EntryKind, LedgerEntry, UsageSource } from '#core/money/ledger.ts'

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
  const { batchId, countsRequest, hits, inputs, savedNanoUsd, labels, remarks } = entry
  const saved = savedNanoUsd === undefined ? {} : { savedNanoUsd: String(savedNanoUsd) }
  const others = [batchId, hits, inputs, savedNanoUsd, labels, remarks]
  const isPlain = !countsRequest && others.every((field) => field === undefined)
  const stored = remarks && storedRemarks(remarks)
  const beside: [] | [Beside] = isPlain
    ? []
    : [{ batchId, countsRequest, hits, inputs, labels, remarks: stored, ...saved }]
  const fields: Fields = [
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
    ...beside,
  ]
  return JSON.stringify(fields)
}

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
