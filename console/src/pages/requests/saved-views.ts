/** Views that the member keeps: on the server, so that every browser has them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { answerOf, client, type Schema } from '../../api/client.ts'
import { requestQueries } from '../../api/queries/requests.ts'
import { parseSearch, stringifySearch } from '../../app/search.ts'
import { FILTER_NAMES, type RequestSearch, type View } from './filters.ts'

type SavedView = Schema<'SavedView'>

const PAGE = 'requests'
/** As many as fit beside the title. */
export const MOST_VIEWS = 6

interface SavedViews {
  readonly views: readonly View[]
  readonly isFull: boolean
  readonly save: (name: string, search: RequestSearch) => void
  readonly forget: (name: string) => void
}

export function useSavedViews(): SavedViews {
  const queries = useQueryClient()
  const { data: all } = useQuery(requestQueries.savedViews())
  const { mutate } = useMutation({
    mutationFn: (data: SavedView[]) => answerOf(client.PUT('/api/v1/saved-views', { body: { data } })),
    onSuccess: (list) => queries.setQueryData(requestQueries.savedViews().queryKey, list),
  })
  const views = all?.data.filter(({ page }) => page === PAGE) ?? []
  // They are kept as one list. Before it is there, nothing is written over it.
  const keep = (change: (kept: readonly SavedView[]) => SavedView[]): void => {
    if (all !== undefined) mutate(change(all.data))
  }
  const isOther = (name: string) => (view: SavedView) => view.page !== PAGE || view.name !== name
  return {
    views: views.map(viewOf),
    isFull: views.length >= MOST_VIEWS,
    save: (name, search) => keep((kept) => [...kept.filter(isOther(name)), savedOf(name, search)]),
    forget: (name) => keep((kept) => kept.filter(isOther(name))),
  }
}

function viewOf({ name, search }: SavedView): View {
  const kept = parseSearch(search)
  return {
    name,
    search: Object.fromEntries(
      FILTER_NAMES.flatMap((filter) => (typeof kept[filter] === 'string' ? [[filter, kept[filter]]] : [])),
    ),
  }
}

function savedOf(name: string, search: RequestSearch): SavedView {
  const filters = Object.fromEntries(FILTER_NAMES.map((filter) => [filter, search[filter]]))
  return { page: PAGE, name, search: stringifySearch(filters).slice(1) }
}
