/** Models: the list, and one with its options. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../client.ts'

/** Figures of the hour: a look a minute is enough. */
const MINUTE_MS = 60_000

export const modelQueries = {
  all: (project: string | undefined) =>
    queryOptions({
      queryKey: ['models', 'all', project],
      staleTime: MINUTE_MS / 2,
      refetchInterval: MINUTE_MS,
      placeholderData: keepPreviousData,
      queryFn: ({ signal }) =>
        answerOf(
          client.GET('/api/v1/models', {
            params: { query: project === undefined ? {} : { project } },
            signal,
          }),
        ),
    }),
  one: (id: string) =>
    queryOptions({
      queryKey: ['models', 'one', id],
      staleTime: MINUTE_MS / 2,
      refetchInterval: MINUTE_MS,
      queryFn: ({ signal }) =>
        answerOf(client.GET('/api/v1/models/{id}', { params: { path: { id } }, signal })),
    }),
}
