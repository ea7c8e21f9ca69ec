/** Views that the member keeps, and those that members of a project share: on the server, so that every browser has them. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Schema } from '../../api/client.ts'
import { requestQueries } from '../../api/queries/requests.ts'
import { useWrite } from '../../api/write.ts'
import { parseSearch, stringifySearch } from '../../app/search.ts'
import { useMay, useSession } from '../../app/session.ts'
import { FILTER_NAMES, type RequestSearch, type View } from './filters.ts'

type SavedView = Schema<'SavedView'>

const PAGE = 'requests'
/** As many as fit beside the title. */
export const MOST_VIEWS = 6

interface SavedViews {
  readonly views: readonly View[]
  readonly isFull: boolean
  readonly save: (name: string, search: RequestSearch) => Promise<void>
  readonly forget: (name: string) => void
}

export function useSavedViews(): SavedViews {
  const queries = useQueryClient()
  const { data: all } = useQuery(requestQueries.savedViews())
  const put = useWrite('put', '/api/v1/saved-views')
  const views = all?.data.filter(({ page }) => page === PAGE) ?? []
  // They are kept as one list. Before it is there, it counts as full, so that nothing is written over it.
  const bodyOf = (change: (kept: readonly SavedView[]) => SavedView[]) => ({ data: change(all?.data ?? []) })
  const show = (list: Schema<'SavedViewList'>): void =>
    void queries.setQueryData(requestQueries.savedViews().queryKey, list)
  const isOther = (name: string) => (view: SavedView) => view.page !== PAGE || view.name !== name
  return {
    views: views.map(viewOf),
    isFull: all === undefined || views.length >= MOST_VIEWS,
    save: async (name, search) =>
      show(
        await put.send({ body: bodyOf((kept) => [...kept.filter(isOther(name)), savedOf(name, search)]) }),
      ),
    forget: (name) => put.now({ body: bodyOf((kept) => kept.filter(isOther(name))) }, show),
  }
}

export interface SharedView extends View {
  readonly id: string
  readonly project: string
  readonly maker: string
  readonly mayDelete: boolean
}

interface SharedViews {
  readonly views: readonly SharedView[]
  readonly share: (project: string, name: string, search: RequestSearch) => Promise<void>
  readonly unshare: (id: string) => void
}

/** Of the project in scope, or of all that the person sees. */
export function useSharedViews(project: string | undefined): SharedViews {
  const { member } = useSession()
  const may = useMay()
  const { data: all } = useQuery(requestQueries.sharedViews(project))
  const post = useWrite('post', '/api/v1/shared-views')
  const remove = useWrite('delete', '/api/v1/shared-views/{id}')
  return {
    views: (all?.data ?? []).map((view) => ({
      ...viewOf(view),
      id: view.id,
      project: view.project,
      maker: view.created_by,
      mayDelete: may('projects.write') || view.created_by === member?.email,
    })),
    share: async (of, name, search) =>
      void (await post.send({ body: { project: of, ...savedOf(name, search) } })),
    unshare: (id) => remove.now({ params: { path: { id } } }),
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
