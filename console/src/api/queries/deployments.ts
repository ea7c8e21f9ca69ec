/** Deployments and their history. */
import type { QueryClient } from '@tanstack/react-query'
import { api, type Schema } from '../client.ts'

export type Deployment = Schema<'Deployment'>
export type DeploymentHistory = Schema<'DeploymentHistory'>
type DeploymentList = Schema<'DeploymentList'>

const SECOND_MS = 1000
const MINUTE_MS = 60_000

export const deploymentQueries = {
  /** The stream brings what changes; asked again for what it does not, such as the cells. */
  all: () =>
    api.queryOptions(
      'get',
      '/api/v1/deployments',
      {},
      { staleTime: 10 * SECOND_MS, refetchInterval: 30 * SECOND_MS },
    ),
  history: (id: string, span: { readonly since: string; readonly until?: string }) =>
    api.queryOptions(
      'get',
      '/api/v1/deployments/{id}/history',
      { params: { path: { id }, query: span } },
      { staleTime: 20 * SECOND_MS, refetchInterval: MINUTE_MS },
    ),
  credentials: () => api.queryOptions('get', '/api/v1/credentials'),
}

/** A row that the stream or a drain brought, over the one before: the answer to a drain has no history. */
export function putDeployment(queries: QueryClient, one: Omit<Deployment, 'cells'>): void {
  queries.setQueryData<DeploymentList>(deploymentQueries.all().queryKey, (before) =>
    before === undefined
      ? before
      : { ...before, data: before.data.map((row) => (row.id === one.id ? { ...row, ...one } : row)) },
  )
}
