import { isBehind, type KeyPlace } from '#core/keys/key-order.ts'

/** A page of rows that were asked for with one more than fits: it tells whether there are more. */
export function cursorPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  { bodyOf, cursorOf }: { readonly bodyOf: (row: Row) => Item; readonly cursorOf: (row: Row) => string },
): { data: Item[]; has_more: boolean; next: string | null } {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = rows.length > limit
  return {
    data: shown.map(bodyOf),
    has_more: hasMore,
    next: hasMore && last !== undefined ? cursorOf(last) : null,
  }
}

interface PageItem {
  readonly managed_by: 'configuration' | 'store'
}

export interface PageSources<Item extends PageItem> {
  /** Sorted, all behind `after`, and one more than fits: it tells whether there are more. */
  readonly stored: readonly Item[]
  readonly declared: readonly Item[]
  readonly nameOf: (item: Item) => string
  /** Of a lower rank first. Default: by name alone. */
  readonly rankOf?: (item: Item) => number
  readonly after: KeyPlace | undefined
  readonly limit: number
}

/** One page of stored and declared items, sorted together. Where both have a name, the declared item counts. */
export function mergedPage<Item extends PageItem>(
  sources: PageSources<Item>,
): {
  data: Item[]
  has_more: boolean
} {
  const { stored, declared, nameOf, rankOf = () => 0, after, limit } = sources
  const byName = new Map([...stored, ...declared].map((item) => [nameOf(item), item]))
  const places = Array.from(byName, ([id, item]) => ({ rank: rankOf(item), id, item }))
    .filter((place) => after === undefined || isBehind(place, after))
    .sort((a, b) => (isBehind(b, a) ? -1 : 1))
  return { data: places.slice(0, limit).map(({ item }) => item), has_more: places.length > limit }
}
