/** What is there on every page, also before the sign-in. */
import { Outlet } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'
import { useChangeSearch } from './change-search.ts'
import type { Scope } from './place.ts'
import { useScope } from './scope.tsx'
import { remembered } from './stored.ts'

/** Brings back the scope of the last visit. */
export function Root() {
  const change = useChangeSearch<Scope>()
  const scope = useScope()
  const restore = useEffectEvent(() => {
    const project = remembered('project')
    if (project !== null && scope === undefined) change({ project }, { replace: true })
  })
  // Once: a scope that is left later is not brought back.
  useEffect(() => restore(), [])
  return <Outlet />
}
