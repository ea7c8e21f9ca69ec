/** `torana doctor`: whether the ledger agrees with its sums, and what an operator should look at. */
import { parseArgs } from 'node:util'
import { CommandProblem, openControl } from './control-client.ts'
import type { Output } from './output.ts'
import { table } from './table.ts'

interface Report {
  readonly at: string
  readonly verdict: 'ok' | 'look' | 'wrong'
  readonly checks: readonly { readonly name: string; readonly verdict: string; readonly says: string }[]
}

const USAGE = `usage: torana doctor [--hours <n|all>] [--json] [--url <address>]

Checks PostgreSQL, Redis, the spool, nodes, budgets and unknown calls, and adds up the ledger of the last hours (2) again.
ok: fine. look: a warning. wrong: a failure; a promise of Torana is broken, or about to be. The exit code is then 1.
`

/** All of a large ledger is compared hour by hour. */
const COMPARISON_MS = 10 * 60_000

export async function run(argv: string[], out: Output): Promise<number> {
  const options = read(argv)
  if (options === undefined) {
    out.stderr.write(USAGE)
    return 2
  }
  try {
    const control = openControl(options.url, process.env, process.cwd())
    const query = options.hours === undefined ? '' : `?hours=${encodeURIComponent(options.hours)}`
    const report = await control.ask<Report>('GET', `/doctor${query}`, undefined, COMPARISON_MS)
    out.stdout.write(options.json ? `${JSON.stringify(report, undefined, 2)}\n` : text(report))
    return report.verdict === 'wrong' ? 1 : 0
  } catch (error) {
    if (!(error instanceof CommandProblem)) throw error
    out.stderr.write(`torana doctor: ${error.message}\n`)
    return 1
  }
}

function read(argv: string[]) {
  try {
    const { values } = parseArgs({
      args: argv,
      options: { hours: { type: 'string' }, json: { type: 'boolean' }, url: { type: 'string' } },
    })
    return values
  } catch {
    return undefined
  }
}

function text({ checks }: Report): string {
  return table([
    ['verdict', 'check', 'finding'],
    ...checks.map(({ name, verdict, says }) => [verdict, name, says]),
  ])
}
