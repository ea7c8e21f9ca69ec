/** Routing of one model, what a set of changes would do, and what was changed before. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, client, type Schema } from '../client.ts'
import { after, pagesOf } from '../pages.ts'

export type Routing = Schema<'Routing'>
export type RoutingDeployment = Routing['deployments'][number]
export type ConfigurationChange = Schema<'ConfigurationChangeInput'>
export type Preview = Schema<'ConfigurationPreview'>
export type EffectOfChange = Preview['effects'][number]
export type DiffLine = Preview['lines'][number]
export type HistoryEntry = Schema<'ConfigurationHistoryEntry'>
export type Source = Schema<'Source'>

const SECOND_MS = 1000
/** States and times of calls, and whether another admin has saved. */
const OFTEN = { staleTime: 2 * SECOND_MS, refetchInterval: 10 * SECOND_MS }
const PAGE = 20

export const routingQueries = {
  upstreams: () => api.queryOptions('get', '/api/v1/upstreams', {}, OFTEN),
  routing: (model: string) =>
    api.queryOptions('get', '/api/v1/routing/{model}', { params: { path: { model } } }, OFTEN),
  /** By POST, because a set of changes is too long for an address. Nothing is saved. */
  preview: (changes: readonly ConfigurationChange[]) =>
    queryOptions({
      queryKey: ['post', '/api/v1/configuration/preview', { body: { changes } }],
      placeholderData: keepPreviousData,
      retry: false,
      gcTime: 0,
      queryFn: async ({ signal }) => {
        const init = { body: { changes: [...changes] }, signal }
        return (await client.POST('/api/v1/configuration/preview', init)).data ?? null
      },
    }),
  /** The whole of torana.yaml as text: what is asked for is not JSON. */
  exported: () =>
    queryOptions({
      queryKey: ['get', '/api/v1/configuration/export'],
      queryFn: async ({ signal }) => {
        const { data } = await client.GET('/api/v1/configuration/export', { parseAs: 'text', signal })
        return String(data)
      },
    }),
  history: () => pagesOf('/api/v1/configuration/changes', { limit: PAGE }, after),
  reverse: (id: string) =>
    api.queryOptions('get', '/api/v1/configuration/changes/{id}/reverse', { params: { path: { id } } }),
}
