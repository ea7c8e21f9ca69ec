/** Finds what an id or a name stands for: `GET /resolve`. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { FaultError } from '../api/faults.ts'
import { BASE } from './base.ts'
import { paths } from './paths.ts'
import { stringifySearch } from './search.ts'

export type HitType =
  | 'request'
  | 'call'
  | 'key'
  | 'project'
  | 'model'
  | 'deployment'
  | 'asset'
  | 'space'
  | 'node'
  | 'member'
  | 'audit'

export interface Hit {
  readonly type: HitType
  readonly id: string
  readonly title: string
  readonly note: string
  readonly state: string | null
}

export const resolveQuery = (q: string) =>
  queryOptions({
    queryKey: ['resolve', q],
    enabled: q !== '',
    staleTime: 10_000,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<readonly Hit[]> => {
      const response = await fetch(`${BASE}api/v1/resolve${stringifySearch({ q })}`, { signal })
      const body: unknown = await response.json().catch(() => undefined)
      if (!response.ok) throw new FaultError(response, body)
      return (body as { data: Hit[] }).data
    },
  })

const PATH_OF: Record<HitType, (id: string) => string> = {
  request: (id) => paths.request(id),
  call: (id) => paths.request(id),
  key: (id) => paths.key(id),
  project: (id) => paths.settings('projects', { project: id }),
  model: (id) => paths.model(id),
  deployment: (id) => paths.deployment(id),
  asset: (id) => paths.request(id),
  space: (id) => paths.model(id, { tab: 'space' }),
  node: () => paths.settings('nodes'),
  member: () => paths.settings('members'),
  audit: (id) => paths.audit({ open: id }),
}

export function pathOfHit({ type, id }: Hit): string {
  return PATH_OF[type](id)
}
