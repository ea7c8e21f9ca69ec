/** The way to the requests of this deployment. They stand in one place, with all their filters. */
import { List } from 'lucide-react'
import { paths } from '../../app/paths.ts'
import type { Deployment } from '../../api/queries/deployments.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { words } from '../../words/words.ts'

export function RequestsTab({ one }: { readonly one: Deployment }) {
  const { requests } = words.deployments
  return (
    <div className="flex flex-col items-start gap-3">
      <p className="text-ink-2">{requests.text}</p>
      <div className="flex gap-2">
        <ButtonLink to={paths.requests({ deployment: one.id })} icon={<List size={15} aria-hidden />}>
          {requests.open}
        </ButtonLink>
        <ButtonLink to={paths.requests({ deployment: one.id, outcome: 'failed' })}>
          {requests.failed}
        </ButtonLink>
      </div>
    </div>
  )
}
