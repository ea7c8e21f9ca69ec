/** The figures of a failover, and their output. */
import { setTimeout as wait } from 'node:timers/promises'
import type { RequestRecord } from '../load.ts'

export interface ProofOptions {
  readonly folder: string
  readonly requestsPerSecond: number
  readonly seed: number
  /** Number of failovers. */
  readonly times: number
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
  const took = records.map(({ tookMs }) => tookMs).sort((left, right) => left - right)
  const at = (share: number): number => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

const LOOK_MS = 50

/** Unix time at which it was seen. */
export async function when(
  withinMs: number,
  otherwise: string,
  isSo: () => boolean | Promise<boolean>,
): Promise<number> {
  const endMs = performance.now() + withinMs
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(otherwise)
    await wait(LOOK_MS)
  }
  return Date.now()
}
