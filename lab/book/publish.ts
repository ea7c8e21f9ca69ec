/** Writes measured figures to docs/figures.json, the one source of every figure that a page prints. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadText } from '../report.ts'
import type { Figures } from './fill.ts'

const REPOSITORY = join(import.meta.dirname, '../..')
const FIGURES = join(REPOSITORY, 'docs/figures.json')
/** That of the code which runs: a program may take an hour, and work in the checkout goes on. */
const COMMIT = execFileSync('git', ['-C', REPOSITORY, 'rev-parse', '--short', 'HEAD'], {
  encoding: 'utf8',
}).trim()

export function publishedFigures(): Figures {
  return JSON.parse(readFileSync(FIGURES, 'utf8')) as Figures
}

export function measuredDay(): string {
  return new Date().toISOString().slice(0, 10)
}

export function measuredCommit(): string {
  return COMMIT
}

/** When, on what and in which quiet a run was made. */
export interface MeasuredRun {
  readonly day: string
  readonly commit: string
  readonly load: string
}

export function measuredRun(): MeasuredRun {
  return { day: measuredDay(), commit: measuredCommit(), load: loadText() }
}

/** The texts of a run that has just ended, by id. A bench calls it when it was started with `--write`. */
export function publishTexts(program: string, texts: Readonly<Record<string, string>>): void {
  const about = { date: measuredDay(), commit: measuredCommit(), program, load: loadText() }
  publishFigures(Object.fromEntries(Object.entries(texts).map(([id, text]) => [id, { text, ...about }])))
}

/** Newer figures replace older ones of the same id, and with a `prefix` all whose ids begin with it. */
export function publishFigures(figures: Figures, prefix?: string): void {
  const kept = Object.entries(publishedFigures()).filter(
    ([id]) => prefix === undefined || !id.startsWith(prefix),
  )
  const all = Object.entries({ ...Object.fromEntries(kept), ...figures })
  const sorted = Object.fromEntries(all.toSorted(([left], [right]) => (left < right ? -1 : 1)))
  writeFileSync(FIGURES, `${JSON.stringify(sorted, undefined, 2)}\n`)
  process.stdout.write(
    `${Object.keys(figures).length} figures in docs/figures.json; npm run generate fills the pages\n`,
  )
}
