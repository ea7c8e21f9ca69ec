/** The words of a finding. */
import { MAX_SUBJECTS, type Finding } from './incident.ts'
import type { AlertKind } from './kind.ts'

/** Share of a threshold below which an open incident ends. */
export const RELAXED = 0.8
/** Names in a sentence. */
const MAX_NAMES = 5

interface Words extends Pick<Finding, 'severity' | 'title'> {
  readonly project?: string
  readonly lines: readonly string[]
  readonly subjects: readonly string[]
  readonly figures: Readonly<Record<string, string | number>>
  readonly path: string
  readonly level?: number
  /** What lasts, where it is known since when: the incident starts with the first of it. */
  readonly lasting?: readonly { readonly sinceMs: number }[]
}

export function finding(kind: AlertKind, cause: string, words: Words): Finding {
  const { project = '', severity, title, lines, subjects, figures, path, level = 0, lasting = [] } = words
  const detail = { lines, subjects: subjects.slice(0, MAX_SUBJECTS), figures, path }
  const sinceMs = lasting.length === 0 ? undefined : Math.min(...lasting.map((one) => one.sinceMs))
  const grouped = Math.max(1, subjects.length)
  return { kind, cause, project, severity, title, detail, level, grouped, sinceMs }
}

export function namesOf(names: readonly string[]): string {
  const all = [...new Set(names)]
  const more = all.length - MAX_NAMES
  return `${all.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

export function countOf(count: number): string {
  return count.toLocaleString('en-US')
}

export function secondsOf(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
