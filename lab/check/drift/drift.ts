/** The runs of every cell, kept from one call of the program to the next, and their table. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, writeResults, type Report } from '../../report.ts'
import { REPOSITORY } from '../../torana.ts'
import type { Workplace } from '../../workplace.ts'
import { measuredCells, nameOf, type Cell, type RunFigures } from './cells.ts'
import { isSized, isWhole, KINDS, type Kind } from './kinds.ts'

/** The longest time for which vectors of the new space may leave, if every call reaches the changed replica. */
const AIM_SECONDS = 25
const RESULTS = 'drift'

type Cells = Readonly<Record<string, readonly RunFigures[]>>

/** Runs side by side at each rate: what two cores carry beside the callers and the provider. */
const AT_ONCE: Readonly<Record<number, number>> = { 1: 100, 10: 10, 100: 4 }
/** The same with large calls. */
const LARGE_AT_ONCE: Readonly<Record<number, number>> = { 1: 20, 10: 4, 100: 1 }

const NAMES: Readonly<Record<string, string>> = {
  alone: 'alone',
  second: 'with a healthy second deployment',
  large: 'in large calls only',
  text: 'in texts like one probe text only',
  replicas: 'one of two replicas, in turn',
  chance: 'one of two replicas, by chance',
}

/** Time after which the first attempt to return is over: it begins after five seconds. */
const AFTER_MS = 6500
const INTERVAL_MS = 20_000
/** Probes of two replicas that all meet the unchanged one: once in a million runs by chance. */
const MAX_PROBES = 20
/** Large calls that pay for a probe of their size, with the time of one. */
const PAYING_SECONDS = 230

export function allCells(runs: number): readonly Cell[] {
  const rates = Object.keys(AT_ONCE).map(Number)
  return rates.flatMap((perSecond) =>
    KINDS.map((kind) => {
      const atOnce = (isSized(kind) ? LARGE_AT_ONCE : AT_ONCE)[perSecond] ?? 1
      const probes = isWhole(kind) ? 3 : MAX_PROBES
      const patienceMs = isRarelyPaid(kind, perSecond) ? PAYING_SECONDS * 1000 : probes * INTERVAL_MS
      return { perSecond, atOnce, kind, runs, patienceMs, afterMs: AFTER_MS }
    }),
  )
}

/** Whether 20 seconds do not pay for a probe of the traffic's size. */
function isRarelyPaid(kind: Kind, perSecond: number): boolean {
  return isSized(kind) && perSecond < 10
}

/** Those whose every call reaches the changed upstream, twice, with all the time that a busy machine may need. */
const QUICK_CELLS: readonly Cell[] = KINDS.filter(isWhole).map((kind) => ({
  kind,
  perSecond: 10,
  runs: 2,
  atOnce: 2,
  patienceMs: 5 * INTERVAL_MS,
  afterMs: 1000,
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
  const bounded = Object.entries(knownCells()).filter(([name]) => aimOf(name) === AIM_SECONDS)
  const worst = most(
    bounded.flatMap(([, runs]) => runs),
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
    'probes: worst',
    'after the probe',
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
      String(most(runs, ({ probes }) => probes)),
      String(sum(runs, ({ leakedAfterProbe }) => leakedAfterProbe)),
      String(sum(runs, ({ leakedAfterNotice }) => leakedAfterNotice)),
      refusalsOf(runs),
      String(sum(runs, ({ isNoticed }) => (isNoticed ? 0 : 1))),
    ]
  })
  return [titles, ...rows]
}

/** Longest time to the last vector. Undefined: a matter of chance. */
function aimOf(name: string): number | undefined {
  const [kind, rate] = name.split('-') as [Kind, string]
  if (!isWhole(kind)) return undefined
  return isRarelyPaid(kind, Number(rate)) ? PAYING_SECONDS : AIM_SECONDS
}

/** `isTimed`: seconds count too. */
export function reportDrift(cells: Cells, report: Report, { isTimed }: { readonly isTimed: boolean }): void {
  for (const [name, runs] of Object.entries(cells)) {
    const aim = aimOf(name)
    const after = sum(runs, ({ leakedAfterNotice }) => leakedAfterNotice)
    report.aim(`${name}: vectors after the first that was withheld`, String(after), '0', after === 0)
    const worst = most(runs, ({ leakedSeconds }) => leakedSeconds)
    if (aim !== undefined && isTimed)
      report.aim(`${name}: seconds to the last vector`, worst.toFixed(1), `≤ ${aim}`, worst <= aim)
    const unnoticed = sum(runs, ({ isNoticed }) => (isNoticed ? 0 : 1))
    report.aim(`${name}: changes that went unnoticed`, String(unnoticed), '0', unnoticed === 0)
    const wrong = sum(runs, (run) => run.wrong + run.refusedBefore)
    report.aim(`${name}: other wrong answers`, String(wrong), '0', wrong === 0)
    if (!name.startsWith('second')) continue
    // Mostly calls that were answered before the probe, and were being written to the ledger: they are not made again.
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
