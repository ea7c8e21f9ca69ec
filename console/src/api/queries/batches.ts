/** Batches: how far each is, telling one to stop, or to go on without its key. */
import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useMutation,
  useQueryClient,
  type InfiniteData,
  type QueryClient,
} from '@tanstack/react-query'
import { answerOf, apiUrl, client, type Schema } from '../client.ts'

export type Batch = Schema<'ReportedBatch'>
export type BatchDetail = Schema<'ReportedBatchDetail'>
type BatchList = Schema<'ReportedBatchList'>
export type BatchState = Batch['state']

const PAGE = 50

export const batchQueries = {
  list: (state: BatchState | 'open' | undefined, project: string | undefined) =>
    infiniteQueryOptions({
      queryKey: ['batches', 'list', state, project],
      initialPageParam: '',
      getNextPageParam: (page: BatchList) => page.next ?? undefined,
      placeholderData: keepPreviousData,
      queryFn: ({ pageParam, signal }) =>
        answerOf(
          client.GET('/api/v1/batches', {
            params: {
              query: {
                limit: PAGE,
                ...(state && { state }),
                ...(project && { project }),
                ...(pageParam !== '' && { after: pageParam }),
              },
            },
            signal,
          }),
        ),
    }),
  one: (id: string) =>
    queryOptions({
      queryKey: ['batches', 'one', id],
      queryFn: ({ signal }) =>
        answerOf(client.GET('/api/v1/batches/{id}', { params: { path: { id } }, signal })),
    }),
}

/** What is on its way is not asked for anew: on a slow way, news that come each second would never let it arrive. */
const PATIENT = { cancelRefetch: false }

/** A batch as the stream told it. Lists that lack it, or chose it by a state that it left, are asked for again. */
export function putBatch(queries: QueryClient, batch: Batch): void {
  const lists = queries.getQueriesData<InfiniteData<BatchList>>({ queryKey: ['batches', 'list'] })
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
  void queries.invalidateQueries({ queryKey: ['batches', 'one', batch.id] }, PATIENT)
}

export function useCancelBatch() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      answerOf(client.POST('/api/v1/batches/{id}/cancel', { params: { path: { id } } })),
    onSuccess: (batch) => putBatch(queries, batch),
  })
}

/** Its key was revoked or has expired: it goes on under the terms of its project. */
export function useContinueBatch() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      answerOf(client.POST('/api/v1/batches/{id}/continue', { params: { path: { id } } })),
    onSuccess: (batch) => putBatch(queries, batch),
  })
}

export function batchFileUrl(id: string, half: 'output' | 'errors'): string {
  return apiUrl(`/api/v1/batches/${encodeURIComponent(id)}/${half}`)
}
