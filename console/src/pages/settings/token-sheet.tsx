/** A new token. Its secret lives here alone, and is gone when the dialog closes. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, client } from '../../api/client.ts'
import { useSubmission } from '../../app/submit.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Dialog, Sheet } from '../../ui/dialog.tsx'
import { CONTROL, Field, Form, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { Select } from '../../ui/select.tsx'
import { Switch } from '../../ui/switch.tsx'
import { words } from '../../words/words.ts'
import { RoleFields, type Role } from './role-fields.tsx'

const DAYS = ['7', '30', '90', '366'] as const

export function TokenSheet({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('operator')
  const [projects, setProjects] = useState<readonly string[]>([])
  const [isReadOnly, setReadOnly] = useState(true)
  const [days, setDays] = useState<(typeof DAYS)[number]>('90')
  const [secret, setSecret] = useState<string>()
  const { busy, errors, problem, submit } = useSubmission(['name', 'role', 'projects'])
  const queries = useQueryClient()
  const say = words.people.tokens
  const create = (): Promise<boolean> =>
    submit(async () => {
      const body = {
        name,
        role,
        projects: role === 'developer' ? [...projects] : null,
        read_only: isReadOnly,
        expires_in_days: Number(days),
      }
      const made = await answerOf(client.POST('/api/v1/tokens', { body }))
      setSecret(made.secret)
      await queries.invalidateQueries({ queryKey: ['tokens'] })
    })
  if (secret !== undefined) return <OnceDialog secret={secret} onClose={onClose} />
  return (
    <Sheet
      open
      onClose={onClose}
      title={say.newTitle}
      actions={
        <>
          <Button size="large" onClick={onClose}>
            {words.ui.cancel}
          </Button>
          <Button look="primary" size="large" type="submit" form="token" busy={busy}>
            {say.create}
          </Button>
        </>
      }
    >
      <Form id="token" errors={errors} onSubmit={() => void create()} className="flex flex-col gap-5">
        <Field name="name" rule={words.ui.rules.lowerCaseName} label={say.name} hint={say.nameHint}>
          <TextInput
            required
            autoComplete="off"
            pattern="[a-z0-9][a-z0-9._\-]{0,62}"
            value={name}
            onChange={setName}
          />
        </Field>
        <RoleFields role={role} projects={projects} onRole={setRole} onProjects={setProjects} />
        <Switch checked={isReadOnly} onChange={setReadOnly}>
          {say.readOnlyLabel}
        </Switch>
        <Field name="expires_in_days" label={say.days}>
          <Select
            label={say.days}
            options={DAYS.map((value) => ({ value, label: say.dayChoices(Number(value)) }))}
            value={days}
            onChange={setDays}
          />
        </Field>
        <FormProblem>{problem}</FormProblem>
      </Form>
    </Sheet>
  )
}

function OnceDialog({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  const say = words.people.tokens
  return (
    <Dialog
      open
      stays
      onClose={onClose}
      title={say.onceTitle}
      description={say.onceText}
      actions={
        <>
          <CopyButton text={secret} look="primary" size="large" />
          <Button size="large" onClick={onClose}>
            {say.done}
          </Button>
        </>
      }
    >
      <input
        readOnly
        aria-label={say.onceTitle}
        value={secret}
        onFocus={(event) => event.currentTarget.select()}
        className={`${CONTROL} mono-12`}
      />
    </Dialog>
  )
}
