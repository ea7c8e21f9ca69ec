/** Who may sign in, and how. */
import { queryOptions } from '@tanstack/react-query'
import { answerOf, client, type Schema } from '../client.ts'

const LOOK_EVERY_MS = 2000

export const peopleQueries = {
  options: () =>
    queryOptions({
      queryKey: ['sign-in-options'],
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/session/options', { signal })),
    }),
  invitation: (token: string) =>
    queryOptions({
      queryKey: ['invitation', token],
      retry: false,
      queryFn: ({ signal }) => answerOf(client.POST('/api/v1/invitations/look', { body: { token }, signal })),
    }),
  members: () =>
    queryOptions({
      queryKey: ['members'],
      queryFn: ({ signal }) =>
        answerOf(client.GET('/api/v1/members', { params: { query: { limit: 1000 } }, signal })),
    }),
  invitations: () =>
    queryOptions({
      queryKey: ['invitations'],
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/invitations', { signal })),
    }),
  signOn: () =>
    queryOptions({
      queryKey: ['sign-on'],
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/sign-on', { signal })),
    }),
  tokens: () =>
    queryOptions({
      queryKey: ['tokens'],
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/tokens', { signal })),
    }),
  /** Asked again until it is there. */
  firstRequest: () =>
    queryOptions<Schema<'RequestRow'> | null>({
      queryKey: ['requests', 'first'],
      refetchInterval: ({ state }) => (state.data ? false : LOOK_EVERY_MS),
      queryFn: async ({ signal }) => {
        const query = { limit: 1 }
        const { data } = await answerOf(client.GET('/api/v1/requests', { params: { query }, signal }))
        return data[0] ?? null
      },
    }),
  settings: () =>
    queryOptions({
      queryKey: ['settings'],
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/settings', { signal })),
    }),
}
