/** Batches: how far each is. */
import { type InfiniteData, type QueryClient } from '@tanstack/react-query'
import { api, apiUrl, type Schema } from '../client.ts'
import { after, given, pagesOf } from '../pages.ts'

export type Batch = Schema<'ReportedBatch'>
export type BatchDetail = Schema<'ReportedBatchDetail'>
type BatchList = Schema<'ReportedBatchList'>
export type BatchState = Batch['state']
export const RESULT_FORMATS = ['parquet', 'npy', 'jsonl'] as const
export type ResultFormat = (typeof RESULT_FORMATS)[number]

const PAGE = 50
const OPEN_MS = 5000

export const batchQueries = {
  list: (state: BatchState | 'open' | undefined, project: string | undefined) =>
    pagesOf('/api/v1/batches', { ...given({ state, project }), limit: PAGE }, after, { keepsPrevious: true }),
  one: (id: string) =>
    api.queryOptions(
      'get',
      '/api/v1/batches/{id}',
      { params: { path: { id } } },
      // A small batch may end before the stream has looked at it for the first time.
      { refetchInterval: ({ state: { data } }) => data?.ended_at === null && OPEN_MS },
    ),
}

/** Lets a request in progress finish: on a slow connection, news that come each second would never let it arrive. */
const PATIENT = { cancelRefetch: false }

/** A batch as the stream or a write brought it. Lists that lack it, or chose it by a state that it left, are asked for again. */
export function putBatch(queries: QueryClient, batch: Batch): void {
  const lists = queries.getQueriesData<InfiniteData<BatchList>>({ queryKey: ['get', '/api/v1/batches'] })
  for (const [queryKey, list] of lists) {
    if (list === undefined) continue
    const before = list.pages.flatMap(({ data }) => data).find(({ id }) => id === batch.id)
    if (before?.state !== batch.state) void queries.invalidateQueries({ queryKey, exact: true }, PATIENT)
    queries.setQueryData<InfiniteData<BatchList>>(queryKey, {
      ...list,
      pages: list.pages.map((page) => ({
        ...page,
        data: page.data.map((one) => (one.id === batch.id ? batch : one)),
      })),
    })
  }
  void queries.invalidateQueries({ queryKey: batchQueries.one(batch.id).queryKey }, PATIENT)
}

export function batchFileUrl(id: string, half: 'output' | 'errors'): string {
  return apiUrl(`/api/v1/batches/${encodeURIComponent(id)}/${half}`)
}
