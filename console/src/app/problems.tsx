/** Pages that are not there, not allowed, or broke. */
import { RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { isNotFound } from '../api/faults.ts'
import { words } from '../words/words.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { LoadingRows } from '../ui/loading.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { paths } from './paths.ts'

export function NotFound() {
  return (
    <Page title={words.shell.notFound}>
      <Empty
        title={words.shell.notFound}
        actions={<ButtonLink to={paths.overview()}>{words.shell.notFoundNext}</ButtonLink>}
      />
    </Page>
  )
}

/** An error that no part of the page caught. The navigation stays. */
export function PageBroke({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  return (
    <Page title={words.shell.broken}>
      <Problem error={error} />
      <div className="px-6">
        <Button icon={<RotateCw size={14} aria-hidden />} onClick={reset}>
          {words.shell.reload}
        </Button>
      </div>
    </Page>
  )
}

interface MissingProps {
  readonly query: { readonly error: unknown; readonly refetch: () => unknown }
  /** What shows where there is no such thing. */
  readonly gone: ReactNode
}

/** In the place of one thing that is loading, is not there, or could not be read. */
export function Missing({ query, gone }: MissingProps) {
  if (query.error === null) return <LoadingRows rows={10} />
  return isNotFound(query.error) ? gone : <Problem error={query.error} retry={() => void query.refetch()} />
}
