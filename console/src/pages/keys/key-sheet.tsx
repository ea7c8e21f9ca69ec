/** A new key, or the terms of one that is there. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { answerOf, client } from '../../api/client.ts'
import { keyQueries } from '../../api/queries/keys.ts'
import { nowMs } from '../../app/now.ts'
import { useMay } from '../../app/session.ts'
import { useSubmission } from '../../app/submit.ts'
import { BudgetFields, LimitFields } from '../../parts/terms/fields.tsx'
import { UnpricedNote } from '../../parts/terms/unpriced-note.tsx'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { Form } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { Kbd, withCommand } from '../../ui/kbd.tsx'
import { words } from '../../words/words.ts'
import { madeHere, type Key } from './columns.tsx'
import { BoundsFields, EndField, ModelsField, NameFields } from './key-fields.tsx'
import { changeOf, commandOf, formOf, newForm, newKeyOf, type KeyForm } from './key-form.ts'
import type { Once } from './once-dialog.tsx'

const FIELDS = [
  'project',
  'name',
  'models',
  'limits',
  'budget',
  'expires_at',
  'scopes',
  'max_calls_at_once',
  'addresses',
]

interface KeySheetProps {
  /** Undefined: a new one. */
  readonly of?: Key
  readonly project?: string | undefined
  readonly onClose: () => void
  readonly onMade?: (once: Once) => void
}

export function KeySheet({ of, project, onClose, onMade }: KeySheetProps) {
  const { data: projects } = useQuery(keyQueries.projects())
  const [typed, setTyped] = useState<KeyForm>(() => (of ? formOf(of) : newForm(project ?? '', nowMs())))
  const queries = useQueryClient()
  const may = useMay()
  const { busy, errors, problem, submit } = useSubmission(FIELDS)
  const names = projects?.data.map(({ name }) => name)
  // Until one is chosen, the first is: a choice of one is none.
  const form = typed.project === '' && of === undefined ? { ...typed, project: names?.[0] ?? '' } : typed
  const set = (change: Partial<KeyForm>): void => setTyped({ ...form, ...change })
  const owner = projects?.data.find(({ name }) => name === form.project)
  const say = words.keys.form
  const nameRef = useRef<HTMLInputElement>(null)

  const create = async (): Promise<void> => {
    const made = await answerOf(client.POST('/api/v1/keys', { body: newKeyOf(form) }))
    const { secret = '', ...key } = made
    madeHere.add(key.id)
    onMade?.({ kind: 'made', key, secret })
  }
  const change = async (key: Key): Promise<void> => {
    const { project: ofProject, name } = key
    const body = changeOf(formOf(key), form)
    await answerOf(
      client.PATCH('/api/v1/keys/{project}/{name}', { params: { path: { project: ofProject, name } }, body }),
    )
    onClose()
  }
  const send = (): Promise<boolean> =>
    submit(async () => {
      await (of ? change(of) : create())
      await queries.invalidateQueries({ queryKey: ['keys'] })
      void queries.invalidateQueries({ queryKey: ['projects'] })
    })
  const isUnchanged = of !== undefined && Object.keys(changeOf(formOf(of), form)).length === 0
  return (
    <Sheet
      open
      onClose={onClose}
      title={of ? say.change(of.id) : say.title}
      initialFocus={nameRef}
      note={of === undefined ? say.once : may('keys.loosen') ? undefined : say.tightenOnly}
      actions={
        <>
          <Button size="large" onClick={onClose}>
            {words.ui.cancel}
          </Button>
          <Button
            look="primary"
            size="large"
            type="submit"
            form="key"
            busy={busy}
            why={isUnchanged ? say.unchanged : undefined}
          >
            {of ? say.save : say.create}
            <Kbd onInk>{withCommand('↵')}</Kbd>
          </Button>
        </>
      }
    >
      <Form id="key" errors={errors} onSubmit={() => void send()} className="flex flex-col gap-4">
        {of === undefined && (
          <NameFields form={form} set={set} projects={names} owner={owner} nameRef={nameRef} />
        )}
        <ModelsField form={form} set={set} />
        <LimitFields form={form} set={set} owner={owner} />
        <BudgetFields form={form} set={set} />
        <UnpricedNote isHard={form.usd !== '' && form.hard} models={form.models} />
        <EndField form={form} set={set} />
        <BoundsFields form={form} set={set} />
        <CodeBlock title={say.command} code={commandOf(form, of ? 'set' : 'create')} className="bg-surface" />
        <FormProblem>{problem}</FormProblem>
      </Form>
    </Sheet>
  )
}
