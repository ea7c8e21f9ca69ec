/** What was asked for, by the id of its job. Torana keeps no prompt after a job: only the browser that typed it knows it. */
import { remember, remembered } from '../../app/stored.ts'
import type { Mode, Settings } from './settings.ts'

export interface TypedSettings {
  readonly mode: Mode
  readonly model: string
  readonly settings: Settings
}

/** As many as the history shows; a prompt of a page each fits into what a browser stores. */
const MAX_KEPT = 40

type Kept = readonly (readonly [job: string, typed: TypedSettings])[]

function kept(): Kept {
  try {
    return JSON.parse(remembered('image-settings') ?? '[]') as Kept
  } catch {
    return []
  }
}

export function keepTyped(job: string, typed: TypedSettings): void {
  const others = kept().filter(([id]) => id !== job)
  remember('image-settings', JSON.stringify([[job, typed], ...others].slice(0, MAX_KEPT)))
}

/** Jobs of one kind, newest first. */
export function keptJobs(mode: Mode): readonly string[] {
  return kept().flatMap(([job, typed]) => (typed.mode === mode ? [job] : []))
}

export function typedFor(job: string): TypedSettings | undefined {
  return kept().find(([id]) => id === job)?.[1]
}
