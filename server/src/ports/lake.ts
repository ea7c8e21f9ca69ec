/** Sealed days of the ledger in the blob store. Methods of the store reject with `StoreUnreachable`. */
import type { HourTotals, Manifest, Signature } from '#core/money/lake.ts'
import type { EntryPage, StoredEntry } from './ledger-files.ts'
import { StoreUnreachable } from './store.ts'

/** An entry by its primary key. */
export interface EntryPlace {
  readonly requestId: string
  readonly attempt: number
  readonly kind: string
}

/** A manifest as it was written. */
export interface WrittenManifest {
  readonly text: string
  /** Of the text, in hex. */
  readonly sha256: string
}

/** Which rows of a day: those that were sealed, or those of a manifest's corrections. */
export type ExportedRows =
  | { readonly kind: 'entries' }
  | { readonly kind: 'corrections'; readonly manifest: number }

/** A day is text such as `2026-11-17`, in UTC. */
export interface LakeStore {
  /** Whether this node may export now. Call it again well within `HELD_MS`, or another node may. */
  hold(nodeId: string): Promise<boolean>
  /** Complete days without a manifest, oldest first. */
  daysDue(limit: number): Promise<readonly string[]>
  /**
   * Exported days with corrections that no manifest has and the oldest of which is that old, or that an export claimed and did not live
   * to record.
   */
  correctedDays(writtenBeforeMs: number, limit: number): Promise<readonly string[]>
  /** Whether a day has corrections that no manifest has. */
  hasCorrections(day: string): Promise<boolean>
  /** The newest manifest of the chain. */
  lastManifest(): Promise<(WrittenManifest & { readonly sequence: number }) | undefined>
  /** The newest manifest of a day, or the one with a number. */
  manifestOf(day: string, number?: number): Promise<WrittenManifest | undefined>
  /** Newest manifests of the days, ten years of them at most, from one to another, both included, oldest first. */
  manifests(fromDay: string, throughDay: string): Promise<readonly WrittenManifest[]>
  /** All manifests after a place in the chain, in its order. */
  chain(
    afterSequence: number,
    limit: number,
  ): Promise<readonly (WrittenManifest & { readonly sequence: number })[]>
  /** Gives the corrections that no manifest has to this one, unless it has some already. Returns how many it has. */
  claimCorrections(day: string, manifest: number): Promise<number>
  sealedHours(day: string): Promise<readonly HourTotals[]>
  /** The next entries of a span of time within a day. */
  page(
    rows: ExportedRows,
    span: { readonly fromMs: number; readonly endMs: number },
    after: EntryPlace | undefined,
    limit: number,
  ): Promise<EntryPage>
  record(manifest: Pick<Manifest, 'sequence' | 'day' | 'number'>, written: WrittenManifest): Promise<void>
  /** The problem that keeps days from being exported or dropped. Undefined: there is none now. */
  note(problem: string | undefined): Promise<void>
  status(): Promise<LakeStatus>
  /** Days before it are in files only. Undefined: PostgreSQL has all. */
  keptFrom(): Promise<string | undefined>
  /** Dropped days whose sums are not those of their sealed hours and corrections: a sentence each. */
  coldDifferences(limit: number): Promise<readonly string[]>
  /** The partition of the oldest entries, if all its days are complete and exported, with their manifests. */
  oldestPartition(): Promise<ExportedPartition | undefined>
  /**
   * Drops it, unless it has entries that its manifests lack, or calls with an unknown outcome, which are open for a week at most; from
   * then on its days take no entries.
   */
  dropPartition(
    partition: ExportedPartition,
  ): Promise<'dropped' | 'busy' | 'has open unknowns' | 'has other entries'>
}

export interface ExportedPartition {
  readonly name: string
  readonly fromMs: number
  readonly endMs: number
  readonly days: readonly { readonly day: string; readonly manifest: WrittenManifest }[]
}

/** Time for which a node may export without asking again: a file takes seconds. */
export const HELD_MS = 60_000

/** Complete days that may wait for their export: the last one until its export has its turn. */
export const MAX_WAITING_DAYS = 2

export interface LakeStatus {
  /** Hours before it are sealed. Undefined: none is. */
  readonly sealedThroughMs: number | undefined
  /** The first complete day without files, or the day after the last one with files. Undefined: none has files. */
  readonly exportedThrough: string | undefined
  /** Days before it are in the bucket only. Undefined: PostgreSQL has all. */
  readonly keptFrom: string | undefined
  readonly days: number
  readonly entries: bigint
  readonly bytes: number
  /** Complete days that wait for their export. */
  readonly waiting: number
  readonly problem: { readonly text: string; readonly atMs: number } | undefined
}

/** Signs manifests with a key of the node's secret. */
export interface ManifestSigner {
  sign(text: string): Signature
  /** `other key`: made with a secret that this node does not have. */
  verify(text: string, signature: Signature): 'good' | 'bad' | 'other key'
}

/** A file of a dropped day cannot be read now. */
export class LedgerFilesUnreachable extends StoreUnreachable {}

/** Entries of days that PostgreSQL no longer has. Methods reject with `LedgerFilesUnreachable` where a file is needed. */
export interface ColdEntries {
  /** Entries of earlier moments are in files only. Undefined: PostgreSQL has all. */
  keptFromMs(): Promise<number | undefined>
  /** Entries by the order of their ids. Each array is bounded. */
  entries(fromMs: number, endMs: number): AsyncIterable<readonly StoredEntry[]>
  ofRequest(requestId: string): Promise<readonly StoredEntry[]>
}

/** What the doctor found in the lake. */
export interface LakeFindings {
  readonly isExported: boolean
  readonly status: LakeStatus
  readonly manifests: number
  /** Bytes of files that were read. */
  readonly bytes: number
  readonly problems: readonly string[]
  /** Not all could be checked in time. */
  readonly isPartial: boolean
}

export interface LakeDoctor {
  /** `recent`: the newest manifests. `all`: every manifest and every byte of every file. */
  check(span: 'recent' | 'all'): Promise<LakeFindings>
}

/** What the control plane takes from the lake. */
export interface NodeLake extends Pick<LakeStore, 'status'> {
  readonly isExported: boolean
  readonly keepDays: number | 'forever'
  readonly cold: ColdEntries
  readonly doctor: LakeDoctor
}
