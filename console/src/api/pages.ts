/** Lists that come page by page, with the same keys by path as all other queries. */
import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query'
import type { ClientPathsWithMethod } from 'openapi-fetch'
import { client } from './client.ts'
import type { paths } from './control.d.ts'

type ListPath = ClientPathsWithMethod<typeof client, 'get'>
type QueryOf<Path extends ListPath> = paths[Path]['get'] extends { parameters: { query?: infer Query } }
  ? NonNullable<Query>
  : never
type PageOf<Path extends ListPath> = paths[Path]['get'] extends {
  responses: { 200: { content: { 'application/json': infer Page } } }
}
  ? Page
  : never

/** `nextOf`: what to ask for after a page; undefined: it is the last. `keepsPrevious`: the rows of the last filter stay until those of the next are there. */
export function pagesOf<Path extends ListPath>(
  path: Path,
  query: QueryOf<Path>,
  nextOf: (page: PageOf<Path>) => QueryOf<Path> | undefined,
  { keepsPrevious = false }: { readonly keepsPrevious?: boolean } = {},
) {
  return infiniteQueryOptions({
    queryKey: ['get', path, { params: { query } }, 'pages'],
    initialPageParam: undefined as QueryOf<Path> | undefined,
    getNextPageParam: nextOf,
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
    queryFn: async ({ pageParam, signal }) => {
      const init = {
        params: { query: { ...(query as object), ...(pageParam as object | undefined) } },
        signal,
      }
      const { data } = await client.GET(path as never, init as never)
      return data as PageOf<Path>
    },
  })
}

/** For lists with a `next`. */
export function after({ next }: { readonly next: string | null }): { after: string } | undefined {
  return next === null ? undefined : { after: next }
}

type Given<Query> = { [Name in keyof Query]?: Exclude<Query[Name], undefined> }

/** Leaves out what is undefined. */
export function given<Query extends object>(query: Query): Given<Query> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as Given<Query>
}
