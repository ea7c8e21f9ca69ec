/** The runs of every cell, kept from one call of the program to the next, and their table. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, writeResults, type Report } from '../../report.ts'
import { REPOSITORY } from '../../torana.ts'
import type { Workplace } from '../../workplace.ts'
import { KINDS, measuredCells, nameOf, type Cell, type RunFigures } from './cells.ts'

/** The longest time for which vectors of the new space may leave, if every call reaches the changed replica. */
const AIM_SECONDS = 25
const RESULTS = 'drift'

type Cells = Readonly<Record<string, readonly RunFigures[]>>

/** Runs side by side at each rate: what two cores carry beside the callers and the provider. */
const AT_ONCE: Readonly<Record<number, number>> = { 1: 100, 10: 10, 100: 4 }

const NAMES: Readonly<Record<string, string>> = {
  alone: 'alone',
  second: 'with a healthy second deployment',
  replicas: 'one of two replicas, in turn',
  chance: 'one of two replicas, by chance',
}

/** Time after which the first attempt to return is over: it begins after five seconds. */
const AFTER_MS = 6500
const INTERVAL_MS = 20_000
/** Rides of two replicas that all meet the unchanged one: once in a million runs by chance. */
const MAX_RIDES = 20
const QUICK_INTERVAL_MS = 1000

export function allCells(runs: number): readonly Cell[] {
  const rates = Object.entries(AT_ONCE).map(([rate, atOnce]) => ({ perSecond: Number(rate), atOnce }))
  return rates.flatMap((rate) =>
    KINDS.map((kind) => {
      const rides = kind === 'alone' || kind === 'second' ? 2 : MAX_RIDES
      const patienceMs = rides * INTERVAL_MS
      return { ...rate, kind, runs, intervalMs: INTERVAL_MS, patienceMs, afterMs: AFTER_MS }
    }),
  )
}

/** Each kind twice, with a short interval, and with all the time that a busy machine may need. */
const QUICK_CELLS: readonly Cell[] = (['alone', 'second', 'replicas'] as const).map((kind) => ({
  kind,
  perSecond: 10,
  runs: 2,
  atOnce: 2,
  intervalMs: QUICK_INTERVAL_MS,
  patienceMs: MAX_RIDES * QUICK_INTERVAL_MS,
  afterMs: QUICK_INTERVAL_MS,
}))

/** `isAdded`: to the runs of earlier calls. */
export async function measureDrift(
  cells: readonly Cell[],
  place: Workplace,
  { isAdded }: { readonly isAdded: boolean },
): Promise<Cells> {
  const database = await place.postgres()
  for (const cell of cells) {
    const name = nameOf(cell)
    const [figures = []] = await measuredCells([cell], place, database.url)
    // Read again: another call of the program may have measured other cells since.
    const all = knownCells()
    writeResults(RESULTS, { cells: { ...all, [name]: [...(isAdded ? (all[name] ?? []) : []), ...figures] } })
  }
  return knownCells()
}

/** All cells in one node. Nothing of it is kept. */
export async function measureQuickly(place: Workplace): Promise<Cells> {
  const database = await place.postgres()
  const figures = await measuredCells(QUICK_CELLS, place, database.url)
  return Object.fromEntries(QUICK_CELLS.map((cell, index) => [nameOf(cell), figures[index] ?? []]))
}

/** For docs/figures.json: the longest time for which vectors of a model left whose every call reaches the changed upstream. */
export function driftFigures(): Readonly<Record<string, string>> {
  const whole = Object.entries(knownCells()).filter(([name]) => /^(alone|second)/.test(name))
  const worst = most(
    whole.flatMap(([, runs]) => runs),
    ({ leakedSeconds }) => leakedSeconds,
  )
  return { 'drift.seconds.worst': `${worst.toFixed(1)} s` }
}

function knownCells(): Cells {
  const file = join(REPOSITORY, 'lab/bench/results', `${RESULTS}.json`)
  if (!existsSync(file)) return {}
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly cells: Cells }).cells
}

/** Titles first. */
export function driftTable(cells: Cells): string[][] {
  const titles = [
    'changed upstream',
    'per second',
    'runs',
    'requests',
    'vectors: median, worst',
    'seconds: median, worst',
    'rides: worst',
    'after the ride',
    'after the notice',
    'refusals: median by code',
    'unnoticed',
  ]
  const rows = Object.entries(cells).map(([name, runs]) => {
    const [kind = '', rate = ''] = name.split('-')
    const both = (of: (run: RunFigures) => number, digits = 0): string =>
      `${median(runs.map(of)).toFixed(digits)}, ${most(runs, of).toFixed(digits)}`
    return [
      NAMES[kind] ?? kind,
      rate,
      String(runs.length),
      String(sum(runs, ({ requests }) => requests)),
      both(({ leaked }) => leaked),
      both(({ leakedSeconds }) => leakedSeconds, 1),
      String(most(runs, ({ rides }) => rides)),
      String(sum(runs, ({ leakedAfterRide }) => leakedAfterRide)),
      String(sum(runs, ({ leakedAfterNotice }) => leakedAfterNotice)),
      refusalsOf(runs),
      String(sum(runs, ({ isNoticed }) => (isNoticed ? 0 : 1))),
    ]
  })
  return [titles, ...rows]
}

/** `isTimed`: seconds count too. */
export function reportDrift(cells: Cells, report: Report, { isTimed }: { readonly isTimed: boolean }): void {
  for (const [name, runs] of Object.entries(cells)) {
    const isWhole = name.startsWith('alone') || name.startsWith('second')
    const after = sum(runs, (run) => run.leakedAfterRide + run.leakedAfterNotice)
    report.aim(`${name}: vectors after the first ride that met the change`, String(after), '0', after === 0)
    const worst = most(runs, ({ leakedSeconds }) => leakedSeconds)
    if (isWhole && isTimed)
      report.aim(
        `${name}: seconds to the last vector`,
        worst.toFixed(1),
        `≤ ${AIM_SECONDS}`,
        worst <= AIM_SECONDS,
      )
    const unnoticed = sum(runs, ({ isNoticed }) => (isNoticed ? 0 : 1))
    report.aim(`${name}: changes that went unnoticed`, String(unnoticed), '0', unnoticed === 0)
    const wrong = sum(runs, (run) => run.wrong + run.refusedBefore)
    report.aim(`${name}: other wrong answers`, String(wrong), '0', wrong === 0)
    if (!name.startsWith('second')) continue
    // Mostly calls that were answered before the ride, and were being written to the ledger: they are not made again.
    const withheld = sum(runs, ({ refused }) => refused['503 space_left'] ?? 0)
    report.figure(`${name}: answers withheld with 503 space_left`, String(withheld))
    const failed = sum(runs, ({ refused }) => Object.values(refused).reduce((all, one) => all + one, 0))
    report.aim(`${name}: other failed requests`, String(failed - withheld), '0', failed === withheld)
  }
}

function refusalsOf(runs: readonly RunFigures[]): string {
  const codes = [...new Set(runs.flatMap(({ refused }) => Object.keys(refused)))].toSorted()
  return codes.map((code) => `${code}: ${median(runs.map(({ refused }) => refused[code] ?? 0))}`).join(', ')
}

function most(runs: readonly RunFigures[], of: (run: RunFigures) => number): number {
  return Math.max(...runs.map(of))
}

function sum(runs: readonly RunFigures[], of: (run: RunFigures) => number): number {
  return runs.reduce((total, run) => total + of(run), 0)
}
