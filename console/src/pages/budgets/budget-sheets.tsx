/** Changing a budget, and making one. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { day } from '../../app/format.ts'
import { nanoOf } from '../../app/money.ts'
import { nowMs } from '../../time/now.ts'
import { keyQueries } from '../../api/queries/keys.ts'
import { shellQueries } from '../../api/queries/shell.ts'
import { useWrite } from '../../api/write.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Select } from '../../ui/select.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { usedUpWith, type Detail } from './standing.ts'

interface Terms {
  readonly usd: string
  readonly per: Detail['per']
  readonly hard: boolean
}

const PERIODS = ['day', 'week', 'month', 'total'] as const
const AMOUNT = /^\d{1,10}(\.\d{1,9})?$/
const WHOLE_PROJECT = ''

const TOUCHED = { touches: ['/api/v1/budgets', '/api/v1/projects', '/api/v1/keys'] } as const

/** The server knows a budget as a part of its project or key. */
function useSave(): (id: string, budget: Terms | null) => Promise<void> {
  const ofProject = useWrite('patch', '/api/v1/projects/{project}', TOUCHED)
  const ofKey = useWrite('patch', '/api/v1/keys/{project}/{name}', TOUCHED)
  return async (id, budget) => {
    const name = id.slice(id.indexOf(':') + 1)
    const [project = '', key = ''] = name.split('/')
    if (id.startsWith('project:'))
      await ofProject.send({ params: { path: { project: name } }, body: { budget } })
    else await ofKey.send({ params: { path: { project, name: key } }, body: { budget } })
    toast(words.budgets.form.saved(name))
  }
}

export function ChangeBudget({ budget, onClose }: { readonly budget: Detail; readonly onClose: () => void }) {
  const [terms, setTerms] = useState<Terms>({
    usd: budget.limit_usd.replace(/\.?0+$/, ''),
    per: budget.per,
    hard: budget.hard,
  })
  const save = useSave()
  const say = words.budgets.form
  if (budget.managed_by === 'configuration')
    return (
      <Sheet open onClose={onClose} title={say.changeTitle(budget.name)}>
        <div className="flex flex-col gap-3">
          <p>{say.yaml(budget.managed_at ?? 'torana.yaml')}</p>
          <CodeBlock code={yamlOf(budget)} />
        </div>
      </Sheet>
    )
  return (
    <FormSheet
      title={say.changeTitle(budget.name)}
      note={meaningOf(budget, terms)}
      go={say.save}
      onSubmit={() => save(budget.id, terms)}
      other={{ go: say.remove, onGo: () => save(budget.id, null) }}
      onClose={onClose}
    >
      <TermsFields terms={terms} onChange={setTerms} />
    </FormSheet>
  )
}

export function NewBudget({ onClose }: { readonly onClose: () => void }) {
  const { data: projects } = useQuery(shellQueries.projects())
  const [project, setProject] = useState<string>()
  const [key, setKey] = useState(WHOLE_PROJECT)
  const [terms, setTerms] = useState<Terms>({ usd: '', per: 'month', hard: true })
  const names = (projects?.data ?? []).flatMap(({ name, managed_by: by }) => (by === 'store' ? [name] : []))
  const chosen = project ?? names[0]
  const { data: keys } = useQuery({
    ...keyQueries.ofProject(chosen ?? ''),
    enabled: chosen !== undefined,
  })
  const save = useSave()
  const say = words.budgets.form
  const own = (keys?.data ?? []).filter(({ managed_by: by, revoked_at: at }) => by === 'store' && at === null)
  const id = key === WHOLE_PROJECT ? `project:${chosen}` : `key:${chosen}/${key}`
  return (
    <FormSheet
      title={say.newTitle}
      go={say.save}
      onSubmit={() => chosen !== undefined && save(id, terms)}
      onClose={onClose}
    >
      <div className="grid grid-cols-2 gap-3">
        <Field name="project" label={say.project}>
          <Select
            label={say.project}
            options={names.map((value) => ({ value, label: value }))}
            value={chosen ?? ''}
            onChange={(next) => {
              setProject(next)
              setKey(WHOLE_PROJECT)
            }}
          />
        </Field>
        <Field name="key" label={say.key}>
          <Select
            label={say.key}
            options={[
              { value: WHOLE_PROJECT, label: say.wholeProject },
              ...own.map(({ name }) => ({ value: name, label: `${chosen}/${name}` })),
            ]}
            value={key}
            onChange={setKey}
          />
        </Field>
      </div>
      <TermsFields terms={terms} onChange={setTerms} />
    </FormSheet>
  )
}

interface TermsFieldsProps {
  readonly terms: Terms
  readonly onChange: (terms: Terms) => void
}

function TermsFields({ terms, onChange }: TermsFieldsProps) {
  const say = words.budgets.form
  return (
    <>
      <div className="grid grid-cols-2 gap-3">
        <Field name="budget.usd" rule={words.ui.rules.amount} label={say.usd}>
          <TextInput
            required
            inputMode="decimal"
            pattern="\d{1,10}(\.\d{1,9})?"
            before="$"
            value={terms.usd}
            onChange={(usd) => onChange({ ...terms, usd })}
          />
        </Field>
        <Field name="budget.per" label={say.per}>
          <Select
            label={say.per}
            options={PERIODS.map((value) => ({ value, label: say.periods[value] }))}
            value={terms.per}
            onChange={(per) => onChange({ ...terms, per })}
          />
        </Field>
      </div>
      <Field name="budget.hard" label={say.kind} hint={terms.hard ? say.hardHint : say.softHint}>
        <Segmented
          label={say.kind}
          segments={[
            { value: 'hard', label: say.hard },
            { value: 'soft', label: say.soft },
          ]}
          value={terms.hard ? 'hard' : 'soft'}
          onChange={(next) => onChange({ ...terms, hard: next === 'hard' })}
          className="self-start"
        />
      </Field>
    </>
  )
}

/** What the new sum means: `used up on 26 Nov instead of 20 Nov`. */
function meaningOf(budget: Detail, { usd, per }: Terms): string | undefined {
  if (!AMOUNT.test(usd) || per !== budget.per) return undefined
  const say = words.budgets.form
  const now = usedUpWith(budget, nanoOf(usd), nowMs())
  const before = budget.forecast?.used_up_at
  switch (now.kind) {
    case 'full':
      return say.meansFull
    case 'lasts':
      return say.meansLasts
    case 'unknown':
      return undefined
    case 'on': {
      const on = day(now.atMs, 'UTC')
      const was = before ? day(before, 'UTC') : undefined
      return was === undefined || was === on ? say.meansNow(on) : say.means(on, was)
    }
  }
}

/** The lines of torana.yaml that hold it. */
function yamlOf({ scope, name, limit_usd: limit, per, hard }: Detail): string {
  const budget = `budget: { usd: ${limit.replace(/\.?0+$/, '')}, per: ${per}${hard ? ', hard: true' : ''} }`
  const [project = '', key = ''] = name.split('/')
  if (scope === 'project') return `projects:\n  ${project}:\n    ${budget}`
  return `projects:\n  ${project}:\n    keys:\n      - name: ${key}\n        ${budget}`
}
