/** `torana ledger`: how far the ledger is sealed, exported and dropped. */
import { command } from '../command/command.ts'
import { table } from '../command/table.ts'

interface LedgerStatus {
  readonly sealed_through: string | null
  readonly export: 'on' | 'off'
  readonly exported_through: string | null
  readonly exported_days: number
  readonly exported_entries: number
  readonly exported_bytes: number
  readonly waiting_days: number
  readonly keep_days: number | null
  readonly kept_from: string | null
  readonly problem: { readonly says: string; readonly at: string } | null
}

export const ledger = command({
  name: 'ledger',
  summary: 'show how far the ledger is sealed, exported to files and dropped from PostgreSQL',
  more: 'The exit code is 1 if something keeps days from being exported or dropped.',
  reach: 'node',
  examples: ['torana ledger', 'torana ledger --json'],
  async run({ control }) {
    const status = await control.ask<LedgerStatus>('GET', '/ledger')
    const { exported_days: days, exported_entries: entries, exported_bytes: bytes } = status
    const rows = [
      ['sealed through', status.sealed_through ?? 'nothing yet'],
      ['export', status.export],
      ['exported through', status.exported_through ?? 'nothing yet'],
      ['exported', `${days} days, ${entries} entries, ${(bytes / 1e6).toFixed(1)} MB`],
      ['waiting for export', `${status.waiting_days} days`],
      ['PostgreSQL keeps', status.keep_days === null ? 'all days' : `${status.keep_days} days`],
      ['in files only', status.kept_from === null ? 'nothing' : `days before ${status.kept_from}`],
      ['problem', status.problem === null ? 'none' : `${status.problem.says} (${status.problem.at})`],
    ]
    return { data: status, text: table(rows), exitCode: status.problem === null ? 0 : 1 }
  },
})
