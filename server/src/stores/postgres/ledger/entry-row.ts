/** A row of the ledger as an entry. */
import { labelsOf, type Tags } from '#core/money/labels.ts'
import { remarksFrom, type StoredRemarks } from '#core/money/entry-remarks.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'

export interface EntryRow {
  readonly request_id: string
  readonly attempt: number
  readonly kind: LedgerEntry['kind']
  readonly node_id: string
  readonly call_id: string
  readonly batch_id: string | null
  readonly project: string
  readonly key_id: string
  readonly model: string
  readonly deployment: string
  readonly usage: LedgerEntry['usage']
  readonly requests: number | null
  readonly tokens: bigint | null
  readonly images: number
  readonly amount_nano: bigint | null
  readonly unknown_nano: bigint | null
  readonly written_at: Date
  readonly end_user: string | null
  readonly tags: Tags | null
  readonly remarks: StoredRemarks | null
}

export function entryOf(row: EntryRow): LedgerEntry {
  return {
    requestId: row.request_id,
    attempt: row.attempt,
    kind: row.kind,
    callId: row.call_id,
    batchId: row.batch_id ?? undefined,
    project: row.project,
    keyId: row.key_id,
    model: row.model,
    deployment: row.deployment,
    usage: row.usage,
    tokens: row.tokens === null ? undefined : Number(row.tokens),
    images: row.images,
    amountNanoUsd: row.amount_nano ?? undefined,
    projectLeaseNanoUsd: 0n,
    keyLeaseNanoUsd: 0n,
    countsRequest: row.requests === 1,
    unknownNanoUsd: row.unknown_nano ?? undefined,
    labels: labelsOf({ user: row.end_user ?? undefined, tags: row.tags ?? undefined }),
    remarks: row.remarks === null ? undefined : remarksFrom(row.remarks),
  }
}
