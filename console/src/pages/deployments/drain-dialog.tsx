/** Draining says what will happen, and asks why. */
import { useRef, useState } from 'react'
import type { Deployment } from '../../api/queries/deployments.ts'
import { useWrite } from '../../api/write.ts'
import { FactList } from '../../ui/dialog.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { FieldError } from '../../ui/sending.ts'
import { words } from '../../words/words.ts'
import { nameOf } from './state.tsx'

interface DrainDialogProps {
  readonly one: Deployment
  readonly siblings: readonly Deployment[]
  readonly onClose: () => void
}

export function DrainDialog({ one, siblings, onClose }: DrainDialogProps) {
  const { drainDialog } = words.deployments
  const [reason, setReason] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const { send } = useWrite('post', '/api/v1/deployments/{id}/drain')
  const willDrain = one.drained === null
  const others = siblings
    .filter(({ drained, state }) => drained === null && state !== 'quarantined')
    .map(nameOf)
  const drain = async (): Promise<void> => {
    if (reason.trim() === '') throw new FieldError('reason', drainDialog.reasonMissing)
    const body = { drained: willDrain, reason: reason.trim() }
    await send({ params: { path: { id: one.id } }, body })
  }
  return (
    <FormSheet
      shape="dialog"
      title={willDrain ? drainDialog.title(nameOf(one)) : drainDialog.backTitle(nameOf(one))}
      initialFocus={input}
      go={willDrain ? words.deployments.drain : words.deployments.takeBack}
      onSubmit={drain}
      onClose={onClose}
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
      <Field name="reason" label={drainDialog.reason} hint={drainDialog.reasonHint}>
        <TextInput value={reason} onChange={setReason} maxLength={500} ref={input} />
      </Field>
    </FormSheet>
  )
}
