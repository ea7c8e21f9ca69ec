/** Objects in the form of torana.yaml, as JSON values: compared, changed at a path, and merged. */

export type Entry = Readonly<Record<string, unknown>>

export function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, at) => isSame(value, other[at]))
  if (isEntry(one) && isEntry(other)) return keysOf(one, other).every((key) => isSame(one[key], other[key]))
  return one === other
}

/** The value at a path; undefined: there is none. */
export function valueAt(entry: Entry | null, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isEntry(value) ? value[key] : undefined), entry)
}

/** With another value at a path. Undefined takes it out, and with it every object that it leaves empty. */
export function withValue(entry: Entry, [key, ...rest]: readonly string[], value: unknown): Entry {
  if (key === undefined) return entry
  const inner = entry[key]
  const next = rest.length === 0 ? value : emptied(withValue(isEntry(inner) ? inner : {}, rest, value))
  const { [key]: _, ...others } = entry
  if (next === undefined) return others
  // A changed field keeps its place.
  return key in entry ? { ...entry, [key]: next } : { ...others, [key]: next }
}

/** How many single values differ. A list counts once, but for lists of objects, which are compared one by one. */
export function differences(before: unknown, after: unknown): number {
  if (isSame(before, after)) return 0
  if (isEntry(before) && isEntry(after))
    return sum(keysOf(before, after).map((key) => differences(before[key], after[key])))
  if (isListOfEntries(before) && isListOfEntries(after)) {
    const pairs = paired(before, after)
    const inside = sum(pairs.map(([one, other]) => (one && other ? differences(one, other) : 1)))
    // The same objects in another order.
    return inside === 0 ? 1 : inside
  }
  return 1
}

/**
 * What both changed since `base`: fields that only one of them changed are that one's, the others are `mine`. Objects of a list
 * are matched by their identity, so that a weight and a limit of one deployment can be changed by two people.
 */
export function merged(base: unknown, mine: unknown, theirs: unknown): unknown {
  if (isSame(base, mine)) return theirs
  if (isSame(base, theirs) || isSame(mine, theirs)) return mine
  if (isEntry(mine) && isEntry(theirs)) {
    const before = isEntry(base) ? base : {}
    const both = keysOf(theirs, mine).map(
      (key) => [key, merged(before[key], mine[key], theirs[key])] as const,
    )
    return Object.fromEntries(both.filter(([, value]) => value !== undefined))
  }
  if (isListOfEntries(mine) && isListOfEntries(theirs))
    return mergedList(isListOfEntries(base) ? base : [], mine, theirs)
  return mine
}

function mergedList(
  base: readonly Entry[],
  mine: readonly Entry[],
  theirs: readonly Entry[],
): readonly unknown[] {
  const known = new Map(base.map((one) => [identityOf(one), one]))
  const other = new Map(theirs.map((one) => [identityOf(one), one]))
  const kept = mine.flatMap((one): readonly unknown[] => {
    const id = identityOf(one)
    const before = known.get(id)
    const now = other.get(id)
    // They removed what I left as it was.
    if (now === undefined && before !== undefined && isSame(before, one)) return []
    return [now === undefined ? one : merged(before, one, now)]
  })
  const ids = new Set(mine.map(identityOf))
  const added = theirs.filter((one) => !ids.has(identityOf(one)) && !known.has(identityOf(one)))
  return [...kept, ...added]
}

/** A deployment is one model at one upstream. */
export function identityOf(entry: Entry): string {
  return JSON.stringify([entry['upstream'], entry['model'] ?? null])
}

function paired(
  before: readonly Entry[],
  after: readonly Entry[],
): readonly (readonly [before: Entry | undefined, after: Entry | undefined])[] {
  const left = new Map(before.map((one) => [identityOf(one), one]))
  const right = new Map(after.map((one) => [identityOf(one), one]))
  return [...new Set([...left.keys(), ...right.keys()])].map((id) => [left.get(id), right.get(id)])
}

function isListOfEntries(value: unknown): value is readonly Entry[] {
  return Array.isArray(value) && value.every(isEntry)
}

function emptied(entry: Entry): Entry | undefined {
  return Object.keys(entry).length === 0 ? undefined : entry
}

function keysOf(one: Entry, other: Entry): readonly string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])]
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
