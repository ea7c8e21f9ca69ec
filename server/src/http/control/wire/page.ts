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
  readonly after: string | undefined
  readonly limit: number
}

/** One page of stored and declared items, sorted together. Where both have a name, the declared item counts. */
export function mergedPage<Item extends PageItem>(
  sources: PageSources<Item>,
): {
  data: Item[]
  has_more: boolean
} {
  const { stored, declared, nameOf, after = '', limit } = sources
  const byName = new Map([...stored, ...declared].map((item) => [nameOf(item), item]))
  const names = [...byName.keys()].filter((name) => name > after).sort()
  return {
    data: names.slice(0, limit).flatMap((name) => byName.get(name) ?? []),
    has_more: names.length > limit,
  }
}
