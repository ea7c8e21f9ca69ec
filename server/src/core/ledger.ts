/** What the ledger holds: one entry for each thing that happened to one request's share in one call. */
import type { Labels } from './labels.ts'

/**
 * `post`: it was paid. `unknown`: it may have been paid, nobody knows. `void`: it was not paid. `intent`: it is about to be
 * paid. `adjust`: a correction.
 */
export type EntryKind = 'intent' | 'post' | 'void' | 'unknown' | 'adjust'

export type UsageSource = 'upstream' | 'estimated' | 'unknown'

export interface LedgerEntry {
  readonly requestId: string
  /** Counts the calls of the request from 0. With request and kind it makes the entry count once, however often it is sent. */
  readonly attempt: number
  readonly kind: EntryKind
  readonly callId: string
  readonly project: string
  readonly keyId: string
  readonly model: string
  readonly deployment: string
  /** The batch that the call was made for. Undefined: it was made for none. */
  readonly batchId?: string | undefined
  readonly usage: UsageSource
  /** Undefined: unknown, which is not zero. */
  readonly tokens: number | undefined
  readonly images: number
  /** What it adds to what was spent. Undefined: the model has no price. */
  readonly amountNanoUsd: bigint | undefined
  /** How much of it the node had leased from the hard budget of the project, and of the key. */
  readonly projectLeaseNanoUsd: bigint
  readonly keyLeaseNanoUsd: bigint
  /** One entry of each request counts it. */
  readonly countsRequest?: boolean | undefined
  /** Inputs that needed no call, and what a call for them would have cost. */
  readonly hits?: number | undefined
  readonly savedNanoUsd?: bigint | undefined
  /** What it adds to the sum of unknowns that nobody has resolved. The books fill it in. */
  readonly unknownNanoUsd?: bigint | undefined
  /** What the caller says the request is for. Undefined: nothing. */
  readonly labels?: Labels | undefined
  readonly remarks?: EntryRemarks | undefined
}

/** For people. Never what a caller sent. */
export interface EntryRemarks {
  /** What was asked for, such as `1 picture, 1024×1024`. */
  readonly what?: string | undefined
  /** Of an unknown: why nobody knows how it ended. Of what resolved it: why somebody thinks so. */
  readonly reason?: string | undefined
  /** Who resolved it. */
  readonly by?: string | undefined
  /** Of a post: the tokens that the upstream counted, where fewer are charged. */
  readonly toldTokens?: number | undefined
  /** Of a post: `upstream` where the amount is the upstream's own figure. Absent: it follows from the price. */
  readonly costBy?: 'upstream' | undefined
  /** Of a post: what the upstream says that it charges, where less is charged. Whole nano-dollars, as text. */
  readonly toldNanoUsd?: string | undefined
}

/** Unix milliseconds at which a UUIDv7 was made. */
export function momentOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)
}

export const HOUR_MS = 3_600_000

/** The hour a request is counted in: that of its acceptance, wherever and whenever its entry is written. */
export function hourOf(requestId: string): number {
  return Math.floor(momentOf(requestId) / HOUR_MS) * HOUR_MS
}

/** What already stands in the books for one attempt. */
export interface Standing {
  readonly kinds: ReadonlySet<EntryKind>
  /** The sums of what tells how the call went; corrections stand beside it. */
  readonly amountNanoUsd: bigint
  readonly tokens: number
  readonly images: number
  readonly countsRequest: boolean
  /** Of the unknown among them, while it is open. */
  readonly unknownNanoUsd: bigint
  /** Whatever is added later counts for the same. */
  readonly labels?: Labels | undefined
}

