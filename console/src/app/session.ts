/** Who is signed in, and what that person may do. The server decides; the console only asks. */
import {
  queryOptions,
  useQuery,
  useQueryClient,
  useSuspenseQuery,
  type UseQueryResult,
} from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { answerOf, client, type Schema } from '../api/client.ts'
import { isSignedOut } from '../api/faults.ts'

export type Session = Schema<'Session'>
/** Every permission that the contract knows: a wrong one does not compile. */
export type Permission = Session['permissions'][number]

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
  retry: false,
  queryFn: ({ signal }) => answerOf(client.GET('/api/v1/session', { signal })),
})

/** Only below the shell, which waits for it. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data
}

/** Before anybody is known to be signed in. */
export function useSessionState(): UseQueryResult<Session> {
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
export function useSignOut(): (where: 'here' | 'everywhere') => Promise<void> {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return async (where) => {
    try {
      await answerOf(client.DELETE(where === 'here' ? '/api/v1/session' : '/api/v1/session/all'))
    } catch (error) {
      // It ended already.
      if (!isSignedOut(error)) throw error
    }
    queries.clear()
    await navigate({ to: '/sign-in' })
  }
}
