/** Who is signed in, and what that person may do. The server decides; the console only asks. */
import {
  queryOptions,
  useQuery,
  useQueryClient,
  useSuspenseQuery,
  type UseQueryResult,
} from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { BASE } from './base.ts'
import { FaultError } from '../api/faults.ts'

export type Role = 'developer' | 'operator' | 'admin'

export interface Session {
  /** null: a token, not a person. */
  readonly member: { readonly id: string; readonly name: string; readonly email: string } | null
  readonly role: Role
  /** null: all. */
  readonly projects: readonly string[] | null
  readonly permissions: readonly string[]
  /** Plain http. */
  readonly insecure: boolean
  readonly expires_at: string | null
  readonly install: {
    readonly name: string | null
    readonly version: string
    readonly gateway_url: string
    readonly first_run: boolean
    readonly only_demo: boolean
    readonly sign_on: string | null
    readonly now: string
  }
}

const TOKEN_SESSION: Session = {
  member: null,
  role: 'admin',
  projects: null,
  permissions: ['*'],
  insecure: false,
  expires_at: null,
  install: {
    name: null,
    version: '',
    gateway_url: '',
    first_run: false,
    only_demo: false,
    sign_on: null,
    now: new Date().toISOString(),
  },
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
  retry: false,
  queryFn: async ({ signal }): Promise<Session> => {
    const response = await fetch(`${BASE}api/v1/session`, { signal })
    const body: unknown = await response.json().catch(() => undefined)
    // A node without people has no such route: whoever has its token may do everything.
    if (response.status === 404) return TOKEN_SESSION
    if (!response.ok) throw new FaultError(response, body)
    return body as Session
  },
})

/** Only below the shell, which waits for it. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data
}

export type May = (permission: string, project?: string) => boolean

/** `may('keys.create', 'search')`. No page names a role. */
export function useMay(): May {
  const session = useSession()
  return (permission, project) => mayIn(session, permission, project)
}

export function mayIn(
  session: Pick<Session, 'permissions' | 'projects'>,
  permission: string,
  project?: string,
): boolean {
  if (!session.permissions.includes(permission) && !session.permissions.includes('*')) return false
  return project === undefined || session.projects === null || session.projects.includes(project)
}

/** Before anybody is known to be signed in. */
export function useSessionState(): UseQueryResult<Session> {
  return useQuery(sessionQuery)
}

/** Here, or every session of this member. Whatever was fetched is forgotten. */
export function useSignOut(): (where: 'here' | 'everywhere') => Promise<void> {
  const client = useQueryClient()
  const navigate = useNavigate()
  return async (where) => {
    const response = await fetch(`${BASE}api/v1/session${where === 'everywhere' ? '/all' : ''}`, {
      method: 'DELETE',
    })
    if (!response.ok && response.status !== 401)
      throw new FaultError(response, await response.json().catch(() => undefined))
    client.clear()
    await navigate({ to: '/sign-in' } as never)
  }
}
