/**
 * Drift of vector spaces. Parts, of which `--only` names some:
 * `drift`: upstreams that change their vectors under load, `--runs 100` of each of `--cells alone-1,second-100` (all without it);
 * `--add` keeps the runs of earlier calls. `noise`: a simulated day of noisy deployments. `tokens`: what rides cost, in `--minutes 3`.
 * `answers`: `--requests 500` to a node with a rider in every call, and to one without. `--quick`: a short part of each, for CI.
 * Exits with 1 when an aim is missed.
 */
import { parseArgs } from 'node:util'
import { loadText, Report } from '../../report.ts'
import { Workplace } from '../../workplace.ts'
import { compareAnswers } from './answers.ts'
import { nameOf } from './cells.ts'
import { allCells, measureDrift, measureQuickly, reportDrift } from './drift.ts'
import { reportNoise } from './noise-report.ts'
import { measureTokens } from './tokens.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    runs: { type: 'string', default: '100' },
    cells: { type: 'string' },
    add: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '3' },
    requests: { type: 'string', default: '500' },
    quick: { type: 'boolean', default: false },
  },
})
const { quick: isQuick } = options
const PARTS = ['answers', 'noise', 'tokens', 'drift']
/** A day has 4,320 rides and 96 probes. */
const DAYS = { hours: 24, widths: [64, 384], days: 5 }
const QUICK_DAYS = { hours: 1, widths: [64], days: 1 }
/** Each model once or twice. */
const QUICK_REQUESTS = 80

const all = options.cells === undefined ? PARTS.filter((part) => !isQuick || part !== 'tokens') : ['drift']
const report = new Report()
await using place = new Workplace('drift')
for (const part of options.only?.split(',') ?? all) await measured(part)
report.print(`Drift (${loadText()})`)
process.exitCode = report.isKept ? 0 : 1

async function measured(part: string): Promise<void> {
  if (part === 'answers')
    await compareAnswers(isQuick ? QUICK_REQUESTS : Number(options.requests), place, report)
  else if (part === 'noise') await reportNoise(isQuick ? QUICK_DAYS : DAYS, report)
  else if (part === 'tokens') await measureTokens(Number(options.minutes), place, report)
  else if (part === 'drift') await measuredDrift()
  else throw new Error(`There is no part ${part}: ${PARTS.join(', ')}.`)
}

async function measuredDrift(): Promise<void> {
  if (isQuick) return reportDrift(await measureQuickly(place), report, { isTimed: false })
  const wanted = options.cells?.split(',')
  const cells = allCells(Number(options.runs)).filter((cell) => wanted?.includes(nameOf(cell)) ?? true)
  reportDrift(await measureDrift(cells, place, { isAdded: options.add }), report, { isTimed: true })
}