/** What stands once the entry stands too. */
export function standingWith(
  standing: Standing | undefined,
  {
    kind,
    ...added
  }: Pick<LedgerEntry, 'kind' | 'amountNanoUsd' | 'tokens' | 'images'> & Partial<LedgerEntry>,
): Standing {
  const before = standing ?? NOTHING_STANDS
  const kinds = new Set([...before.kinds, kind])
  if (kind === 'adjust') return { ...before, kinds }
  return {
    kinds,
    amountNanoUsd: before.amountNanoUsd + (added.amountNanoUsd ?? 0n),
    tokens: before.tokens + (added.tokens ?? 0),
    images: before.images + added.images,
    countsRequest: before.countsRequest || added.countsRequest === true,
    unknownNanoUsd: before.unknownNanoUsd + (added.unknownNanoUsd ?? 0n),
    labels: before.labels ?? added.labels,
  }
}

const NOTHING_STANDS: Standing = {
  kinds: new Set(),
  amountNanoUsd: 0n,
  tokens: 0,
  images: 0,
  countsRequest: false,
  unknownNanoUsd: 0n,
}

/** An entry, and by how many it changes the number of open unknowns. */
export interface CountedEntry {
  readonly entry: LedgerEntry
  readonly unknowns: -1 | 0 | 1
}

export function counted(entry: LedgerEntry): CountedEntry {
  if (entry.kind !== 'unknown') return { entry, unknowns: 0 }
  return { entry: { ...entry, unknownNanoUsd: entry.amountNanoUsd }, unknowns: 1 }
}

/**
 * Whether another node may have written about the same call. Only image jobs change hands, so of all others this node alone
 * writes: an unknown, which any call may become, and what brought images are the entries that have to look first.
 */
export function mayComeLate({ kind, images }: Pick<LedgerEntry, 'kind' | 'images'>): boolean {
  return kind === 'unknown' || images > 0
}

/** Who tells how a call went, from the least informed to the best. */
const BY_KNOWLEDGE: readonly EntryKind[] = ['intent', 'unknown', 'void', 'post']

/**
 * An entry that comes when others may stand for the same attempt: it adds only the difference, so that the sum is what the
 * best-informed of them says. Undefined when it has nothing to add: it is there already, or one that knows better is.
 */
export function lateEntry(entry: LedgerEntry, standing: Standing | undefined): CountedEntry | undefined {
  if (standing === undefined) return counted(entry)
  const { kinds, amountNanoUsd, tokens, images } = standing
  if (kinds.has(entry.kind)) return undefined
  if (entry.kind === 'adjust') return counted(entry)
  const better = BY_KNOWLEDGE.slice(BY_KNOWLEDGE.indexOf(entry.kind))
  if (better.some((kind) => kinds.has(kind))) return undefined
  const isUnpriced = entry.amountNanoUsd === undefined && amountNanoUsd === 0n
  const isOpen = kinds.has('unknown') && !kinds.has('void')
  const added = isUnpriced ? undefined : (entry.amountNanoUsd ?? 0n) - amountNanoUsd
  return {
    entry: {
      ...entry,
      tokens: entry.tokens === undefined && tokens === 0 ? undefined : (entry.tokens ?? 0) - tokens,
      images: entry.images - images,
      amountNanoUsd: added,
      countsRequest: entry.countsRequest === true && !standing.countsRequest,
      unknownNanoUsd: entry.kind === 'unknown' ? added : isOpen ? -standing.unknownNanoUsd : undefined,
      // A difference belongs where the sum is that it corrects.
      labels: standing.labels,
      // The unknown has used up the lease by what was reserved.
      ...(kinds.has('unknown') ? { projectLeaseNanoUsd: 0n, keyLeaseNanoUsd: 0n } : {}),
    },
    unknowns: entry.kind === 'unknown' ? 1 : isOpen ? -1 : 0,
  }
}

/**
 * The same for an entry of a living node. An `unknown` of a call that another node has told of adds nothing, but it stands: it
 * uses up the lease that this node had for the call, once.
 */
export function livingEntry(entry: LedgerEntry, standing: Standing | undefined): CountedEntry | undefined {
  const late = lateEntry(entry, standing)
  if (late !== undefined || entry.kind !== 'unknown' || standing?.kinds.has('unknown')) return late
  const adding = { tokens: undefined, images: 0, amountNanoUsd: 0n, countsRequest: false }
  return { entry: { ...entry, ...adding }, unknowns: 0 }
}
