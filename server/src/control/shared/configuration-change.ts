/** A set of changes applied to the objects of the store: what they are afterwards, and which of them differ. */
import type { Model } from '#core/catalog/catalog.ts'
import type { PriceForm } from '#core/money/price-form.ts'
import { isRecord } from '#core/text/record.ts'
import type { ChangedObject, ObjectKind, StoredEntry, StoredObject } from '#ports/stored-configuration.ts'
import { notFound } from './faults.ts'
import { isoOf } from './times.ts'

export interface Change {
  readonly object: ObjectKind
  readonly name: string
  /** null: delete it. */
  readonly entry: StoredEntry | null
  /** Upstreams only. */
  readonly renameTo?: string | undefined
  /** The revision that the change was made from. null: the store has no such object. */
  readonly base: bigint | null
  /** Upstreams only: a secret to store with it; null forgets the stored one. */
  readonly secret?: string | null | undefined
}

export interface ChangeProblem {
  readonly object: ObjectKind
  readonly name: string
  readonly text: string
  /** What the answer to an attempt to save it is. */
  readonly kind: 'invalid' | 'conflict' | 'stale'
}

const keyOf = ({ object, name }: { readonly object: ObjectKind; readonly name: string }): string =>
  `${object} ${name}`

/**
 * All names are given up before the first one is taken, so upstreams may swap names and hand them on in any order. Entries of
 * models name upstreams as they were called before.
 */
export function applied(
  before: readonly StoredObject[],
  changes: readonly Change[],
): {
  readonly after: readonly StoredObject[]
  readonly problems: readonly ChangeProblem[]
  /** Deleted upstreams on which models still run. */
  readonly inUse: readonly ChangeProblem[]
} {
  const known = new Map(before.map((one) => [keyOf(one), one]))
  const after = new Map(known)
  for (const change of changes) after.delete(keyOf(change))
  const problems: ChangeProblem[] = []
  const seen = new Set<string>()
  for (const change of changes) {
    const { object, name, entry, renameTo = name, base } = change
    const there = known.get(keyOf(change))
    const problem = (kind: ChangeProblem['kind'], text: string) => problems.push({ object, name, kind, text })
    const isRepeated = seen.has(keyOf(change))
    seen.add(keyOf(change))
    if (isRepeated) problem('invalid', `${object} ${name} is in the set twice: send one change of it.`)
    else if ((there?.revision ?? null) !== base) problem('stale', staleText(change, there))
    else if (there === undefined && entry === null)
      problem('invalid', `There is no ${object} ${name} in the store.`)
    if (entry === null) continue
    const renamed = { object, name: renameTo }
    if (!isRepeated && after.has(keyOf(renamed))) problem('conflict', `${object} ${renameTo} already exists.`)
    after.set(keyOf(renamed), { ...NEW, ...there, ...renamed, entry })
  }
  const models = [...after.values()].filter(({ object }) => object === 'model')
  const renames = upstreamNames(changes)
  const objects = [...after.values()].map((one) =>
    one.object === 'model' ? { ...one, entry: withRenamed(one.entry, renames) } : one,
  )
  const inUse = changes.flatMap((change) => usedUpstream(change, models))
  return { after: objects.toSorted(byKindAndName), problems, inUse }
}

/** Names of models in a sentence. */
const SHOWN_MODELS = 4

function usedUpstream({ object, name, entry }: Change, models: readonly StoredObject[]): ChangeProblem[] {
  if (object !== 'upstream' || entry !== null) return []
  const users = models
    .filter((model) => deploymentsIn(model.entry).some(({ upstream }) => upstream === name))
    .map((model) => model.name)
  if (users.length === 0) return []
  const shown = users.slice(0, SHOWN_MODELS).join(', ')
  const text = `Models run on upstream ${name}: ${shown}. Delete them first.`
  return [{ object, name, kind: 'conflict', text }]
}

function upstreamNames(changes: readonly Change[]): ReadonlyMap<string, string> {
  return new Map(changes.flatMap(({ name, renameTo }) => (renameTo === undefined ? [] : [[name, renameTo]])))
}

/** An object that is not saved yet. */
const NEW = { revision: 0n, by: '', atMs: 0 }

function byKindAndName(one: StoredObject, other: StoredObject): number {
  if (one.object !== other.object) return one.object === 'upstream' ? -1 : 1
  return one.name < other.name ? -1 : 1
}

