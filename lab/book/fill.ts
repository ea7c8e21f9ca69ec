/** Fills the parts of pages that have another source: measured figures, defaults of settings, and what Torana has and lacks. */
import { parse } from 'yaml'

interface Figure {
  /** As pages print it, with its unit: `168 µs`. */
  readonly text: string
  /** The day it was measured, such as 2026-11-17. */
  readonly date: string
  /** The commit that was measured. */
  readonly commit: string
  /** The program of the lab that wrote it: `npm run lab -- <program>`. */
  readonly program: string
  /** What the machine did while it was measured, so that a reader can judge it. */
  readonly load: string
}

/** A number that `npm run generate` counts in the code: true of the present commit. */
interface CountedFigure {
  readonly text: string
  readonly program: 'generate'
}

export type Figures = Readonly<Record<string, Figure | CountedFigure>>

export interface Feature {
  readonly name: string
  readonly has: boolean
  /** One clause, begins in lower case. */
  readonly what: string
  /** The page that explains it, from docs/. A feature that is missing may have none. */
  readonly page?: string
  /** The test that fails when the feature is gone. */
  readonly test?: string
}

export function readFeatures(yaml: string): readonly Feature[] {
  return parse(yaml) as readonly Feature[]
}

const FIGURE = /<!-- fig ([\w.-]+) -->[\s\S]*?<!-- \/fig -->/g
const DEFAULT = /<!-- default ([\w.]+) -->[\s\S]*?<!-- \/default -->/g
const GENERATED = /<!-- generated ([\w.-]+) -->[\s\S]*?<!-- \/generated -->/g

export interface Sources {
  readonly figures: Figures
  /** By the path of a setting, such as `limits.queueWaitMs`. */
  readonly defaultText: (path: string) => string | undefined
  /** By the name of the part. A part of another name belongs to another program, and stays. */
  readonly parts: Readonly<Record<string, string>>
}

/** The page with its parts filled in. `where` names the page in errors. */
export function filled(text: string, where: string, { figures, defaultText, parts }: Sources): string {
  return text
    .replaceAll(FIGURE, (_, id: string) => {
      const figure = figures[id]
      if (figure === undefined) throw new Error(`${where}: docs/figures.json has no figure ${id}`)
      return `<!-- fig ${id} -->${figure.text}<!-- /fig -->`
    })
    .replaceAll(DEFAULT, (_, path: string) => {
      const now = defaultText(path)
      if (now === undefined) throw new Error(`${where}: torana.yaml has no number as the default of ${path}`)
      return `<!-- default ${path} -->${now}<!-- /default -->`
    })
    .replaceAll(GENERATED, (part, name: string) => {
      const now = parts[name]
      return now === undefined ? part : `<!-- generated ${name} -->\n\n${now}\n\n<!-- /generated -->`
    })
}

/** A table of a page. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** The bare proxy and a copy of itself. */
export function noiseText(noise: Figures[string] | undefined): string {
  return noise === undefined || !('date' in noise)
    ? 'The noise of these figures was not recorded.'
    : `The bare proxy and a copy of itself differed by ${noise.text} at the same time on one core (${noise.date}): smaller differences between two rows mean nothing.`
}

export function missingText(features: readonly Feature[]): string {
  const missing = features.filter(({ has }) => !has).map(({ what }) => what)
  return `Not included: ${missing.join(', ')}. Settings that this version does not know are refused by name, never ignored.`
}

export function figureIdsOf(text: string): readonly string[] {
  return [...text.matchAll(FIGURE)].map(([, id = '']) => id)
}
