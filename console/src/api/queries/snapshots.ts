/** Links to a page as it was, which open without a session. */
import { queryOptions } from '@tanstack/react-query'
import { api, client, type Schema } from '../client.ts'

export type Snapshot = Schema<'Snapshot'>
export type SnapshotPage = Snapshot['page']

export const snapshotQueries = {
  links: () => api.queryOptions('get', '/api/v1/snapshots'),
  /** A question, though its method is POST: a token belongs in no address. */
  look: (token: string) =>
    queryOptions({
      queryKey: ['post', '/api/v1/snapshots/look', { body: { token } }],
      retry: false,
      staleTime: Number.POSITIVE_INFINITY,
      queryFn: async ({ signal }) =>
        (await client.POST('/api/v1/snapshots/look', { body: { token }, signal })).data,
    }),
}
