/** A question about what can't be undone. It owns the buttons, what is busy and what went wrong, and closes once it is done. */
import { useId, type ReactNode } from 'react'
import { words } from '../words/words.ts'
import { Button } from './button.tsx'
import { AlertDialog, FactList } from './dialog.tsx'
import { Form } from './field.tsx'
import { FormProblem } from './form-problem.tsx'
import { useSending } from './sending.ts'

export interface ConfirmDialogProps {
  readonly title: string
  readonly description: string
  /** What happens then, each as a fact. */
  readonly facts?: readonly (readonly [what: ReactNode, becomes: ReactNode])[]
  readonly note?: string | undefined
  readonly go: string
  /** Why it can't be done now. */
  readonly why?: string | undefined
  /** What it throws is shown above the buttons. */
  readonly onGo: () => unknown
  readonly onClose: () => void
  readonly cancel?: string
  readonly children?: ReactNode
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { facts, note, why, onGo, onClose, cancel = words.ui.cancel } = props
  const form = useId()
  const sending = useSending()
  const confirm = async (): Promise<void> => {
    await onGo()
    onClose()
  }
  return (
    <AlertDialog
      open
      onClose={onClose}
      title={props.title}
      description={props.description}
      {...(note !== undefined && { note })}
      actions={
        <>
          <Button size="large" onClick={onClose}>
            {cancel}
          </Button>
          <Button look="danger" size="large" type="submit" form={form} busy={sending.busy} why={why}>
            {props.go}
          </Button>
        </>
      }
    >
      {facts && <FactList facts={facts} />}
      <Form
        id={form}
        sending={sending}
        onSubmit={() => why === undefined && confirm()}
        className="flex flex-col gap-4 empty:hidden"
      >
        {props.children}
        <FormProblem />
      </Form>
    </AlertDialog>
  )
}
