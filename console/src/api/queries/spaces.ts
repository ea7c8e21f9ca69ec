/** Vector spaces. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf, client, type Schema } from '../client.ts'

export type SpaceProbe = Schema<'SpaceProbe'>
export type SpaceSlot = Schema<'SpaceSlot'>

const MINUTE_MS = 60_000
/** A day of one deployment that is looked at every minute, and a few that are looked at four times an hour. */
const MOST_SLOTS = 3000

export const spaceQueries = {
  all: () =>
    queryOptions({
      queryKey: ['spaces'],
      staleTime: MINUTE_MS / 2,
      refetchInterval: MINUTE_MS,
      queryFn: ({ signal }) => answerOf(client.GET('/api/v1/spaces', { signal })),
    }),
  /** The worst look of each slot. */
  slots: (model: string, since: string, slotSeconds: number) =>
    queryOptions({
      queryKey: ['spaces', model, 'slots', since, slotSeconds],
      staleTime: MINUTE_MS / 2,
      refetchInterval: MINUTE_MS,
      queryFn: ({ signal }) =>
        answerOf(
          client.GET('/api/v1/spaces/{model}/slots', {
            params: { path: { model }, query: { since, slot_seconds: slotSeconds, limit: MOST_SLOTS } },
            signal,
          }),
        ),
    }),
  /** Every look, newest first. */
  looks: (model: string, since: string) =>
    queryOptions({
      queryKey: ['spaces', model, 'looks', since],
      staleTime: MINUTE_MS / 2,
      refetchInterval: MINUTE_MS,
      queryFn: ({ signal }) =>
        answerOf(
          client.GET('/api/v1/spaces/{model}/series', {
            params: { path: { model }, query: { since, limit: MOST_SLOTS } },
            signal,
          }),
        ),
    }),
}

/** The present vectors of a deployment become the space of its model. */
export function useAcceptSpace() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ model, deployment }: { readonly model: string; readonly deployment: string }) =>
      answerOf(
        client.POST('/api/v1/spaces/{model}/accept', { params: { path: { model } }, body: { deployment } }),
      ),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['deployments'] }),
        queries.invalidateQueries({ queryKey: ['spaces'] }),
      ]),
  })
}
