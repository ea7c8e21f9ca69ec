/** The kill table as text. */
import { RunningTable } from '../../report.ts'
import type { Tally } from './witnesses.ts'

export const TABLE = new RunningTable<Tally>('gap', 40, [
  { title: 'kills', width: 5, of: ({ kills }) => kills },
  { title: 'jobs', width: 5, of: ({ jobs }) => jobs },
  { title: 'served', width: 6, of: ({ served }) => served },
  { title: 'delivered', width: 9, of: ({ delivered }) => delivered },
  { title: 'retrieved', width: 9, of: ({ retrieved }) => retrieved },
  { title: 'second purchases', width: 16, of: ({ second }) => second },
  { title: 'unknown', width: 7, of: ({ unknown }) => unknown },
  { title: 'lost', width: 5, of: ({ lost }) => lost },
  { title: 'other', width: 5, of: ({ other }) => other.length },
])

/** Kills of the same gap, on the same machine and on another, in one row. */
export function together(name: string, tallies: readonly Tally[]): Tally {
  const sum = (of: (tally: Tally) => number): number => tallies.reduce((total, tally) => total + of(tally), 0)
  return {
    name,
    kills: sum(({ kills }) => kills),
    jobs: sum(({ jobs }) => jobs),
    served: sum(({ served }) => served),
    delivered: sum(({ delivered }) => delivered),
    retrieved: sum(({ retrieved }) => retrieved),
    second: sum(({ second }) => second),
    unknown: sum(({ unknown }) => unknown),
    lost: sum(({ lost }) => lost),
    other: tallies.flatMap(({ other }) => other),
  }
}

/** An experiment that failed counts as wrong, too, and must not stop the others. */
export function failed(name: string, error: unknown): Tally {
  const nothing = { kills: 0, jobs: 0, served: 0, delivered: 0, retrieved: 0, second: 0, unknown: 0, lost: 0 }
  return { name, ...nothing, other: [(error as Error).message] }
}
