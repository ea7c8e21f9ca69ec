/** What it means to accept the vectors of a deployment as the space of its model, before anybody does. */
import { useState } from 'react'
import { useAcceptSpace } from '../../api/queries/spaces.ts'
import type { Deployment } from '../../api/queries/deployments.ts'
import { useSession } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { AlertDialog, FactList } from '../../ui/dialog.tsx'
import { Field, Form, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { nameOf } from './state.tsx'

interface AcceptDialogProps {
  readonly one: Deployment
  readonly siblings: readonly Deployment[]
  readonly onClose: () => void
}

const FORM = 'accept-space'

export function AcceptDialog({ one, siblings, onClose }: AcceptDialogProps) {
  const [typed, setTyped] = useState('')
  const accept = useAcceptSpace()
  const { member } = useSession()
  const say = words.deployments.acceptDialog
  const others = siblings
    .filter(({ space }) => space?.state === 'trusted' || space?.state === 'warned')
    .map(nameOf)
  const isTyped = typed === one.model
  const submit = (): void => {
    if (!isTyped) return
    accept.mutate(
      { model: one.model, deployment: one.id },
      {
        onSuccess: () => {
          toast(say.done(one.model))
          onClose()
        },
      },
    )
  }
  return (
    <AlertDialog
      open
      onClose={onClose}
      title={say.title(nameOf(one), one.model)}
      description={say.text(nameOf(one))}
      {...(member !== null && { note: say.audit(member.name) })}
      actions={
        <>
          <Button size="large" onClick={onClose}>
            {words.ui.cancel}
          </Button>
          <Button
            look="danger"
            size="large"
            type="submit"
            form={FORM}
            busy={accept.isPending}
            why={isTyped ? undefined : say.typeFirst(one.model)}
          >
            {say.go}
          </Button>
        </>
      }
    >
      <FactList
        facts={[
          [say.id, say.idText(one.space_id ?? '–')],
          [say.pins, say.pinsText],
          ...(others.length === 0 ? [] : ([[say.others(others.join(', ')), say.othersText]] as const)),
          [say.cache, say.cacheText],
          [say.index, say.indexText],
        ]}
      />
      <Form id={FORM} onSubmit={submit}>
        <Field name="typed" label={say.type(one.model)}>
          <TextInput autoComplete="off" spellCheck={false} value={typed} onChange={setTyped} />
        </Field>
        <FormProblem>{accept.error?.message}</FormProblem>
      </Form>
    </AlertDialog>
  )
}
