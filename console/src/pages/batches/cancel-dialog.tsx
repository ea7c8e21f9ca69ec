/** Cancelling can't be taken back: it says what stays, and what is never run. */
import { useCancelBatch, type Batch } from '../../api/queries/batches.ts'
import { moneyInList, whole } from '../../app/format.ts'
import { Button } from '../../ui/button.tsx'
import { AlertDialog, FactList } from '../../ui/dialog.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { doneOf } from './progress.ts'

interface CancelDialogProps {
  readonly batch: Batch
  readonly onClose: () => void
}

export function CancelDialog({ batch, onClose }: CancelDialogProps) {
  const cancel = useCancelBatch()
  const say = words.batches.cancel
  const done = doneOf(batch)
  const left = batch.lines.total - done
  const go = (): void =>
    cancel.mutate(batch.id, {
      onSuccess: ({ lines }) => {
        toast(say.toast(lines.total - lines.completed - lines.failed))
        onClose()
      },
    })
  return (
    <AlertDialog
      open
      onClose={onClose}
      title={say.title}
      description={say.text}
      actions={
        <>
          <Button size="large" onClick={onClose}>
            {say.keep}
          </Button>
          <Button look="danger" size="large" busy={cancel.isPending} onClick={go}>
            {say.go}
          </Button>
        </>
      }
    >
      <FactList
        facts={[
          [say.done, say.doneText(whole(done))],
          [say.left, say.leftText(whole(left))],
          [say.cost, moneyInList(batch.cost_usd)],
        ]}
      />
      <FormProblem>{cancel.error?.message}</FormProblem>
    </AlertDialog>
  )
}
