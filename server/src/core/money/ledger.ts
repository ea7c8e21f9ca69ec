/** An entry of the ledger: one event of one request's share in one call. */
import type { EntryRemarks } from './entry-remarks.ts'
import type { Labels } from './labels.ts'

/**
 * `post`: it was paid. `unknown`: it may have been paid. `void`: it was not paid. `intent`: it is about to be paid.
 * `adjust`: a correction.
 */
export type EntryKind = 'intent' | 'post' | 'void' | 'unknown' | 'adjust'

export type UsageSource = 'upstream' | 'estimated' | 'unknown'

export interface LedgerEntry {
  readonly requestId: string
  /**
   * Counts the calls of the request from 0. Together with request and kind it makes the entry count once, however often it
   * is sent.
   */
  readonly attempt: number
  readonly kind: EntryKind
  readonly callId: string
  readonly project: string
  readonly keyId: string
  readonly model: string
  readonly deployment: string
  /** The batch of the call. Undefined for a call of no batch. */
  readonly batchId?: string | undefined
  readonly usage: UsageSource
  /** Undefined: unknown, which is not zero. */
  readonly tokens: number | undefined
  readonly images: number
  /** Inputs of a paid call for embeddings whose vectors were used. Undefined: one, or it is no such call. */
  readonly inputs?: number | undefined
  /** The amount that it adds to the spending. Undefined: the model has no price. */
  readonly amountNanoUsd: bigint | undefined
  /** The part of it that the node had leased from the hard budget of the project, and of the key. */
  readonly projectLeaseNanoUsd: bigint
  readonly keyLeaseNanoUsd: bigint
  /** One entry of each request counts it. */
  readonly countsRequest?: boolean | undefined
  /** Inputs that needed no call, and what a call for them would have cost. */
  readonly hits?: number | undefined
  readonly savedNanoUsd?: bigint | undefined
  /** The amount that it adds to the sum of unresolved unknowns. The ledger fills it in. */
  readonly unknownNanoUsd?: bigint | undefined
  /** The labels of the request. Undefined: none. */
  readonly labels?: Labels | undefined
  readonly remarks?: EntryRemarks | undefined
}

/** Unix milliseconds at which a UUIDv7 was made. */
export function momentOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)
}

export const HOUR_MS = 3_600_000

/** The hour in which a request is counted: that of its acceptance, wherever and whenever its entry is written. */
export function hourOf(requestId: string): number {
  return Math.floor(momentOf(requestId) / HOUR_MS) * HOUR_MS
}

/** What the ledger already holds for one attempt. */
export interface Standing {
  readonly kinds: ReadonlySet<EntryKind>
  /** The sums of the entries about the outcome of the call; corrections are separate. */
  readonly amountNanoUsd: bigint
  readonly tokens: number
  readonly images: number
  readonly countsRequest: boolean
  /** The amount of the unknown among them, while it is open. */
  readonly unknownNanoUsd: bigint
  /** Later entries count for the same labels. */
  readonly labels?: Labels | undefined
}

/** The standing after the entry is added. */
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

/** An entry, and its change of the number of open unknowns. */
export interface CountedEntry {
  readonly entry: LedgerEntry
  readonly unknowns: -1 | 0 | 1
}

export function counted(entry: LedgerEntry): CountedEntry {
  if (entry.kind !== 'unknown') return { entry, unknowns: 0 }
  return { entry: { ...entry, unknownNanoUsd: entry.amountNanoUsd }, unknowns: 1 }
}

/**
 * Whether another node may have written about the same call. Only image jobs change hands, so this node alone writes all
 * other entries: only an unknown, which any call may become, and entries with images must check first.
 */
export function mayComeLate({ kind, images }: Pick<LedgerEntry, 'kind' | 'images'>): boolean {
  return kind === 'unknown' || images > 0
}

/** Kinds of entries by how well they know the outcome, the least informed first. */
const BY_KNOWLEDGE: readonly EntryKind[] = ['intent', 'unknown', 'void', 'post']

/**
 * An entry that comes when others may exist for the same attempt: it adds only the difference, so that the sum follows the
 * best-informed of them. Undefined when it has nothing to add: it exists already, or a better-informed one does.
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
      // A difference counts where the sum that it corrects counts.
      labels: standing.labels,
      // The unknown has used up the lease by the reserved amount.
      ...(kinds.has('unknown') ? { projectLeaseNanoUsd: 0n, keyLeaseNanoUsd: 0n } : {}),
    },
    unknowns: entry.kind === 'unknown' ? 1 : isOpen ? -1 : 0,
  }
}

/**
 * The same for an entry of a living node. An `unknown` of a call that another node has written about adds nothing, but it
 * is kept: it uses up the lease that this node had for the call, once.
 */
export function livingEntry(entry: LedgerEntry, standing: Standing | undefined): CountedEntry | undefined {
  const late = lateEntry(entry, standing)
  if (late !== undefined || entry.kind !== 'unknown' || standing?.kinds.has('unknown')) return late
  const adding = { tokens: undefined, images: 0, amountNanoUsd: 0n, countsRequest: false }
  return { entry: { ...entry, ...adding }, unknowns: 0 }
}
