/** A new key, or the terms of one that is there. */
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { keyQueries } from '../../api/queries/keys.ts'
import { useWrite } from '../../api/write.ts'
import { nowMs } from '../../time/now.ts'
import { defaultProject, rememberProject } from '../../app/paying-project.ts'
import { useMay } from '../../app/session.ts'
import { BudgetFields, LimitFields } from '../../parts/terms/fields.tsx'
import { UnpricedNote } from '../../parts/terms/unpriced-note.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { Kbd, withCommand } from '../../ui/kbd.tsx'
import { FieldError } from '../../ui/sending.ts'
import { words } from '../../words/words.ts'
import { madeHere, type Key } from './columns.tsx'
import { BoundsFields, EndField, ModelsField, NameFields } from './key-fields.tsx'
import { changeOf, commandOf, formOf, newForm, newKeyOf, type KeyForm } from './key-form.ts'
import type { Once } from './once-dialog.tsx'

/** A key with a budget is in the list of budgets; a new project is in that of projects. */
const TOUCHED = { touches: ['/api/v1/budgets', '/api/v1/projects'] } as const

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
  const may = useMay()
  const create = useWrite('post', '/api/v1/keys', TOUCHED)
  const change = useWrite('patch', '/api/v1/keys/{project}/{name}', TOUCHED)
  const names = projects?.data.map(({ name }) => name)
  const [isProjectChosen, setProjectChosen] = useState(of !== undefined)
  const form = isProjectChosen
    ? typed
    : { ...typed, project: defaultProject(names ?? [], project) ?? typed.project }
  const set = (change: Partial<KeyForm>): void => {
    if (change.project !== undefined) setProjectChosen(true)
    setTyped({ ...typed, ...change })
  }
  const owner = projects?.data.find(({ name }) => name === form.project)
  const say = words.keys.form
  const nameRef = useRef<HTMLInputElement>(null)

  const send = async (): Promise<void> => {
    if (of) {
      const { project: ofProject, name } = of
      await change.send({
        params: { path: { project: ofProject, name } },
        body: changeOf(formOf(of), form),
      })
      return
    }
    if (form.project === '') throw new FieldError('project', say.chooseProject)
    const { secret = '', ...key } = await create.send({ body: newKeyOf(form) })
    madeHere.add(key.id)
    rememberProject(key.project)
    onMade?.({ kind: 'made', key, secret })
  }
  const isUnchanged = of !== undefined && Object.keys(changeOf(formOf(of), form)).length === 0
  return (
    <FormSheet
      title={of ? say.change(of.id) : say.title}
      initialFocus={nameRef}
      note={of === undefined ? say.once : may('keys.loosen') ? undefined : say.tightenOnly}
      go={
        <>
          {of ? say.save : say.create}
          <Kbd onInk>{withCommand('↵')}</Kbd>
        </>
      }
      why={isUnchanged ? say.unchanged : undefined}
      onSubmit={send}
      onClose={onClose}
      keepsOpen={of === undefined}
    >
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
    </FormSheet>
  )
}
