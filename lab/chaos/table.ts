/** The kill table as text. */
import { RunningTable } from '../report.ts'
import type { Violation } from './invariants.ts'
import type { RoundResult } from './rounds.ts'

type Figures = Omit<RoundResult, 'violations' | 'kills' | 'trouble' | 'round'> & {
  readonly gateway: number
  readonly postgres: number
  readonly redis: number
  readonly lost: number
  readonly doubled: number
  readonly other: number
}

const TABLE = new RunningTable<Figures>('kills of →', 12, [
  { title: 'gateways', width: 8, of: ({ gateway }) => gateway },
  { title: 'postgres', width: 8, of: ({ postgres }) => postgres },
  { title: 'redis', width: 5, of: ({ redis }) => redis },
  { title: 'requests', width: 8, of: ({ requests }) => requests },
  { title: 'a second', width: 8, of: ({ requestsPerSecond }) => Math.round(requestsPerSecond) },
  { title: '2xx', width: 7, of: ({ answered }) => answered },
  { title: '4xx', width: 7, of: ({ refused }) => refused },
  { title: 'failed', width: 7, of: ({ failed }) => failed },
  { title: 'left', width: 5, of: ({ left }) => left },
  { title: 'served', width: 7, of: ({ served }) => served },
  { title: 'posted', width: 7, of: ({ posted }) => posted },
  { title: 'shared', width: 6, of: ({ shared }) => shared },
  { title: 'unknown', width: 7, of: ({ unknown }) => unknown },
  { title: 'lost', width: 5, of: ({ lost }) => lost },
  { title: 'doubled', width: 7, of: ({ doubled }) => doubled },
  { title: 'other', width: 5, of: ({ other }) => other },
  { title: 'rest s', width: 6, of: ({ restedInMs }) => Math.round(restedInMs / 1000) },
])

export function tableHead(): string {
  return TABLE.head()
}

export function tableRow(result: RoundResult): string {
  return TABLE.row(`${result.round + 1} ${result.trouble}`, figuresOf(result))
}

export function tableTotal(results: readonly RoundResult[]): string {
  const all = results.map(figuresOf)
  const total = {} as Record<keyof Figures, number>
  for (const name of Object.keys(all[0] ?? {}) as (keyof Figures)[])
    total[name] = all.reduce((sum, figures) => sum + figures[name], 0)
  const count = Math.max(1, results.length)
  const [requestsPerSecond, restedInMs] = [total.requestsPerSecond / count, total.restedInMs / count]
  return TABLE.row('all', { ...total, requestsPerSecond, restedInMs })
}

function figuresOf({ kills, trouble: _trouble, round: _round, violations, ...rest }: RoundResult): Figures {
  const count = (kind: Violation['kind']): number =>
    violations.filter((violation) => violation.kind === kind).length
  return { ...rest, ...kills, lost: count('lost'), doubled: count('doubled'), other: count('other') }
}
