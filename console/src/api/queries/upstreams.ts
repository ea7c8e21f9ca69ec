/** Upstreams: what can be connected, what a check finds, and adding its models. */
import { queryOptions } from '@tanstack/react-query'
import { answerOf, client, type Schema } from '../client.ts'

/** They change with the version of the node. */
const HOUR_MS = 3_600_000

export type Question = Schema<'UpstreamQuestionInput'>
export type NewUpstream = Schema<'NewUpstreamInput'>
export type NewModels = Schema<'NewModelsInput'>

export const upstreamQueries = {
  providers: () =>
    queryOptions({
      queryKey: ['providers'],
      staleTime: HOUR_MS,
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/providers', { signal })),
    }),
  all: () =>
    queryOptions({
      queryKey: ['upstreams'],
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/upstreams', { signal })),
    }),
}

/** Nothing is kept: neither here nor by the node. */
export function checkUpstream(body: Question) {
  return answerOf(client.POST('/api/v1/upstreams/check', { body }))
}

export function createUpstream(body: NewUpstream) {
  return answerOf(client.POST('/api/v1/upstreams', { body }))
}

export function addModels(body: NewModels) {
  return answerOf(client.POST('/api/v1/models', { body }))
}

export function setPrice(deployment: string, body: Schema<'GivenPriceInput'>) {
  return answerOf(client.PUT('/api/v1/prices/{deployment}', { params: { path: { deployment } }, body }))
}

export function deleteModel(id: string) {
  return answerOf(client.DELETE('/api/v1/models/{id}', { params: { path: { id } } }))
}
