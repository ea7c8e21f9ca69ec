/** What was used and spent, for people: sums of rollups, never single entries, but for the export of the ledger. */
import type { EntryKind, UsageSource } from '#core/ledger.ts'

export const USAGE_GROUPS = ['model', 'deployment', 'project', 'key'] as const
export type UsageGroup = (typeof USAGE_GROUPS)[number]

export interface UsageFilter {
  /** Undefined: all. */
  readonly projects: readonly string[] | undefined
  /** Names in each of the dimensions that are named. */
  readonly only: Readonly<Partial<Record<UsageGroup, readonly string[]>>>
}

export interface UsageSum {
  readonly requests: number
  readonly posts: number
  readonly unknowns: number
  readonly tokens: number
  readonly images: number
  readonly amountNanoUsd: bigint
  /** Of it, what was reserved for calls of which nobody knows how they ended. */
  readonly unknownNanoUsd: bigint
  /** Entries without a price. */
  readonly unpriced: number
  /** Inputs that needed no call, and what it would have cost. */
  readonly hits: number
  readonly savedNanoUsd: bigint
}

export interface UsageSpan extends UsageFilter {
  /** Whole hours, or whole days in UTC. */
  readonly fromMs: number
  readonly endMs: number
}

export interface UsageQuestion extends UsageSpan {
  readonly by: UsageGroup
  readonly slot: 'hour' | 'day'
  /** So many groups are told apart, by what they spent; all others are one. */
  readonly groups: number
}

export interface UsageCell {
  /** Undefined: all that are not told apart. */
  readonly group: string | undefined
  readonly atMs: number
  readonly sum: UsageSum
}

export interface UsageTable {
  readonly cells: readonly UsageCell[]
  /** How many groups there are in all. */
  readonly groups: number
}

/** The sums of a span. */
export interface UsageTotals {
  /** Of the groups that were asked for. A group without any use is left out. */
  readonly groups: ReadonlyMap<string, UsageSum>
  /** Of all groups. */
  readonly whole: UsageSum
}

/** An entry of the ledger as it is exported. */
export interface UsageEntry {
  readonly requestId: string
  readonly attempt: number
  readonly kind: EntryKind
  readonly callId: string
  readonly project: string
  readonly keyId: string
  readonly model: string
  readonly deployment: string
  readonly usage: UsageSource
  readonly tokens: number | undefined
  readonly images: number
  readonly amountNanoUsd: bigint | undefined
  readonly writtenAtMs: number
}

/** Every method rejects with `StoreAway` when the store can't be reached. */
export interface UsageReader {
  table(question: UsageQuestion): Promise<UsageTable>
  /** The sums of these groups, and of all. */
  totals(
    question: UsageSpan & { readonly by: UsageGroup; readonly names: readonly string[] },
  ): Promise<UsageTotals>
  /** Nano-dollars of each day from the first on. */
  spentByDay(span: UsageSpan): Promise<readonly bigint[]>
  /** Entries in the order of their requests; a further portion begins `after` the last of the one before. */
  entries(
    span: UsageSpan,
    page: {
      readonly limit: number
      readonly after: Pick<UsageEntry, 'requestId' | 'attempt' | 'kind'> | undefined
    },
  ): Promise<readonly UsageEntry[]>
}
