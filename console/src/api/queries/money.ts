/** What is asked about money. Nothing is asked again until the window regains focus after a minute. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { UsageGroup } from '../usage-groups.ts'
import { answerOf, client, type Schema } from '../client.ts'

const MINUTE_MS = 60_000

export type Usage = Schema<'Usage'>

export interface UsageQuestion {
  readonly by: UsageGroup
  readonly from: string
  readonly to: string
  readonly only: readonly string[]
  readonly project: string | undefined
  readonly before: boolean
  readonly groups: number
}

type Given<Query> = { [Name in keyof Query]: Exclude<Query[Name], undefined> }

/** What is undefined is not asked for. */
function given<Query extends object>(query: Query): Partial<Given<Query>> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as Partial<
    Given<Query>
  >
}

export const moneyQueries = {
  usage: ({ by, from, to, only, project, before, groups }: UsageQuestion) =>
    queryOptions({
      queryKey: ['usage', by, from, to, only, project, before, groups],
      staleTime: MINUTE_MS,
      placeholderData: keepPreviousData,
      queryFn: ({ signal }) =>
        answerOf(
          client.GET('/api/v1/usage', {
            params: {
              query: given({
                by,
                from,
                to,
                only: [...only],
                project,
                before: before ? ('1' as const) : ('0' as const),
                groups,
              }),
            },
            signal,
          }),
        ),
    }),
  priceChanges: (from: string, to: string) =>
    queryOptions({
      queryKey: ['price-changes', from, to],
      staleTime: MINUTE_MS,
      queryFn: ({ signal }) =>
        answerOf(client.GET('/api/v1/price-changes', { params: { query: { from, to } }, signal })),
    }),
  budgets: (scope: 'project' | 'key' | undefined, project: string | undefined) =>
    infiniteQueryOptions({
      queryKey: ['budgets', scope, project],
      staleTime: MINUTE_MS,
      initialPageParam: undefined as string | undefined,
      getNextPageParam: (last: Schema<'BudgetList'>) => last.next ?? undefined,
      queryFn: ({ signal, pageParam: after }) =>
        answerOf(
          client.GET('/api/v1/budgets', { params: { query: given({ scope, project, after }) }, signal }),
        ),
    }),
  budget: (id: string) =>
    queryOptions({
      queryKey: ['budget', id],
      staleTime: MINUTE_MS,
      queryFn: ({ signal }) =>
        answerOf(client.GET('/api/v1/budgets/{id}', { params: { path: { id } }, signal })),
    }),
  budgetSeries: (id: string) =>
    queryOptions({
      queryKey: ['budget', id, 'series'],
      staleTime: MINUTE_MS,
      queryFn: ({ signal }) =>
        answerOf(client.GET('/api/v1/budgets/{id}/series', { params: { path: { id } }, signal })),
    }),
  unknowns: (state: 'open' | 'resolved', project: string | undefined) =>
    infiniteQueryOptions({
      queryKey: ['unknowns', state, project],
      staleTime: MINUTE_MS,
      initialPageParam: undefined as string | undefined,
      getNextPageParam: (last: Schema<'UnknownList'>) => last.next ?? undefined,
      queryFn: ({ signal, pageParam: after }) =>
        answerOf(
          client.GET('/api/v1/unknowns', { params: { query: given({ state, project, after }) }, signal }),
        ),
    }),
  prices: () =>
    queryOptions({
      queryKey: ['prices'],
      staleTime: MINUTE_MS,
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/prices', { signal })),
    }),
}
