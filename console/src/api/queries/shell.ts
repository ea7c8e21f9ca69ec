/** What the frame around all pages shows. */
import { queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../client.ts'

/** Slow things: nobody waits for them to change. */
const MINUTE_MS = 60_000

export const shellQueries = {
  /** All names of projects that the caller may see. */
  projects: () =>
    queryOptions({
      queryKey: ['projects'],
      staleTime: MINUTE_MS,
      queryFn: ({ signal }) =>
        answerOf(client.GET('/api/v1/projects', { params: { query: { limit: 1000 } }, signal })),
    }),
  nodes: () =>
    queryOptions({
      queryKey: ['nodes'],
      staleTime: MINUTE_MS,
      refetchInterval: MINUTE_MS,
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/nodes', { signal })),
    }),
  openUnknowns: () =>
    queryOptions({
      queryKey: ['unknowns', 'open', 'count'],
      staleTime: MINUTE_MS,
      refetchInterval: MINUTE_MS,
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/unknowns', { signal })),
    }),
}
