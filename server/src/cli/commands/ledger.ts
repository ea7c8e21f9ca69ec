/** `torana ledger …`: how far the ledger is sealed, exported and dropped, and what it refused. */
import { command, group } from '../command/command.ts'
import { table } from '../command/table.ts'
import { shownUsd, tableOf, type Columns } from './columns.ts'
import { itemsFor } from './list-command.ts'

interface Stalled {
  readonly step: 'compare' | 'seal'
  readonly since: string
  readonly earlier_nodes: number
}

interface LedgerStatus {
  readonly sealed_through: string | null
  readonly sealing_stalled: Stalled | null
  readonly export: 'on' | 'off'
  readonly exported_through: string | null
  readonly exported_days: number
  readonly exported_entries: number
  readonly exported_bytes: number
  readonly waiting_days: number
  readonly export_late: boolean
  readonly keep_days: number | null
  readonly kept_from: string | null
  readonly problem: { readonly says: string; readonly at: string } | null
}

/** Timeout of a retry: 10,000 records, one by one. */
const RETRY_MS = 120_000

const status = command({
  name: 'status',
  summary: 'show how far the ledger is sealed, exported to files and dropped from PostgreSQL',
  more: 'The exit code is 1 if sealing is stalled, or something keeps days from being exported or dropped.',
  reach: 'node',
  examples: ['torana ledger', 'torana ledger --json'],
  async run({ control }) {
    const answer = await control.ask<LedgerStatus>('GET', '/ledger')
    const { sealing_stalled: stalled, problem } = answer
    const { exported_days: days, exported_entries: entries, exported_bytes: bytes } = answer
    const rows = [
      ['sealed through', answer.sealed_through ?? 'nothing yet'],
      ['sealing', stalled === null ? 'on time' : stalledText(stalled)],
      ['export', answer.export],
      ['exported through', answer.exported_through ?? 'nothing yet'],
      ['exported', `${days} days, ${entries} entries, ${(bytes / 1e6).toFixed(1)} MB`],
      ['waiting for export', `${answer.waiting_days} days${answer.export_late ? ', late' : ''}`],
      ['PostgreSQL keeps', answer.keep_days === null ? 'all days' : `${answer.keep_days} days`],
      ['in files only', answer.kept_from === null ? 'nothing' : `days before ${answer.kept_from}`],
      ['problem', problem === null ? 'none' : `${problem.says} (${problem.at})`],
    ]
    return { data: answer, text: table(rows), exitCode: stalled === null && problem === null ? 0 : 1 }
  },
})

interface RefusedRecord {
  readonly request_id: string
  readonly attempt: number
  readonly usd: string | null
}

interface RetriedRecords {
  readonly written: number
  readonly refused: number
  readonly left: number
}

const REFUSED_COLUMNS: Columns<RefusedRecord> = {
  'request/attempt': ({ request_id: id, attempt }) => `${id}/${attempt}`,
  kind: 'kind',
  requested: 'requested_at',
  project: 'project',
  key: 'key_id',
  amount: ({ usd }) => (usd === null ? 'unpriced' : shownUsd(usd)),
  reason: 'reason',
}

const refused = command({
  name: 'refused',
  summary: 'list usage records that PostgreSQL refused; each counts as spent',
  more: 'The exit code is 1 while there are any. A node also tries them once when it starts.',
  options: { retry: { says: 'try to write them into the ledger; at most 10,000 at a time' } },
  reach: 'node',
  examples: ['torana ledger refused', 'torana ledger refused --retry'],
  async run({ control, flag, text }) {
    if (flag('retry')) {
      const data = await control.ask<RetriedRecords>('POST', '/ledger/refused/retry', undefined, RETRY_MS)
      const { written, refused: again, left } = data
      const note = `Written: ${written}. Refused again: ${again}. Still set aside: ${left}.`
      return { data, note, exitCode: left === 0 ? 0 : 1 }
    }
    const paging = { perPage: 1000 }
    const data = await itemsFor<RefusedRecord, never>({ control, text }, { path: '/ledger/refused', paging })
    const none = 'PostgreSQL has refused no usage records.'
    return { data, text: tableOf(REFUSED_COLUMNS, data, none), exitCode: data.length === 0 ? 0 : 1 }
  },
})

export const ledger = group({
  name: 'ledger',
  summary: 'show how far the ledger is sealed and exported, and which records PostgreSQL refused',
  bare: 'status',
  subcommands: [status, refused],
})

function stalledText({ step, since, earlier_nodes: earlier }: Stalled): string {
  const next =
    earlier > 0
      ? `stop or end the nodes of an earlier version (${earlier})`
      : `see why job ${step === 'seal' ? 'seal' : 'reconcile'} fails in the log of the oldest node`
  return `stalled since ${since}: ${next}`
}
