/** The scope: all projects, or the one that `?project=` names. A link may name one that the reader may not see. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { words } from '../words/words.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Address } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { useChangeSearch } from './change-search.ts'
import { rootRoute, type Scope } from './place.ts'
import { sessionQuery, useSession } from './session.ts'
import { remember, remembered } from './stored.ts'

export function useScope(): string | undefined {
  return rootRoute.useSearch({ select: ({ project }) => project })
}

/** The project of the address, if this person is not a member of it. */
export function useForeignScope(): string | undefined {
  const { projects } = useSession()
  const project = useScope()
  return project === undefined || projects === null || projects.includes(project) ? undefined : project
}

/** How the frame leads to a page: out of a scope that this person may not see. */
export function useWayTo(): (to: Address) => Address {
  const foreign = useForeignScope()
  return (to) => (foreign === undefined ? to : { ...to, search: { ...to.search, project: undefined } })
}

/** Keeps the scope for the next visit. One that the person may not see is not kept. */
export function useKeptScope(): void {
  const project = useScope()
  const foreign = useForeignScope()
  useEffect(() => {
    if (foreign === undefined) remember('project', project ?? null)
    else if (remembered('project') === foreign) remember('project', null)
  }, [project, foreign])
}

/** In the place of a page whose address names such a project. */
export function ForeignScope({ project }: { readonly project: string }) {
  const change = useChangeSearch<Scope>()
  const queries = useQueryClient()
  // The person may have become a member since the session was read.
  useEffect(() => void queries.invalidateQueries({ queryKey: sessionQuery.queryKey }), [queries])
  return (
    <Page title={words.shell.foreignScope.title}>
      <Empty
        title={words.shell.foreignScope.sentence(project)}
        actions={
          <Button look="primary" onClick={() => change({ project: undefined }, { replace: true })}>
            {words.shell.foreignScope.leave}
          </Button>
        }
      >
        {words.shell.foreignScope.next}
      </Empty>
    </Page>
  )
}
