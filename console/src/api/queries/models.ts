/** Models: the list, and one with its options. */
import { keepPreviousData } from '@tanstack/react-query'
import { api, type Schema } from '../client.ts'

export type ModelEnding = Schema<'ModelEnding'>

const MINUTE_MS = 60_000
/** Figures of the hour: once a minute is enough. */
const EACH_MINUTE = { staleTime: MINUTE_MS / 2, refetchInterval: MINUTE_MS }

/** End dates change once a day. */
const EVERY_TEN_MINUTES = { staleTime: 5 * MINUTE_MS, refetchInterval: 10 * MINUTE_MS }
/** Every date that is known: ten years. */
const MAX_DAYS = 3650

export const modelQueries = {
  endings: () =>
    api.queryOptions(
      'get',
      '/api/v1/model-endings',
      { params: { query: { days: MAX_DAYS } } },
      EVERY_TEN_MINUTES,
    ),
  all: (project: string | undefined) =>
    api.queryOptions(
      'get',
      '/api/v1/models',
      { params: { query: project === undefined ? {} : { project } } },
      { ...EACH_MINUTE, placeholderData: keepPreviousData },
    ),
  one: (id: string) =>
    api.queryOptions('get', '/api/v1/models/{id}', { params: { path: { id } } }, EACH_MINUTE),
}
