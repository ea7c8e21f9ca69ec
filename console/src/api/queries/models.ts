/** Models: the list, and one with its options. */
import { keepPreviousData } from '@tanstack/react-query'
import { api } from '../client.ts'

const MINUTE_MS = 60_000
/** Figures of the hour: once a minute is enough. */
const EACH_MINUTE = { staleTime: MINUTE_MS / 2, refetchInterval: MINUTE_MS }

export const modelQueries = {
  all: (project: string | undefined) =>
    api.queryOptions(
      'get',
      '/api/v1/models',
      { params: { query: project === undefined ? {} : { project } } },
      { ...EACH_MINUTE, placeholderData: keepPreviousData },
    ),
  one: (id: string) =>
    api.queryOptions('get', '/api/v1/models/{id}', { params: { path: { id } } }, EACH_MINUTE),
}
