/** How the lab reports: tables, figures beside their aims, a file for programs. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'

/** The exit code of a program that ran to its end, and missed an aim or had to leave something out. */
export const INCOMPLETE = 3

/** Figures beside their aims. */
export class Report {
  readonly #rows: string[][] = []
  isKept = true

  figure(what: string, figure: string): void {
    this.#rows.push([what, figure, '', ''])
  }

  /** `isMet` undefined: the goal is shown, and does not count here. */
  aim(what: string, figure: string, aim: string, isMet: boolean | undefined): void {
    if (isMet === false) this.isKept = false
    this.#rows.push([what, figure, aim, isMet === undefined ? '' : isMet ? 'ok' : 'MISSED'])
  }

  print(title: string): void {
    process.stdout.write(`\n${title}\n`)
    print([['measure', 'figure', 'aim', ''], ...this.#rows.splice(0)])
  }
}

export interface Column<Row> {
  readonly title: string
  readonly width: number
  readonly of: (row: Row) => number
  readonly isMean?: true
}

/** A table whose rows are printed one by one, as rounds end. */
export class RunningTable<Row> {
  readonly #label: string
  readonly #labelWidth: number
  readonly #columns: readonly Column<Row>[]

  constructor(label: string, labelWidth: number, columns: readonly Column<Row>[]) {
    this.#label = label
    this.#labelWidth = labelWidth
    this.#columns = columns
  }

  head(): string {
    return this.#line(
      this.#label,
      this.#columns.map(({ title }) => title),
    )
  }

  row(label: string, row: Row): string {
    return this.#line(
      label,
      this.#columns.map(({ of }) => String(of(row))),
    )
  }

  /** Sums of all columns, and means of those that are named so. */
  total(rows: readonly Row[]): string {
    const cells = this.#columns.map(({ of, isMean }) => {
      const sum = rows.reduce((total, row) => total + of(row), 0)
      return String(isMean ? Math.round(sum / Math.max(1, rows.length)) : sum)
    })
    return this.#line('all', cells)
  }

  #line(label: string, cells: readonly string[]): string {
    const padded = this.#columns.map(({ width }, index) => (cells[index] ?? '').padStart(width))
    return `${label.padEnd(this.#labelWidth)} ${padded.join(' ')}`
  }
}

/** A table with columns as wide as their cells. The first row has the titles. */
export function print(rows: readonly string[][]): void {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  for (const row of rows)
    process.stdout.write(`${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`)
}

/** For programs: the figures of a run in `lab/bench/results`. */
export function writeResults(bench: string, results: object): void {
  const folder = join(import.meta.dirname, 'bench/results')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${bench}.json`)
  const about = { at: new Date().toISOString(), node: process.version, load: loadavg()[0] }
  writeFileSync(file, `${JSON.stringify({ ...about, ...results }, undefined, 2)}\n`)
  process.stdout.write(`\nalso in ${file}\n`)
}

export function median(values: readonly number[]): number {
  return ascending(values)[values.length >> 1] ?? Number.NaN
}

/** The machine is noisy: the middle figure speaks, the others say how much to believe it. */
export function spreadText(values: readonly number[]): string {
  const all = ascending(values).map((value) => value.toFixed(2))
  return `${median(values).toFixed(2)} (${all.join(' ')})`
}

/** Figures of a busy machine are to be read beside this. */
export function loadText(): string {
  return `load average ${loadavg()[0]?.toFixed(1)}`
}

function ascending(values: readonly number[]): readonly number[] {
  return values.toSorted((left, right) => left - right)
}
