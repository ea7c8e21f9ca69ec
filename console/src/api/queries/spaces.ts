/** Vector spaces. */
import { api, type Schema } from '../client.ts'

export type SpaceProbe = Schema<'SpaceProbe'>
export type SpaceSlot = Schema<'SpaceSlot'>
export type SuspectWindow = Schema<'SuspectWindow'>

const MINUTE_MS = 60_000
const EACH_MINUTE = { staleTime: MINUTE_MS / 2, refetchInterval: MINUTE_MS }
/** Rows of a chart: a day of one deployment that is probed every minute, and a few that are probed four times an hour. */
const MAX_SLOTS = 3000

/** The newest suspect windows of all models: a page of the API. */
const MAX_WINDOWS = 200

export const spaceQueries = {
  suspects: () =>
    api.queryOptions(
      'get',
      '/api/v1/spaces/suspects',
      { params: { query: { limit: MAX_WINDOWS } } },
      EACH_MINUTE,
    ),
  all: () => api.queryOptions('get', '/api/v1/spaces', {}, EACH_MINUTE),
  /** The worst probe of each slot. */
  slots: (model: string, since: string, slotSeconds: number) =>
    api.queryOptions(
      'get',
      '/api/v1/spaces/{model}/slots',
      { params: { path: { model }, query: { since, slot_seconds: slotSeconds, limit: MAX_SLOTS } } },
      EACH_MINUTE,
    ),
  /** Every probe, newest first. */
  looks: (model: string, since: string) =>
    api.queryOptions(
      'get',
      '/api/v1/spaces/{model}/series',
      { params: { path: { model }, query: { since, limit: MAX_SLOTS } } },
      EACH_MINUTE,
    ),
}
