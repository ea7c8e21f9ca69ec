/** Upstreams: what can be connected. */
import { api } from '../client.ts'

/** Providers change with the version of the node. */
const HOUR_MS = 3_600_000

export const upstreamQueries = {
  providers: () => api.queryOptions('get', '/api/v1/providers', {}, { staleTime: HOUR_MS }),
}
