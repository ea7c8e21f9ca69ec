/** Who may sign in, and how. */
import { queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../client.ts'

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
  settings: () =>
    queryOptions({
      queryKey: ['settings'],
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/settings', { signal })),
    }),
}
