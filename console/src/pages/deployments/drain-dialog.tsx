/** Draining says what will happen, and asks why. */
import { useRef, useState } from 'react'
import { useDrain, type Deployment } from '../../api/queries/deployments.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, FactList } from '../../ui/dialog.tsx'
import { Field, Form, TextInput } from '../../ui/field.tsx'
import { words } from '../../words/words.ts'
import { nameOf } from './state.tsx'

interface DrainDialogProps {
  readonly one: Deployment
  readonly siblings: readonly Deployment[]
  readonly open: boolean
  readonly onClose: () => void
}

export function DrainDialog({ one, siblings, open, onClose }: DrainDialogProps) {
  const { drainDialog } = words.deployments
  const [reason, setReason] = useState('')
  const [isAsked, setAsked] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const drain = useDrain()
  const willDrain = one.drained === null
  const others = siblings
    .filter(({ drained, state }) => drained === null && state !== 'quarantined')
    .map(nameOf)
  const close = (): void => {
    setReason('')
    setAsked(false)
    drain.reset()
    onClose()
  }
  const submit = (): void => {
    setAsked(true)
    if (reason.trim() === '') return
    drain.mutate({ id: one.id, drained: willDrain, reason: reason.trim() }, { onSuccess: close })
  }
  const problem = isAsked && reason.trim() === '' ? { reason: drainDialog.reasonMissing } : undefined
  return (
    <Dialog
      open={open}
      onClose={close}
      initialFocus={input}
      title={willDrain ? drainDialog.title(nameOf(one)) : drainDialog.backTitle(nameOf(one))}
      actions={
        <>
          <Button onClick={close}>{words.ui.cancel}</Button>
          <Button look="primary" busy={drain.isPending} onClick={submit}>
            {willDrain ? words.deployments.drain : words.deployments.takeBack}
          </Button>
        </>
      }
      note={drain.error === null ? undefined : <span className="text-bad">{drain.error.message}</span>}
    >
      {willDrain && (
        <FactList
          facts={[
            [drainDialog.calls, drainDialog.callsFinish(one.in_flight)],
            [drainDialog.nodes, drainDialog.within],
            [drainDialog.takesOver, others.length === 0 ? drainDialog.nobody : others.join(', ')],
          ]}
        />
      )}
      <Form onSubmit={submit} {...(problem && { errors: problem })}>
        <Field name="reason" label={drainDialog.reason} hint={drainDialog.reasonHint}>
          <TextInput value={reason} onChange={setReason} maxLength={500} ref={input} />
        </Field>
      </Form>
    </Dialog>
  )
}
