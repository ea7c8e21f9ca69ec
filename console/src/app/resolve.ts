/** Finds what an id or a name stands for: `GET /resolve`. */
import { api, type Schema } from '../api/client.ts'
import type { Address } from '../ui/link.tsx'
import { paths } from './paths.ts'

export type Hit = Schema<'Hit'>
export type HitType = Hit['type']

export const resolveQuery = (q: string) =>
  api.queryOptions(
    'get',
    '/api/v1/resolve',
    { params: { query: { q } } },
    {
      enabled: q !== '',
      staleTime: 10_000,
      retry: false,
      select: ({ data }) => data,
    },
  )

const PATH_OF: Record<HitType, (id: string) => Address> = {
  request: (id) => paths.request(id),
  batch: (id) => paths.batch(id),
  call: (id) => paths.request(id),
  key: (id) => paths.key(id),
  project: (id) => paths.settings('projects', { project: id }),
  model: (id) => paths.model(id),
  deployment: (id) => paths.deployment(id),
  upstream: () => paths.upstreams(),
  asset: (id) => paths.request(id),
  space: (id) => paths.model(id, { tab: 'space' }),
  node: () => paths.settings('nodes'),
  member: () => paths.settings('members'),
  audit: (id) => paths.audit({ open: id }),
}

export function pathOfHit({ type, id }: Hit): Address {
  return PATH_OF[type](id)
}
