/** What it means to accept the vectors of a deployment as the space of its model, before anyone does. */
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../api/client.ts'
import { spaceQueries } from '../../api/queries/spaces.ts'
import type { Deployment } from '../../api/queries/deployments.ts'
import { useWrite } from '../../api/write.ts'
import { useSession } from '../../app/session.ts'
import { PinningKeys } from '../../parts/spaces/pinning-keys.tsx'
import { toast } from '../../ui/toast.tsx'
import { TypedNameDialog } from '../../ui/typed-name-dialog.tsx'
import { words } from '../../words/words.ts'
import { nameOf } from './state.tsx'

interface AcceptDialogProps {
  readonly one: Deployment
  readonly siblings: readonly Deployment[]
  readonly onClose: () => void
}

/** Until it is known who they are, what happens to them. */
function Pins({ pins }: { readonly pins: readonly Schema<'SpacePin'>[] | null | undefined }) {
  const say = words.deployments.acceptDialog
  if (!pins) return say.pinsText
  if (pins.length === 0) return say.pinsNone
  return (
    <>
      {say.pinsOf(pins.length)} <PinningKeys pins={pins} />
    </>
  )
}

export function AcceptDialog({ one, siblings, onClose }: AcceptDialogProps) {
  const { send } = useWrite('post', '/api/v1/spaces/{model}/accept', { touches: ['/api/v1/deployments'] })
  const { member } = useSession()
  const say = words.deployments.acceptDialog
  const { data } = useQuery(spaceQueries.all())
  const space = data?.data.find(({ model }) => model === one.model)
  const shared = space?.shared_with ?? []
  const others = siblings
    .filter(({ space }) => space?.state === 'trusted' || space?.state === 'warned')
    .map(nameOf)
  return (
    <TypedNameDialog
      title={say.title(nameOf(one), one.model)}
      description={say.text(nameOf(one))}
      note={member === null ? undefined : say.audit(member.name)}
      facts={[
        [say.id, say.idText(one.space_id ?? '–')],
        ...(shared.length === 0 ? [] : ([[say.shared, say.sharedText(shared.join(', '))]] as const)),
        [say.pins, <Pins key="pins" pins={space?.pinned_by} />],
        ...(others.length === 0 ? [] : ([[say.others(others.join(', ')), say.othersText]] as const)),
        [say.cache, say.cacheText],
        [say.index, say.indexText],
      ]}
      name={one.model}
      ask={say.type(one.model)}
      go={say.go}
      onGo={async () => {
        await send({ params: { path: { model: one.model } }, body: { deployment: one.id } })
        toast(say.done(one.model))
      }}
      onClose={onClose}
    />
  )
}
