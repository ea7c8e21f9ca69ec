interface Named {
  readonly managed_by: 'configuration' | 'store'
}

export interface PageSources<Item extends Named> {
  /** One more than fits, so that it is known whether there are more; sorted, behind `after`. */
  readonly stored: readonly Item[]
  readonly declared: readonly Item[]
  readonly nameOf: (item: Item) => string
  readonly after: string | undefined
  readonly limit: number
}

/** One page of what is stored and what is declared, together and sorted. What is both is what was declared. */
export function mergedPage<Item extends Named>(
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
