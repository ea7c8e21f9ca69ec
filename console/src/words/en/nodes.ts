import { inLanguage } from '../in-language.ts'
import { plural } from '../plural.ts'

export const nodes = inLanguage('nodes', {
  title: 'Nodes',
  text: 'Gateway processes in this install.',
  columns: {
    host: 'Node',
    state: 'State',
    loop: 'Event loop',
    calls: 'Calls',
    spool: 'Spool',
    leased: 'Held budget',
  },
  states: { alive: 'alive', silent: 'not reporting', ended: 'removed' },
  ago: (age: string) => `${age} ago`,
  started: (time: string) => `started ${time}`,
  empty: 'No nodes have connected to this database.',
  end: 'Remove…',
  endTitle: (host: string) => `Remove ${host}?`,
  endText: 'Only for a machine that no longer exists. Records still on its disk are lost.',
  comesHome: 'Released',
  leasedBack: (usd: string) => `${usd} of hard budgets`,
  records: 'Records on its disk',
  unknownRecords: 'unknown',
  isAlive: 'The node reported within the last minute. Stop its process instead.',
  onlyAdmins: 'Requires the Admin role.',
  ended: (host: string, usd: string) => `${host} removed; ${usd} released`,
  doctor: 'Diagnostics',
  doctorText: (at: string) => `Ledger, totals and budgets checked at ${at}.`,
  again: 'Check again',
  verdicts: { ok: 'ok', warn: 'warning', fail: 'failed' } as Record<string, string>,
  checks: (n: number) => plural(n, 'check'),
})
