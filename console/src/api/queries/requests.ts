/** The request log. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answerOf, client, type Schema } from '../client.ts'
import type { operations } from '../control.d.ts'

export type RequestRow = Schema<'RequestRow'>
export type RequestDetail = Schema<'RequestDetail'>
export type ForgottenRequest = Schema<'ForgottenRequest'>
export type Histogram = Schema<'Histogram'>

type HistogramQuery = NonNullable<operations['requestHistogram']['parameters']['query']>

/** What the routes of the log filter by. */
export type RequestFilters = Omit<HistogramQuery, 'slots' | 'facets'>

const PAGE = 100
/** A request that has ended does not change; only an unknown is resolved later. */
const DETAIL_STALE_MS = 30_000

export const requestQueries = {
  list: (filters: RequestFilters, sort: '-at' | '-duration' | '-cost') =>
    infiniteQueryOptions({
      queryKey: ['requests', 'list', filters, sort],
      initialPageParam: '',
      getNextPageParam: (page: Schema<'RequestList'>) => page.next ?? undefined,
      placeholderData: keepPreviousData,
      queryFn: ({ pageParam, signal }) =>
        answerOf(
          client.GET('/api/v1/requests', {
            params: {
              query: { ...filters, sort, limit: PAGE, ...(pageParam !== '' && { after: pageParam }) },
            },
            signal,
          }),
        ),
    }),
  histogram: (filters: RequestFilters, slots: number) =>
    queryOptions({
      queryKey: ['requests', 'histogram', filters, slots],
      placeholderData: keepPreviousData,
      queryFn: ({ signal }) =>
        answerOf(
          client.GET('/api/v1/requests/histogram', {
            params: { query: { ...filters, slots, facets: 'true' } },
            signal,
          }),
        ),
    }),
  /** Of all pages: they are kept as one list. */
  savedViews: () =>
    queryOptions({
      queryKey: ['saved-views'],
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/saved-views', { signal })),
    }),
  one: (id: string) =>
    queryOptions({
      queryKey: ['requests', 'one', id],
      staleTime: DETAIL_STALE_MS,
      queryFn: ({ signal }) =>
        answerOf(client.GET('/api/v1/requests/{id}', { params: { path: { id } }, signal })),
    }),
}
