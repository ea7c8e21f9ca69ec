/** The figures of a failover, and their output. */
import { Latencies } from '../../load.ts'
import type { RequestRecord } from '../load.ts'

export interface ProofOptions {
  readonly folder: string
  readonly requestsPerSecond: number
  readonly seed: number
  /** Number of failovers. */
  readonly times: number
  /** Called with the longest time without a primary. */
  readonly lost: (store: 'postgres' | 'redis', ms: number) => void
}

export interface Proof {
  readonly name: string
  /** Programs that must be installed. */
  readonly programs: readonly string[]
  /** Prints its figures; returns what is wrong. */
  readonly prove: (options: ProofOptions) => Promise<readonly string[]>
}

export function isAnswered({ status, complete }: RequestRecord): boolean {
  return status === 200 && complete
}

export function endingsOf(records: readonly RequestRecord[]): string {
  const counts = Map.groupBy(records, (record) =>
    isAnswered(record)
      ? 'answered'
      : `${record.status ?? 'no answer'} ${record.error ?? 'cut'} (${record.key})`,
  )
  return Array.from(counts, ([ending, { length }]) => `${length} × ${ending}`).join(', ')
}

export function latencies(records: readonly RequestRecord[]): string {
  const took = Latencies.of(records.map(({ tookMs }) => tookMs))
  const at = (share: number): string => `${took.atMs(share).toFixed(0)} ms`
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, slowest ${took.slowestMs.toFixed(0)} ms`
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
