/** Which entries of the palette fit what was typed, and in which order: by how well they fit, then by how often they were used. */

export interface Findable {
  readonly id: string
  readonly group: string
  readonly title: string
  /** Words that find it and are not shown. */
  readonly also?: string
  /** Points that it has whatever its title is: the node found it, perhaps by an alias. */
  readonly leastPoints?: number
}

/** Points of the place where a typed word was found. All words must be found. */
export const POINTS = { titleStart: 4, titleWord: 3, alsoWord: 2, titleInside: 1 } as const

/** 0: it does not fit. */
export function fitOf({ title, also = '' }: Pick<Findable, 'title' | 'also'>, typed: string): number {
  const [inTitle, inAlso] = [title.toLowerCase(), also.toLowerCase()]
  const parts = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const points = parts.map((part): number => {
    if (inTitle.startsWith(part)) return POINTS.titleStart
    if (startsWord(inTitle, part)) return POINTS.titleWord
    if (startsWord(inAlso, part)) return POINTS.alsoWord
    return inTitle.includes(part) ? POINTS.titleInside : 0
  })
  if (points.includes(0)) return 0
  return parts.length === 0 ? 1 : points.reduce((sum, one) => sum + one, 0) / parts.length
}

function startsWord(text: string, part: string): boolean {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1))
    if (at === 0 || /[^\p{L}\p{N}]/u.test(text[at - 1] ?? '')) return true
  return false
}

/** How often each entry was chosen, the latest first. */
export type Uses = readonly (readonly [id: string, count: number])[]

/** Entries whose use is remembered: more than a person uses regularly. */
const MAX_USES = 40
/** Points of an entry that is used often: less than one step of `POINTS`, so a better fit always comes first. */
const MAX_USE_POINTS = 0.9
const MANY_USES = 10

export function used(uses: Uses, id: string): Uses {
  const before = uses.find(([one]) => one === id)?.[1] ?? 0
  return [[id, before + 1] as const, ...uses.filter(([one]) => one !== id)].slice(0, MAX_USES)
}

/** What a browser remembered, if it is of this form. */
export function readUses(text: string | null): Uses {
  try {
    const uses: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(uses)
      ? uses.filter(
          (use): use is [string, number] =>
            Array.isArray(use) && typeof use[0] === 'string' && typeof use[1] === 'number',
        )
      : []
  } catch {
    return []
  }
}

/** Groups in the order of their best entry, and entries within a group by their points. Equal ones keep their order. */
export function ordered<Choice extends Findable>(
  choices: readonly Choice[],
  typed: string,
  uses: Uses,
): readonly Choice[] {
  const count = new Map(uses)
  const scored = choices
    .map((choice) => ({ choice, points: Math.max(fitOf(choice, typed), choice.leastPoints ?? 0) }))
    .filter(({ points }) => points > 0)
    .map(({ choice, points }) => ({ choice, points: points + usePoints(count.get(choice.id) ?? 0) }))
  const groups = Map.groupBy(scored, ({ choice }) => choice.group)
  return [...groups.values()]
    .map((group) => group.toSorted((one, other) => other.points - one.points))
    .toSorted((one, other) => (other[0]?.points ?? 0) - (one[0]?.points ?? 0))
    .flatMap((group) => group.map(({ choice }) => choice))
}

function usePoints(count: number): number {
  return (Math.min(count, MANY_USES) / MANY_USES) * MAX_USE_POINTS
}
