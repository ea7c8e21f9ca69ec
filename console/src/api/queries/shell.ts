/** What the frame around all pages shows. */
import { api } from '../client.ts'
import { alertQueries } from './alerts.ts'
import { keyQueries } from './keys.ts'

const MINUTE_MS = 60_000

export const shellQueries = {
  alerts: alertQueries.summary,
  projects: keyQueries.projects,
  nodes: () => api.queryOptions('get', '/api/v1/nodes', {}, { refetchInterval: MINUTE_MS }),
  openUnknowns: () => api.queryOptions('get', '/api/v1/unknowns', {}, { refetchInterval: MINUTE_MS }),
}
