/** What it means to accept the vectors of a deployment as the space of its model, before anybody does. */
import { useAcceptSpace } from '../../api/queries/spaces.ts'
import type { Deployment } from '../../api/queries/deployments.ts'
import { useSession } from '../../app/session.ts'
import { toast } from '../../ui/toast.tsx'
import { TypedNameDialog } from '../../ui/typed-name-dialog.tsx'
import { words } from '../../words/words.ts'
import { nameOf } from './state.tsx'

interface AcceptDialogProps {
  readonly one: Deployment
  readonly siblings: readonly Deployment[]
  readonly onClose: () => void
}

export function AcceptDialog({ one, siblings, onClose }: AcceptDialogProps) {
  const accept = useAcceptSpace()
  const { member } = useSession()
  const say = words.deployments.acceptDialog
  const others = siblings
    .filter(({ space }) => space?.state === 'trusted' || space?.state === 'warned')
    .map(nameOf)
  const go = (): void =>
    accept.mutate(
      { model: one.model, deployment: one.id },
      {
        onSuccess: () => {
          toast(say.done(one.model))
          onClose()
        },
      },
    )
  return (
    <TypedNameDialog
      title={say.title(nameOf(one), one.model)}
      description={say.text(nameOf(one))}
      note={member === null ? undefined : say.audit(member.name)}
      facts={[
        [say.id, say.idText(one.space_id ?? '–')],
        [say.pins, say.pinsText],
        ...(others.length === 0 ? [] : ([[say.others(others.join(', ')), say.othersText]] as const)),
        [say.cache, say.cacheText],
        [say.index, say.indexText],
      ]}
      name={one.model}
      ask={say.type(one.model)}
      go={say.go}
      busy={accept.isPending}
      problem={accept.error?.message}
      onGo={go}
      onClose={onClose}
    />
  )
}
