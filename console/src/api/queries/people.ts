/** Who may sign in, and how. */
import { queryOptions } from '@tanstack/react-query'
import { api, client } from '../client.ts'

const LOOK_EVERY_MS = 2000

export const peopleQueries = {
  options: () => api.queryOptions('get', '/api/v1/session/options'),
  /** A question, though its method is POST: a token belongs in no address. */
  invitation: (token: string) =>
    queryOptions({
      queryKey: ['post', '/api/v1/invitations/look', { body: { token } }],
      retry: false,
      queryFn: async ({ signal }) =>
        (await client.POST('/api/v1/invitations/look', { body: { token }, signal })).data,
    }),
  members: () => api.queryOptions('get', '/api/v1/members', { params: { query: { limit: 1000 } } }),
  invitations: () => api.queryOptions('get', '/api/v1/invitations'),
  signOn: () => api.queryOptions('get', '/api/v1/sign-on'),
  tokens: () => api.queryOptions('get', '/api/v1/tokens'),
  /** Asked again until it is there. */
  firstRequest: () =>
    api.queryOptions(
      'get',
      '/api/v1/requests',
      { params: { query: { limit: 1 } } },
      {
        refetchInterval: ({ state }) => (state.data?.data.length ? false : LOOK_EVERY_MS),
        select: ({ data }) => data[0] ?? null,
      },
    ),
  settings: () => api.queryOptions('get', '/api/v1/settings'),
}
