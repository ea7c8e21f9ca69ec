/** Deployments, their history, and what can be done with them. */
import { queryOptions, useMutation, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { answerOf, client, type Schema } from '../client.ts'

export type Deployment = Schema<'Deployment'>
export type DeploymentHistory = Schema<'DeploymentHistory'>
type DeploymentList = Schema<'DeploymentList'>

const SECOND_MS = 1000
const MINUTE_MS = 60_000

export const deploymentQueries = {
  /** The stream brings what changes; asked again for what it does not, such as the cells. */
  all: () =>
    queryOptions({
      queryKey: ['deployments'],
      staleTime: 10 * SECOND_MS,
      refetchInterval: 30 * SECOND_MS,
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/deployments', { signal })),
    }),
  history: (id: string, span: { readonly since: string; readonly until?: string }) =>
    queryOptions({
      queryKey: ['deployments', id, 'history', span],
      staleTime: 20 * SECOND_MS,
      refetchInterval: MINUTE_MS,
      queryFn: ({ signal }) =>
        answerOf(
          client.GET('/api/v1/deployments/{id}/history', {
            params: { path: { id }, query: span },
            signal,
          }),
        ),
    }),
  credentials: () =>
    queryOptions({
      queryKey: ['credentials'],
      staleTime: MINUTE_MS,
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/credentials', { signal })),
    }),
}

/** A row that the stream or a drain brought, over the one before: the answer to a drain has no history. */
export function putDeployment(queries: QueryClient, one: Omit<Deployment, 'cells'>): void {
  queries.setQueryData<DeploymentList>(['deployments'], (before) =>
    before === undefined
      ? before
      : { ...before, data: before.data.map((row) => (row.id === one.id ? { ...row, ...one } : row)) },
  )
}

export function useDrain() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, drained, reason }: { id: string; drained: boolean; reason: string }) =>
      answerOf(
        client.POST('/api/v1/deployments/{id}/drain', {
          params: { path: { id } },
          body: { drained, reason },
        }),
      ),
    onSuccess: (one) => putDeployment(queries, one),
  })
}

export function useTestDeployment() {
  return useMutation({
    mutationFn: ({ id, maxUsd }: { id: string; maxUsd: string | null }) =>
      answerOf(
        client.POST('/api/v1/deployments/{id}/test', { params: { path: { id } }, body: { max_usd: maxUsd } }),
      ),
  })
}

/** Looks at all deployments of a model now. */
export function useCompare() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (model: string) =>
      answerOf(client.POST('/api/v1/spaces/{model}/probe', { params: { path: { model } } })),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['deployments'] }),
        queries.invalidateQueries({ queryKey: ['spaces'] }),
      ]),
  })
}

export function usePutCredential() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ upstream, secret }: { upstream: string; secret: string | null }) =>
      answerOf(
        client.PUT('/api/v1/credentials/{upstream}', { params: { path: { upstream } }, body: { secret } }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['credentials'] }),
  })
}
