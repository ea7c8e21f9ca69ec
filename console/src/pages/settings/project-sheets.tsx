/** A new project, other terms of one that is there, and its end. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, client, type Schema } from '../../api/client.ts'
import { useSubmission } from '../../app/submit.ts'
import { BudgetFields, LimitFields } from '../../parts/terms/fields.tsx'
import { budgetFormOf, budgetOf, limitFormOf, limitsOf } from '../../parts/terms/form.ts'
import { Button } from '../../ui/button.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { Field, Form, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { toast } from '../../ui/toast.tsx'
import { TypedNameDialog } from '../../ui/typed-name-dialog.tsx'
import { words } from '../../words/words.ts'

export type Project = Schema<'Project'>

/** What shows a project, or what is left of it. */
const TOUCHED = ['projects', 'keys', 'budgets', 'session']

function useRefresh(): () => Promise<unknown> {
  const queries = useQueryClient()
  return () => Promise.all(TOUCHED.map((name) => queries.invalidateQueries({ queryKey: [name] })))
}

interface ProjectSheetProps {
  /** Undefined: a new one. */
  readonly of: Project | undefined
  readonly onClose: () => void
}

export function ProjectSheet({ of, onClose }: ProjectSheetProps) {
  const before = { ...limitFormOf(of?.limits ?? {}), ...budgetFormOf(of?.budget ?? null) }
  const [name, setName] = useState('')
  const [form, setForm] = useState(before)
  const { busy, errors, problem, submit } = useSubmission(['name', 'limits', 'budget'])
  const refresh = useRefresh()
  const say = words.projects.sheet
  const set = (change: Partial<typeof form>): void => setForm({ ...form, ...change })
  const send = async (): Promise<void> => {
    const body = { limits: limitsOf(form), budget: budgetOf(form) }
    const isDone = await submit(async () => {
      if (of === undefined) await answerOf(client.POST('/api/v1/projects', { body: { name, ...body } }))
      else
        await answerOf(
          client.PATCH('/api/v1/projects/{project}', { params: { path: { project: of.name } }, body }),
        )
      await refresh()
    })
    if (!isDone) return
    toast(of === undefined ? say.made(name) : say.saved(of.name))
    onClose()
  }
  const isUnchanged = of !== undefined && JSON.stringify(form) === JSON.stringify(before)
  return (
    <Sheet
      open
      onClose={onClose}
      title={of === undefined ? say.title : say.change(of.name)}
      actions={
        <>
          <Button size="large" onClick={onClose}>
            {words.ui.cancel}
          </Button>
          <Button
            look="primary"
            size="large"
            type="submit"
            form="project"
            busy={busy}
            why={isUnchanged ? say.unchanged : undefined}
          >
            {of === undefined ? say.create : say.save}
          </Button>
        </>
      }
    >
      <Form id="project" errors={errors} onSubmit={() => void send()} className="flex flex-col gap-5">
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
        <FormProblem>{problem}</FormProblem>
      </Form>
    </Sheet>
  )
}

export function DeleteDialog({ of, onClose }: { readonly of: Project; readonly onClose: () => void }) {
  const { busy, problem, submit } = useSubmission([])
  const refresh = useRefresh()
  const say = words.projects.delete
  const { name } = of
  const remove = async (): Promise<void> => {
    const isDone = await submit(async () => {
      await answerOf(client.DELETE('/api/v1/projects/{project}', { params: { path: { project: name } } }))
      await refresh()
    })
    if (!isDone) return
    toast(say.done(name))
    onClose()
  }
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
      busy={busy}
      problem={problem}
      onGo={() => void remove()}
      onClose={onClose}
    />
  )
}
