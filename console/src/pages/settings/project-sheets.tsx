/** A new project, other terms of one that is there, and its end. */
import { useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { useWrite } from '../../api/write.ts'
import { BudgetFields, LimitFields } from '../../parts/terms/fields.tsx'
import { budgetFormOf, budgetOf, limitFormOf, limitsOf } from '../../parts/terms/form.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { toast } from '../../ui/toast.tsx'
import { TypedNameDialog } from '../../ui/typed-name-dialog.tsx'
import { words } from '../../words/words.ts'

export type Project = Schema<'Project'>

/** What shows a project, or what is left of it. */
const TOUCHED = { touches: ['/api/v1/keys', '/api/v1/budgets', '/api/v1/session'] } as const

interface ProjectSheetProps {
  /** Undefined: a new one. */
  readonly of: Project | undefined
  readonly onClose: () => void
}

export function ProjectSheet({ of, onClose }: ProjectSheetProps) {
  const before = { ...limitFormOf(of?.limits ?? {}), ...budgetFormOf(of?.budget ?? null) }
  const [name, setName] = useState('')
  const [form, setForm] = useState(before)
  const create = useWrite('post', '/api/v1/projects', TOUCHED)
  const change = useWrite('patch', '/api/v1/projects/{project}', TOUCHED)
  const say = words.projects.sheet
  const set = (change: Partial<typeof form>): void => setForm({ ...form, ...change })
  const send = async (): Promise<void> => {
    const body = { limits: limitsOf(form), budget: budgetOf(form) }
    if (of === undefined) await create.send({ body: { name, ...body } })
    else await change.send({ params: { path: { project: of.name } }, body })
    toast(of === undefined ? say.made(name) : say.saved(of.name))
  }
  const isUnchanged = of !== undefined && JSON.stringify(form) === JSON.stringify(before)
  return (
    <FormSheet
      title={of === undefined ? say.title : say.change(of.name)}
      go={of === undefined ? say.create : say.save}
      why={isUnchanged ? say.unchanged : undefined}
      onSubmit={send}
      onClose={onClose}
    >
      {of === undefined && (
        <Field name="name" rule={words.ui.rules.name} label={say.name} hint={say.nameHint}>
          <TextInput
            required
            autoComplete="off"
            spellCheck={false}
            pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,62}"
            value={name}
            onChange={setName}
          />
        </Field>
      )}
      <LimitFields form={form} set={set} />
      <BudgetFields form={form} set={set} />
    </FormSheet>
  )
}

export function DeleteDialog({ of, onClose }: { readonly of: Project; readonly onClose: () => void }) {
  const remove = useWrite('delete', '/api/v1/projects/{project}', TOUCHED)
  const say = words.projects.delete
  const { name } = of
  return (
    <TypedNameDialog
      title={say.title(name)}
      description={say.text}
      facts={[
        [say.keys, say.keysText(of.keys)],
        [say.data, say.dataText],
      ]}
      name={name}
      ask={say.type(name)}
      go={say.go}
      onGo={async () => {
        await remove.send({ params: { path: { project: name } } })
        toast(say.done(name))
      }}
      onClose={onClose}
    />
  )
}
