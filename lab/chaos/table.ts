/** The kill table as text. */
import { RunningTable } from '../report.ts'
import type { Violation } from './invariants.ts'
import type { RoundResult } from './rounds.ts'

const count =
  (kind: Violation['kind']) =>
  ({ violations }: RoundResult): number =>
    violations.filter((violation) => violation.kind === kind).length

export const TABLE = new RunningTable<RoundResult>('kills of →', 12, [
  { title: 'gateways', width: 8, of: ({ kills }) => kills.gateway },
  { title: 'postgres', width: 8, of: ({ kills }) => kills.postgres },
  { title: 'redis', width: 5, of: ({ kills }) => kills.redis },
  { title: 'requests', width: 8, of: ({ requests }) => requests },
  { title: 'a second', width: 8, of: ({ requestsPerSecond }) => Math.round(requestsPerSecond), isMean: true },
  { title: '2xx', width: 7, of: ({ answered }) => answered },
  { title: '4xx', width: 7, of: ({ refused }) => refused },
  { title: 'failed', width: 7, of: ({ failed }) => failed },
  { title: 'left', width: 5, of: ({ left }) => left },
  { title: 'served', width: 7, of: ({ served }) => served },
  { title: 'posted', width: 7, of: ({ posted }) => posted },
  { title: 'shared', width: 6, of: ({ shared }) => shared },
  { title: 'unknown', width: 7, of: ({ unknown }) => unknown },
  { title: 'lost', width: 5, of: count('lost') },
  { title: 'doubled', width: 7, of: count('doubled') },
  { title: 'other', width: 5, of: count('other') },
  { title: 'rest s', width: 6, of: ({ restedInMs }) => Math.round(restedInMs / 1000), isMean: true },
])

export function tableRow(result: RoundResult): string {
  return TABLE.row(`${result.round + 1} ${result.trouble}`, result)
}
