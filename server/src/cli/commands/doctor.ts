/** `torana doctor`: whether the ledger agrees with its sums, and what an operator should look at. */
import { command, Misuse } from '../command/command.ts'
import { verdictText } from '../command/paint.ts'
import { working } from '../command/progress.ts'
import { table } from '../command/table.ts'

interface Report {
  readonly at: string
  readonly verdict: 'ok' | 'warn' | 'fail'
  readonly checks: readonly { readonly name: string; readonly verdict: string; readonly says: string }[]
}

/** All of a large ledger is compared hour by hour. */
const COMPARISON_MS = 10 * 60_000

export const doctor = command({
  name: 'doctor',
  summary: 'check the health of the running node, its ledger and its budgets',
  options: { hours: { takes: '<n|all>', says: 'how much of the ledger is added up again (2)' } },
  reach: 'node',
  more: 'ok: fine. warn: an operator should look at it. fail: a promise of Torana is broken, or about to be; the exit code is then 1.',
  examples: ['torana doctor', 'torana doctor --hours all --json'],
  async run({ control, text, out }) {
    const hours = text('hours')
    if (hours !== undefined && hours !== 'all' && !/^[1-9]\d{0,5}$/.test(hours))
      throw new Misuse(`--hours: expected a whole number or all, got "${hours}".`)
    const query = hours === undefined ? '' : `?hours=${hours}`
    const asked = control.ask<Report>('GET', `/doctor${query}`, undefined, COMPARISON_MS)
    const report = await working('adding up the ledger', asked, out)
    const rows = report.checks.map(({ name, verdict, says }) => [verdictText(verdict, out), name, says])
    return {
      data: report,
      text: table([['verdict', 'check', 'finding'], ...rows]),
      exitCode: report.verdict === 'fail' ? 1 : 0,
    }
  },
})