function staleText({ object, name }: Change, there: StoredObject | undefined): string {
  if (there === undefined)
    return `The ${object} ${name} is not in the store any more, or was never. Read it again, then repeat your change.`
  return `${there.by} changed the ${object} ${name} at ${isoOf(there.atMs)}. Read it again, then repeat your change.`
}

export function withRenamed(entry: StoredEntry, renames: ReadonlyMap<string, string>): StoredEntry {
  if (!deploymentsIn(entry).some(({ upstream }) => renames.has(String(upstream)))) return entry
  const deployments = deploymentsIn(entry).map((one) => {
    const to = renames.get(String(one['upstream']))
    return to === undefined ? one : { ...one, upstream: to }
  })
  return { ...entry, deployments }
}

/** The deployments of a model's entry, whatever else is wrong with it. */
export function deploymentsIn(entry: StoredEntry): readonly StoredEntry[] {
  const deployments = entry['deployments']
  return Array.isArray(deployments) ? deployments.filter(isRecord) : []
}

/** The place of each stored deployment of a model in its entry, by id. Those on upstreams of a declared deployment are not served. */
export function storedIndexes(entry: StoredEntry, { deployments }: Model): ReadonlyMap<string, number> {
  const all: readonly { readonly id: string; readonly managedBy?: string | undefined }[] = deployments
  const declared = new Set(
    deployments.flatMap(({ managedBy, upstream }) => (managedBy === 'store' ? [] : [upstream.name])),
  )
  const served = deploymentsIn(entry)
    .map(({ upstream }, index) => ({ upstream: String(upstream), index }))
    .filter(({ upstream }) => !declared.has(upstream))
  const ids = all.filter(({ managedBy }) => managedBy === 'store').map(({ id }) => id)
  return new Map(ids.flatMap((id, place) => (served[place] ? [[id, served[place].index]] : [])))
}

/** The change of a price in the entry of a stored deployment. Undefined when it changes nothing. */
export function withPrice(
  stored: readonly StoredObject[],
  model: Model,
  deployment: string,
  price: PriceForm | undefined,
): Change | undefined {
  const known = stored.find(({ object, name }) => object === 'model' && name === model.id)
  if (known === undefined) throw notFound(`There is no model ${model.id} in the store.`)
  const place = storedIndexes(known.entry, model).get(deployment)
  const deployments = deploymentsIn(known.entry).map((one, index) => {
    if (index !== place) return one
    const { price: _before, ...others } = one
    return price === undefined ? others : { ...others, price }
  })
  const entry = { ...known.entry, deployments }
  return isSame(entry, known.entry)
    ? undefined
    : { object: 'model', name: model.id, entry, base: known.revision }
}

export function changedObjects(
  before: readonly StoredObject[],
  after: readonly StoredObject[],
  changes: readonly Change[],
): readonly ChangedObject[] {
  const was = new Map(before.map((one) => [keyOf(one), one.entry]))
  const is = new Map(after.map((one) => [keyOf(one), one.entry]))
  const from = new Map(
    changes.flatMap(({ name, renameTo, entry }) =>
      renameTo === undefined || renameTo === name || entry === null ? [] : [[`upstream ${renameTo}`, name]],
    ),
  )
  // Names that their object gave up: what has one of them afterwards is another object.
  const released = new Set(
    changes.flatMap((change) =>
      change.entry === null || (change.renameTo ?? change.name) !== change.name ? [keyOf(change)] : [],
    ),
  )
  const renamed = new Set([...from.values()].map((name) => `upstream ${name}`))
  const deleted = before
    .filter((one) => (released.has(keyOf(one)) || !is.has(keyOf(one))) && !renamed.has(keyOf(one)))
    .map(({ object, name, entry }) => ({ object, name, before: entry, after: null }))
  const others = after.flatMap(({ object, name, entry }) => {
    const key = keyOf({ object, name })
    const renamedFrom = from.get(key)
    const earlier =
      renamedFrom === undefined
        ? released.has(key)
          ? null
          : (was.get(key) ?? null)
        : (was.get(keyOf({ object, name: renamedFrom })) ?? null)
    if (renamedFrom === undefined && earlier !== null && isSame(earlier, entry)) return []
    return [
      { object, name, ...(renamedFrom !== undefined && { renamedFrom }), before: earlier, after: entry },
    ]
  })
  return [...deleted, ...others]
}

/** Whatever the order of their fields: the database keeps none. */
export function isSame(one: unknown, other: unknown): boolean {
  return sortedText(one) === sortedText(other)
}

function sortedText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  )
}
