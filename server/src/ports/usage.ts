/** What was used and spent, for people: sums of rollups, never single entries, but for the export of the ledger. */
import type { EntryKind, UsageSource } from '#core/ledger.ts'
import type { Labels } from '#core/labels.ts'

/** Values of one label that are counted apart, by project and day: as many as a page of usage can list. */
export const MOST_VALUES = 1000
/** Keys of tags that are counted apart, by project and day: twice as many as one request can have. */
export const MOST_TAG_KEYS = 16

export const USAGE_GROUPS = ['model', 'deployment', 'project', 'key'] as const
export type UsageGroup = (typeof USAGE_GROUPS)[number]

/** What callers say a request is for: its user, or a tag with this key. */
export type UsageLabel = 'user' | `tag:${string}`

export function isUsageLabel(by: UsageGroup | UsageLabel): by is UsageLabel {
  return by === 'user' || by.startsWith('tag:')
}

export interface UsageFilter {
  /** Undefined: all. */
  readonly projects: readonly string[] | undefined
  /** Names in each of the dimensions that are named. */
  readonly only: Readonly<Partial<Record<UsageGroup, readonly string[]>>>
  /** Calls with one of these values. Labels are counted one by one, so a question names at most one of them. */
  readonly labelled?: { readonly label: UsageLabel; readonly values: readonly string[] } | undefined
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
  /** A label is the one of `labelled`, if there is one. */
  readonly by: UsageGroup | UsageLabel
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
  /** Beside the values of a label. Undefined: the question is not by a label. */
  readonly beside?: BesideValues | undefined
}

/** Every call is in one value of a label, or in one of these: together they are all calls of the ledger. */
interface BesideValues {
  /** Values that came after the `MOST_VALUES` of their project and day. */
  readonly overflow: readonly UsageCell[]
  /** Calls that do not have the label. */
  readonly none: readonly UsageCell[]
}

/** The sums of a span. */
export interface UsageTotals {
  /** Of the groups that were asked for. A group without any use is left out. */
  readonly groups: ReadonlyMap<string, UsageSum>
  /** Of all groups. */
  readonly whole: UsageSum
  /** By a label: of all calls that have it, and of values that are not counted apart. */
  readonly label?: { readonly labelled: UsageSum; readonly overflow: UsageSum | undefined } | undefined
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
  readonly labels: Labels | undefined
}

/** Every method rejects with `StoreAway` when the store can't be reached. */
export interface UsageReader {
  table(question: UsageQuestion): Promise<UsageTable>
  /** The sums of these groups, and of all. */
  totals(
    question: UsageSpan & { readonly by: UsageGroup | UsageLabel; readonly names: readonly string[] },
  ): Promise<UsageTotals>
  /** Of calls with a tag whose key came after the `MOST_TAG_KEYS` of their project and day: sums by that tag do not know them. */
  withLeftOutTags(span: UsageSpan): Promise<UsageSum>
  /** Keys of tags that were used, in order. */
  tagKeys(span: UsageSpan): Promise<readonly string[]>
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
