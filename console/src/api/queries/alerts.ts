/** Incidents, the rules that start them, and the channels that are notified. */
import { keepPreviousData } from '@tanstack/react-query'
import { api, type Schema } from '../client.ts'
import { after, given, pagesOf } from '../pages.ts'

export type AlertKind = Schema<'AlertKind'>
export type Incident = Schema<'AlertIncident'>
export type IncidentDetail = Schema<'AlertIncidentDetail'>
export type Rule = Schema<'AlertRule'>
export type Channel = Schema<'AlertChannel'>
export type Summary = Schema<'AlertSummary'>
export type ChannelKind = Channel['kind']

const PAGE = 50
const MINUTE_MS = 60_000
/** The stream brings incidents; a delivery that is tried again is not one. */
const EVERY_TEN_SECONDS = { refetchInterval: 10_000 }
/** Texts of notices change with the version of the node. */
const HOUR_MS = 3_600_000

export const alertQueries = {
  summary: (project: string | undefined) =>
    api.queryOptions(
      'get',
      '/api/v1/alerts/summary',
      { params: { query: given({ project }) } },
      { refetchInterval: MINUTE_MS, placeholderData: keepPreviousData },
    ),
  incidents: (state: 'open' | 'resolved' | undefined, project: string | undefined) =>
    pagesOf('/api/v1/alerts/incidents', { ...given({ state, project }), limit: PAGE }, after, {
      keepsPrevious: true,
    }),
  incident: (id: string) =>
    api.queryOptions('get', '/api/v1/alerts/incidents/{id}', { params: { path: { id } } }, EVERY_TEN_SECONDS),
  rules: () => api.queryOptions('get', '/api/v1/alerts/rules'),
  channels: () => api.queryOptions('get', '/api/v1/alerts/channels', {}, EVERY_TEN_SECONDS),
  preview: (kind: AlertKind) =>
    api.queryOptions(
      'get',
      '/api/v1/alerts/preview',
      { params: { query: { kind } } },
      { staleTime: HOUR_MS },
    ),
}
