/** Who is signed in, and what that person may do. The server decides; the console only asks. */
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, type Schema } from '../api/client.ts'
import { useWrite } from '../api/write.ts'

export type Session = Schema<'Session'>
/** Every permission that the contract knows: a wrong one does not compile. */
export type Permission = Session['permissions'][number]

export const sessionQuery = api.queryOptions(
  'get',
  '/api/v1/session',
  {},
  { staleTime: Number.POSITIVE_INFINITY, gcTime: Number.POSITIVE_INFINITY, retry: false },
)

/** Only below the shell, which waits for it. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data
}

/** Before it is known who is signed in. */
export function useSessionState() {
  return useQuery(sessionQuery)
}

export type May = (permission: Permission, project?: string) => boolean

/** `may('keys.create', 'search')`. No page names a role. */
export function useMay(): May {
  const session = useSession()
  return (permission, project) => mayIn(session, permission, project)
}

function mayIn(
  { permissions, projects }: Pick<Session, 'permissions' | 'projects'>,
  permission: Permission,
  project?: string,
): boolean {
  if (!permissions.includes(permission)) return false
  return project === undefined || projects === null || projects.includes(project)
}

/** Here, or every session of this member. Whatever was fetched is forgotten. */
export function useSignOut(): (where: 'here' | 'everywhere') => void {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const here = useWrite('delete', '/api/v1/session')
  const everywhere = useWrite('delete', '/api/v1/session/all')
  const forget = (): void => {
    queries.clear()
    void navigate({ to: '/sign-in' })
  }
  return (where) => (where === 'here' ? here : everywhere).now({}, forget)
}
