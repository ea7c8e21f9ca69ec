/** The figures of one moment that rules are compared with. */
import type { SparseCounts } from '../traffic/latency-counts.ts'
import type { Attention } from './attention.ts'

/** An item that needs attention, and since when it has been there without a break. */
export interface LastingAttention extends Attention {
  readonly sinceMs: number
}

/** The requests of one project within some minutes. */
export interface ProjectTraffic {
  readonly project: string
  readonly requests: number
  readonly failed: number
  readonly latency: SparseCounts
}

export interface AlertFacts {
  readonly nowMs: number
  readonly attention: readonly LastingAttention[]
  readonly budgets: readonly {
    readonly id: string
    readonly limitNanoUsd: bigint
    readonly spentNanoUsd: bigint
    readonly per: string
    readonly hard: boolean
  }[]
  readonly certificates: readonly { readonly node: string; readonly endsAtMs: number }[]
  /** By the length of time, in minutes. */
  readonly traffic: ReadonlyMap<number, readonly ProjectTraffic[]>
  /** Whether an incident is open: it ends below the threshold at which it starts. */
  readonly isOpen: (key: string) => boolean
}

export function ofKinds(
  attention: readonly LastingAttention[],
  kinds: readonly Attention['kind'][],
): readonly LastingAttention[] {
  return attention.filter(({ kind }) => kinds.includes(kind))
}
