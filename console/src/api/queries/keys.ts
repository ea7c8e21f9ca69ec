/** Keys, projects and the audit. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answerOf, client, type Schema } from '../client.ts'

/** As much as a person scrolls through before the next is there. */
const PAGE = 200

export interface KeyListFilter {
  readonly project?: string | undefined
  readonly q?: string | undefined
  readonly state?: 'active' | 'ending' | 'tidy' | 'revoked' | undefined
  /** By id, the last used first, or the next to end first. */
  readonly sort?: 'id' | '-used' | 'ends' | undefined
}

export interface AuditListFilter {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly target?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export const keyQueries = {
  list: (filter: KeyListFilter) =>
    infiniteQueryOptions({
      queryKey: ['keys', filter],
      initialPageParam: undefined as string | undefined,
      getNextPageParam: (page: Schema<'KeyList'>) => page.next ?? undefined,
      queryFn: ({ pageParam: after, signal }) =>
        answerOf(
          client.GET('/api/v1/keys', {
            params: { query: { ...defined({ ...filter, after }), limit: PAGE } },
            signal,
          }),
        ),
    }),
  one: (project: string, name: string) =>
    queryOptions({
      queryKey: ['keys', 'one', project, name],
      queryFn: ({ signal }) =>
        answerOf(
          client.GET('/api/v1/keys/{project}/{name}', { params: { path: { project, name } }, signal }),
        ),
    }),
  projects: () =>
    queryOptions({
      queryKey: ['projects'],
      queryFn: ({ signal }) =>
        answerOf(client.GET('/api/v1/projects', { params: { query: { limit: 1000 } }, signal })),
    }),
  models: () =>
    queryOptions({
      queryKey: ['models', 'ids'],
      staleTime: 60_000,
      queryFn: async ({ signal }) => {
        const { data } = await answerOf(client.GET('/api/v1/models', { signal }))
        return data.map(({ id }) => id)
      },
    }),
  audit: (filter: AuditListFilter) =>
    infiniteQueryOptions({
      queryKey: ['audit', filter],
      initialPageParam: undefined as number | undefined,
      getNextPageParam: (page: Schema<'AuditList'>) =>
        page.has_more ? page.data.at(-1)?.sequence : undefined,
      queryFn: ({ pageParam: before, signal }) =>
        answerOf(
          client.GET('/api/v1/audit', {
            params: { query: { ...defined({ ...filter, before }), limit: PAGE } },
            signal,
          }),
        ),
    }),
  webhookEvents: () =>
    queryOptions({
      queryKey: ['webhook-events'],
      queryFn: ({ signal }) =>
        answerOf(client.GET('/api/v1/webhook-events', { params: { query: { limit: 50 } }, signal })),
    }),
}

/** What was not given is not sent. */
function defined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
