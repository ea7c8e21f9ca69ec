/** The changes of the whole page that are not saved yet: one change per object, with what was stored when it began. */
import type { ConfigurationChange } from '../../api/queries/routing.ts'
import { differences, isSame, merged, type Entry } from './entry.ts'

export interface Change {
  readonly object: ConfigurationChange['object']
  readonly name: string
  /** The revision it began from. null: nothing was stored. */
  readonly base: ConfigurationChange['base']
  readonly before: Entry | null
  /** null: the object is deleted. */
  readonly entry: Entry | null
  readonly renameTo?: string | undefined
}

/** By object and name. */
export type Draft = ReadonlyMap<string, Change>

export const NO_CHANGES: Draft = new Map()

export function keyOf({ object, name }: Pick<Change, 'object' | 'name'>): string {
  return `${object} ${name}`
}

/** A change that changes nothing leaves the draft. */
export function withChange(draft: Draft, change: Change): Draft {
  const next = new Map(draft)
  if (changesOf(change) === 0) next.delete(keyOf(change))
  else next.set(keyOf(change), change)
  return next
}

export function changesOf({ before, entry, renameTo }: Change): number {
  return (isSame(before, entry) ? 0 : differences(before, entry)) + (renameTo === undefined ? 0 : 1)
}

/** Single fields that differ from what is stored. */
export function countOf(draft: Draft): number {
  return [...draft.values()].reduce((sum, change) => sum + changesOf(change), 0)
}

/** As the API takes it. */
export function bodyOf(draft: Draft): readonly ConfigurationChange[] {
  return Array.from(draft.values(), ({ object, name, base, entry, renameTo }): ConfigurationChange => {
    const fields = { name, base, entry: entry && { ...entry } }
    if (object === 'model') return { object, ...fields }
    return { object, ...fields, ...(renameTo !== undefined && { rename_to: renameTo }) }
  })
}

/** What is stored of an object now. */
export interface Stored {
  readonly base: Change['base']
  readonly entry: Entry | null
}

/** The same changes on top of what another admin saved in the meantime. */
export function rebased(change: Change, { base, entry }: Stored): Change {
  return { ...change, base, before: entry, entry: merged(change.before, change.entry, entry) as Entry | null }
}
