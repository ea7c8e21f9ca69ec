/**
 * Drift of vector spaces. Parts, of which `--only` names some:
 * `drift`: upstreams that change their vectors under load, `--runs 100` of each of `--cells alone-1,large-100` (all without it);
 * `--add` keeps the runs of earlier calls. `batches`: upstreams that change during a batch, `--batches 20` of each kind. `noise`: a
 * simulated day of noisy deployments. `tokens`: what probes cost, in `--minutes 3`. `--quick`: a short part of each, for CI.
 * `--write` writes lab/notes/drift.md and docs/figures.json from the last run of each part. Exits with 1 when an aim is missed.
 */
import { parseArgs } from 'node:util'
import { publishTexts } from '../../book/publish.ts'
import { loadText, Report } from '../../report.ts'
import { Workplace } from '../../workplace.ts'
import { measureBatches } from './batches.ts'
import { nameOf } from './cells.ts'
import { allCells, driftFigures, driftTable, measureDrift, measureQuickly, reportDrift } from './drift.ts'
import { keepTables, writeNotes } from './notes.ts'
import { reportNoise } from './noise-report.ts'
import { measureTokens } from './tokens.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    runs: { type: 'string', default: '100' },
    cells: { type: 'string' },
    add: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '3' },
    batches: { type: 'string', default: '20' },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const { quick: isQuick } = options
const PARTS = ['noise', 'tokens', 'batches', 'drift']
const DAYS = { hours: 24, widths: [64, 384], days: 5 }
const QUICK_DAYS = { hours: 1, widths: [64], days: 1 }
const QUICK_BATCHES = 2

const all = options.cells === undefined ? PARTS.filter((part) => !isQuick || part !== 'tokens') : ['drift']
const report = new Report()
await using place = new Workplace('drift')
const parts = options.only?.split(',') ?? all
// Nothing is timed then, and each part mostly waits.
if (isQuick) await Promise.all(parts.map(measured))
else for (const part of parts) await measured(part)
report.print(`Drift (${loadText()})`)
if (options.write) {
  writeNotes()
  publishTexts('check/drift', driftFigures())
}
process.exitCode = report.isKept ? 0 : 1

async function measured(part: string): Promise<void> {
  if (part === 'noise') await measuredNoise()
  else if (part === 'batches') await measuredBatches()
  else if (part === 'tokens')
    keepTables('tokens', [await measureTokens(Number(options.minutes), place, report)])
  else if (part === 'drift') await measuredDrift()
  else throw new Error(`There is no part ${part}: ${PARTS.join(', ')}.`)
}

async function measuredNoise(): Promise<void> {
  const tables = await reportNoise(isQuick ? QUICK_DAYS : DAYS, report)
  if (!isQuick) keepTables('noise', tables)
}

async function measuredBatches(): Promise<void> {
  const table = await measureBatches(isQuick ? QUICK_BATCHES : Number(options.batches), place, report)
  if (!isQuick) keepTables('batches', [table])
}

async function measuredDrift(): Promise<void> {
  if (isQuick) return reportDrift(await measureQuickly(place), report, { isTimed: false })
  const wanted = options.cells?.split(',')
  const cells = allCells(Number(options.runs)).filter((cell) => wanted?.includes(nameOf(cell)) ?? true)
  const all = await measureDrift(cells, place, { isAdded: options.add })
  reportDrift(all, report, { isTimed: true })
  keepTables('drift', [driftTable(all)])
}
