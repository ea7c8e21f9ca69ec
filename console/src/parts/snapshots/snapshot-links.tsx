/** The snapshot links that work, and the way to end one. */
import { useQuery } from '@tanstack/react-query'
import { snapshotQueries } from '../../api/queries/snapshots.ts'
import { useWrite } from '../../api/write.ts'
import { dayWithYear } from '../../app/format.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Problem } from '../../ui/problem.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'

export function SnapshotLinks({ onClose }: { readonly onClose: () => void }) {
  const links = useQuery(snapshotQueries.links())
  const revoke = useWrite('delete', '/api/v1/snapshots/{id}')
  const say = words.snapshots
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={say.links}
      description={say.linksText}
      actions={
        <Button size="large" onClick={onClose}>
          {say.done}
        </Button>
      }
    >
      {links.error !== null && (
        <Problem error={links.error} retry={() => void links.refetch()} className="px-0" />
      )}
      {links.isPending && <LoadingRows rows={2} />}
      {links.data?.data.length === 0 && <p className="text-ink-2">{say.none}</p>}
      <ul>
        {links.data?.data.map(({ id, title, page, created_by: maker, expires_at: end }) => (
          <li key={id} className="flex items-center gap-3 border-t border-line py-2.5 first:border-t-0">
            <span className="min-w-0 flex-1">
              <span className="block truncate font-medium">{title}</span>
              <span className="block truncate text-12 text-ink-3">
                {say.linkNote(words.places[page], maker, dayWithYear(end))}
              </span>
            </span>
            <Button
              look="danger"
              size="small"
              aria-label={say.revokeOf(title)}
              onClick={() => revoke.now({ params: { path: { id } } }, () => toast(say.revoked(title)))}
            >
              {say.revoke}
            </Button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
