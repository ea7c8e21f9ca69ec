/** A new token. Its secret lives here alone, and is gone when the dialog closes. */
import { useState } from 'react'
import { useWrite } from '../../api/write.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { OnceDialog } from '../../ui/once-dialog.tsx'
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
  const { send } = useWrite('post', '/api/v1/tokens')
  const say = words.people.tokens
  const create = async (): Promise<void> => {
    const body = {
      name,
      role,
      projects: role === 'developer' ? [...projects] : null,
      read_only: isReadOnly,
      expires_in_days: Number(days),
    }
    setSecret((await send({ body })).secret)
  }
  if (secret !== undefined)
    return (
      <OnceDialog
        title={say.onceTitle}
        description={say.onceText}
        value={secret}
        done={say.done}
        onClose={onClose}
      />
    )
  return (
    <FormSheet title={say.newTitle} go={say.create} onSubmit={create} onClose={onClose} keepsOpen>
      <Field name="name" label={say.name} hint={say.nameHint}>
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
    </FormSheet>
  )
}
