/** Ledger entries as text, one array each: what the journal and the spool hold. */
import type { EntryKind, LedgerEntry, UsageSource } from '#core/ledger.ts'

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
  /** Where there is anything of it; an entry of the version before has none. */
  beside?: Beside,
]

type Beside = Pick<LedgerEntry, 'batchId' | 'countsRequest' | 'hits' | 'labels' | 'remarks'> & {
  readonly savedNanoUsd?: string
}

export function entryText(entry: LedgerEntry): string {
  const { batchId, countsRequest, hits, savedNanoUsd, labels, remarks } = entry
  const saved = savedNanoUsd === undefined ? {} : { savedNanoUsd: String(savedNanoUsd) }
  const others = [batchId, hits, savedNanoUsd, labels, remarks]
  const isPlain = !countsRequest && others.every((field) => field === undefined)
  const beside: [] | [Beside] = isPlain ? [] : [{ batchId, countsRequest, hits, labels, remarks, ...saved }]
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
  const { savedNanoUsd, ...beside } = fields[14] ?? {}
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
    ...(savedNanoUsd !== undefined && { savedNanoUsd: BigInt(savedNanoUsd) }),
  }
}
