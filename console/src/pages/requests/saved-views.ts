/** Views that this browser keeps for the person who uses it. */
import { useState } from 'react'
import { remember, remembered } from '../../app/stored.ts'
import { FILTER_NAMES, type RequestSearch, type View } from './filters.ts'

/** As many as fit beside the title. */
const MOST_VIEWS = 6

function read(): readonly View[] {
  try {
    const kept: unknown = JSON.parse(remembered('view.requests') ?? '[]')
    return Array.isArray(kept) ? (kept as View[]).filter(isWhole).slice(0, MOST_VIEWS) : []
  } catch {
    return []
  }
}

function isWhole({ name, search }: View): boolean {
  return typeof name === 'string' && typeof search === 'object' && search !== null
}

export function useSavedViews(): {
  readonly views: readonly View[]
  readonly save: (name: string, search: RequestSearch) => void
  readonly forget: (name: string) => void
} {
  const [views, setViews] = useState(read)
  const keep = (next: readonly View[]): void => {
    remember('view.requests', next.length === 0 ? null : JSON.stringify(next))
    setViews(next)
  }
  return {
    views,
    save: (name, search) => {
      const own = Object.fromEntries(
        FILTER_NAMES.flatMap((filter) => (search[filter] === undefined ? [] : [[filter, search[filter]]])),
      )
      keep([...views.filter((view) => view.name !== name), { name, search: own }].slice(-MOST_VIEWS))
    },
    forget: (name) => keep(views.filter((view) => view.name !== name)),
  }
}
