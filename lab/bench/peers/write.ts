/** The page and its charts, from the figures of this run and earlier ones. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { benchmarksPage } from './document.ts'
import { mergedFigures, type Figures } from './figures.ts'
import { cpuPlot, latencyPlot } from './plot.ts'
import { readmePlots } from './readme-plot.ts'

const FIGURES = join(import.meta.dirname, 'figures.json')
const DOCS = join(import.meta.dirname, '../../../docs')
const GIGABYTE = 2 ** 30

export function machineText(): string {
  const [first] = cpus()
  return `${cpus().length} cores of ${first?.model.trim() ?? 'an unknown processor'}, ${Math.round(totalmem() / GIGABYTE)} GB, Linux ${release()}, Node ${process.version}`
}

export function keptFigures(): Figures | undefined {
  return existsSync(FIGURES) ? (JSON.parse(readFileSync(FIGURES, 'utf8')) as Figures) : undefined
}

export function writeBenchmarks(now: Figures): void {
  const figures = mergedFigures(keptFigures(), now)
  writeFileSync(FIGURES, `${JSON.stringify(figures, undefined, 2)}\n`)
  for (const [name, text] of Object.entries(benchmarkFiles(figures))) writeFileSync(join(DOCS, name), text)
}

/** By their paths below `docs`. */
export function benchmarkFiles(figures: Figures): Readonly<Record<string, string>> {
  return {
    'benchmarks.md': benchmarksPage(figures),
    'pictures/benchmarks-cpu.svg': cpuPlot(figures.contenders),
    'pictures/benchmarks-latency.svg': latencyPlot(figures.contenders),
    ...readmePlots(figures.contenders),
  }
}
