/** What is going on now. */
import { keepPreviousData } from '@tanstack/react-query'
import { api, type Schema } from '../client.ts'

export type Overview = Schema<'Overview'>
export type Flow = Schema<'Flow'>
export type Attention = Schema<'Attention'>

const MINUTE_MS = 60_000

export const overviewQueries = {
  /** Flows and attention come over the stream; the series are asked for once a minute. */
  overview: (span: { readonly since: string; readonly until?: string }, project: string | undefined) =>
    api.queryOptions(
      'get',
      '/api/v1/overview',
      { params: { query: { ...span, ...(project !== undefined && { project }) } } },
      { staleTime: MINUTE_MS / 2, refetchInterval: MINUTE_MS, placeholderData: keepPreviousData },
    ),
}
