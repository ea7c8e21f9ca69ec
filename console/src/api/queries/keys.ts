/** Keys, projects and the audit. */
import { api } from '../client.ts'
import { after, given, pagesOf } from '../pages.ts'

/** Rows of a page: as many as a person scrolls through before the next page arrives. */
const PAGE = 200
const MAX_PROJECTS = 1000
const MAX_KEYS = 1000

export interface KeyListFilter {
  readonly project?: string | undefined
  readonly q?: string | undefined
  readonly state?: 'active' | 'ending' | 'tidy' | 'revoked' | undefined
  /** By id, the last used first, or the next to end first. */
  readonly sort?: 'id' | '-used' | 'ends' | undefined
}

export interface AuditListFilter {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly target?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export const keyQueries = {
  list: (filter: KeyListFilter) => pagesOf('/api/v1/keys', { ...given(filter), limit: PAGE }, after),
  /** All keys of a project, for a list to choose from. */
  ofProject: (project: string) =>
    api.queryOptions('get', '/api/v1/keys', { params: { query: { project, limit: MAX_KEYS } } }),
  one: (project: string, name: string) =>
    api.queryOptions('get', '/api/v1/keys/{project}/{name}', { params: { path: { project, name } } }),
  /** All projects that the caller may see. */
  projects: () => api.queryOptions('get', '/api/v1/projects', { params: { query: { limit: MAX_PROJECTS } } }),
  /** Ids of all models, for a list to choose from. */
  models: () =>
    api.queryOptions('get', '/api/v1/models', {}, { select: ({ data }) => data.map(({ id }) => id) }),
  audit: (filter: AuditListFilter) =>
    pagesOf('/api/v1/audit', { ...given(filter), limit: PAGE }, ({ has_more: hasMore, data }) => {
      const before = data.at(-1)?.sequence
      return hasMore && before !== undefined ? { before } : undefined
    }),
  webhookEvents: () =>
    api.queryOptions('get', '/api/v1/webhook-events', { params: { query: { limit: 50 } } }),
}
