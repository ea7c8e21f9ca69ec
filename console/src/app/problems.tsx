/** Pages that are not there, not allowed, or broke. */
import { RotateCw } from 'lucide-react'
import { words } from '../words/words.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
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
