/** The figures behind docs/sizing.md, as `scale/figures.json` keeps them: those of `bench/scale`, and the rate that `bench/steady` held. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MeasuredRun } from '../../book/publish.ts'
import type { Measured } from './model.ts'

export interface ScaleFigures extends MeasuredRun {
  /** Configurations of one and two processes, which a plan reads. The first is one process as busy as it can be, the second one with fewer requests. */
  readonly model: readonly Measured[]
  /** What the model predicts without having seen it. */
  readonly check: Measured
  /** With more keys, more models, or images. None in a short look. */
  readonly others: readonly Measured[]
  readonly ledgerBytes: number
  readonly requestLogBytes: number
  readonly rowReadUs: number
}

/** The highest rate that one cell held, with every store real. */
export interface SteadyFigures extends MeasuredRun {
  readonly perSecond: number
  readonly minutes: number
  readonly requests: number
  readonly processes: number
  readonly cores: number
  readonly p50Ms: number
  /** Of each tenth of the run. */
  readonly p99Ms: readonly number[]
  readonly memoryMegabytesPerHour: number
}

export interface SizingFigures {
  readonly scale: ScaleFigures
  /** Undefined: never run long enough to count. */
  readonly steady?: SteadyFigures
}

const FILE = join(import.meta.dirname, 'figures.json')

export function keptSizing(): SizingFigures {
  return JSON.parse(readFileSync(FILE, 'utf8')) as SizingFigures
}

export function keepScale(scale: ScaleFigures): void {
  keep({ ...keptSizing(), scale })
}

export function keepSteady(steady: SteadyFigures): void {
  keep({ ...keptSizing(), steady })
}

function keep(figures: SizingFigures): void {
  writeFileSync(FILE, `${JSON.stringify(figures, undefined, 2)}\n`)
  process.stdout.write('figures in lab/bench/scale/figures.json; npm run generate fills docs/sizing.md\n')
}
