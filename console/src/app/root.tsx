/** What is there on every page, also before the sign-in. */
import { Outlet, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { remembered } from './stored.ts'

/** Brings back the scope of the last visit. */
export function Root() {
  const router = useRouter()
  useEffect(() => {
    const project = remembered('project')
    if (project !== null && !('project' in router.state.location.search))
      void router.navigate({
        to: '.',
        search: (before: Record<string, unknown>) => ({ ...before, project }),
        replace: true,
      } as never)
  }, [router])
  return <Outlet />
}
