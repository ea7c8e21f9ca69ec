/** What is there on every page, also before the sign-in. */
import { Outlet, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { remember, remembered } from './stored.ts'

/** Keeps the scope for the next visit, and brings it back. */
export function Root() {
  const router = useRouter()
  useEffect(() => {
    const project = remembered('project')
    const here = router.state.location
    if (project !== null && !('project' in here.search))
      void router.navigate({
        to: '.',
        search: (before: Record<string, unknown>) => ({ ...before, project }),
        replace: true,
      } as never)
    return router.subscribe('onResolved', ({ toLocation }) => {
      const { project: chosen } = toLocation.search as { project?: string }
      remember('project', chosen ?? null)
    })
  }, [router])
  return <Outlet />
}
