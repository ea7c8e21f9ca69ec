/** Cancelling can't be taken back: it says what stays, and what is never run. */
import type { Batch } from '../../api/queries/batches.ts'
import { useWrite } from '../../api/write.ts'
import { moneyInList, whole } from '../../app/format.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { doneOf } from './progress.ts'

interface CancelDialogProps {
  readonly batch: Batch
  readonly onClose: () => void
}

export function CancelDialog({ batch, onClose }: CancelDialogProps) {
  const { send } = useWrite('post', '/api/v1/batches/{id}/cancel')
  const say = words.batches.cancel
  const done = doneOf(batch)
  return (
    <ConfirmDialog
      title={say.title}
      description={say.text}
      facts={[
        [say.done, say.doneText(whole(done))],
        [say.left, say.leftText(whole(batch.lines.total - done))],
        [say.cost, moneyInList(batch.cost_usd)],
      ]}
      go={say.go}
      onGo={async () => {
        const { lines } = await send({ params: { path: { id: batch.id } } })
        toast(say.toast(lines.total - lines.completed - lines.failed))
      }}
      onClose={onClose}
      cancel={say.keep}
    />
  )
}
