/** The request log. */
import { keepPreviousData } from '@tanstack/react-query'
import { api, type Schema } from '../client.ts'
import type { operations } from '../control.d.ts'
import { after, pagesOf } from '../pages.ts'

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
    pagesOf('/api/v1/requests', { ...filters, sort, limit: PAGE }, after, { keepsPrevious: true }),
  histogram: (filters: RequestFilters, slots: number) =>
    api.queryOptions(
      'get',
      '/api/v1/requests/histogram',
      { params: { query: { ...filters, slots, facets: 'true' } } },
      { placeholderData: keepPreviousData },
    ),
  one: (id: string) =>
    api.queryOptions(
      'get',
      '/api/v1/requests/{id}',
      { params: { path: { id } } },
      { staleTime: DETAIL_STALE_MS },
    ),
}
