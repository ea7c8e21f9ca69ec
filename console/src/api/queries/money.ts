/** What is asked about money. Nothing is asked again until the window regains focus after a minute, the default of all queries. */
import { keepPreviousData } from '@tanstack/react-query'
import type { UsageGroup } from '../usage-groups.ts'
import { api, type Schema } from '../client.ts'
import { after, given, pagesOf } from '../pages.ts'

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

export const moneyQueries = {
  usage: ({ only, before, ...question }: UsageQuestion) =>
    api.queryOptions(
      'get',
      '/api/v1/usage',
      { params: { query: { ...given(question), only: [...only], before: before ? '1' : '0' } } },
      { placeholderData: keepPreviousData },
    ),
  priceChanges: (from: string, to: string) =>
    api.queryOptions('get', '/api/v1/price-changes', { params: { query: { from, to } } }),
  budgets: (scope: 'project' | 'key' | undefined, project: string | undefined) =>
    pagesOf('/api/v1/budgets', given({ scope, project }), after),
  budget: (id: string) => api.queryOptions('get', '/api/v1/budgets/{id}', { params: { path: { id } } }),
  budgetSeries: (id: string) =>
    api.queryOptions('get', '/api/v1/budgets/{id}/series', { params: { path: { id } } }),
  unknowns: (state: 'open' | 'resolved', project: string | undefined) =>
    pagesOf('/api/v1/unknowns', given({ state, project }), after),
  prices: () => api.queryOptions('get', '/api/v1/prices'),
}
