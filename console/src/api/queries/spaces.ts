/** Vector spaces. */
import { queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../client.ts'

const MINUTE_MS = 60_000

export const spaceQueries = {
  all: () =>
    queryOptions({
      queryKey: ['spaces'],
      staleTime: MINUTE_MS / 2,
      refetchInterval: MINUTE_MS,
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/spaces', { signal })),
    }),
}
