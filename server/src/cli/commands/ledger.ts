/** `torana ledger`: how far the ledger is sealed, exported and dropped. */
import { command } from '../command/command.ts'
import { table } from '../command/table.ts'

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

export const ledger = command({
  name: 'ledger',
  summary: 'show how far the ledger is sealed, exported to files and dropped from PostgreSQL',
  more: 'The exit code is 1 if sealing is stalled, or something keeps days from being exported or dropped.',
  reach: 'node',
  examples: ['torana ledger', 'torana ledger --json'],
  async run({ control }) {
    const status = await control.ask<LedgerStatus>('GET', '/ledger')
    const { sealing_stalled: stalled, problem } = status
    const { exported_days: days, exported_entries: entries, exported_bytes: bytes } = status
    const rows = [
      ['sealed through', status.sealed_through ?? 'nothing yet'],
      ['sealing', stalled === null ? 'on time' : stalledText(stalled)],
      ['export', status.export],
      ['exported through', status.exported_through ?? 'nothing yet'],
      ['exported', `${days} days, ${entries} entries, ${(bytes / 1e6).toFixed(1)} MB`],
      ['waiting for export', `${status.waiting_days} days${status.export_late ? ', late' : ''}`],
      ['PostgreSQL keeps', status.keep_days === null ? 'all days' : `${status.keep_days} days`],
      ['in files only', status.kept_from === null ? 'nothing' : `days before ${status.kept_from}`],
      ['problem', problem === null ? 'none' : `${problem.says} (${problem.at})`],
    ]
    return { data: status, text: table(rows), exitCode: stalled === null && problem === null ? 0 : 1 }
  },
})

function stalledText({ step, since, earlier_nodes: earlier }: Stalled): string {
  const next =
    earlier > 0
      ? `stop or end the nodes of an earlier version (${earlier})`
      : `see why job ${step === 'seal' ? 'seal' : 'reconcile'} fails in the log of the oldest node`
  return `stalled since ${since}: ${next}`
}
