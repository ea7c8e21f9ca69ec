/** Calls of which nobody knew how they ended, for people. Every method rejects with `StoreAway` when the store is away. */
import type { LedgerEntry } from '#core/ledger.ts'

export interface UnknownCall extends Pick<
  LedgerEntry,
  'requestId' | 'attempt' | 'callId' | 'project' | 'keyId' | 'model' | 'deployment' | 'images' | 'remarks'
> {
  /** What was reserved. Undefined: the model has no price. */
  readonly reservedNanoUsd: bigint | undefined
  readonly writtenAtMs: number
  /** The name of the node's machine, or its id when the node is forgotten. */
  readonly node: string
  /** The node died before the call ended. */
  readonly isOrphan: boolean
  /** Undefined while it is open. */
  readonly resolved: ResolvedUnknown | undefined
}

export interface ResolvedUnknown {
  readonly kind: 'post' | 'void'
  /** `system`: a record that came late told how it ended, or its time was over. */
  readonly by: string
  readonly reason: string | undefined
  readonly atMs: number
  /** What it cost after all. */
  readonly costNanoUsd: bigint | undefined
}

export interface UnknownSummary {
  /** Counted up to `UNKNOWNS_COUNTED`. */
  readonly open: number
  readonly openNanoUsd: bigint
  /** In the last 30 days. */
  readonly resolved: number
}

export const UNKNOWNS_COUNTED = 10_000

export interface UnknownReader {
  /** Open ones oldest first, resolved ones of the last 30 days newest first. */
  list(question: {
    readonly state: 'open' | 'resolved'
    /** Undefined: of all. */
    readonly projects: readonly string[] | undefined
    readonly limit: number
    readonly after: Pick<UnknownCall, 'requestId' | 'attempt'> | undefined
  }): Promise<readonly UnknownCall[]>
  summary(projects: readonly string[] | undefined): Promise<UnknownSummary>
  /** Undefined: there never was such an unknown. */
  projectOf(requestId: string, attempt: number): Promise<string | undefined>
}
