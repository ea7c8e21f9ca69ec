/** Changing a budget, and making one. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { day } from '../../app/format.ts'
import { nanoOf } from '../../app/money.ts'
import { nowMs } from '../../app/now.ts'
import { answerOf, client } from '../../api/client.ts'
import { FaultError } from '../../api/faults.ts'
import { shellQueries } from '../../api/queries/shell.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { Field, Form, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
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

/** The server knows a budget as a part of its project or key. */
function useSave(onSaved: () => void) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ id, budget }: { readonly id: string; readonly budget: Terms | null }) => {
      const name = id.slice(id.indexOf(':') + 1)
      if (id.startsWith('project:'))
        return answerOf(
          client.PATCH('/api/v1/projects/{project}', {
            params: { path: { project: name } },
            body: { budget },
          }),
        )
      const [project = '', key = ''] = name.split('/')
      return answerOf(
        client.PATCH('/api/v1/keys/{project}/{name}', {
          params: { path: { project, name: key } },
          body: { budget },
        }),
      )
    },
    onSuccess: async (_, { id }) => {
      await Promise.all(
        [['budgets'], ['budget'], ['projects'], ['keys']].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      )
      toast(words.budgets.form.saved(id.slice(id.indexOf(':') + 1)))
      onSaved()
    },
  })
}

export function ChangeBudget({ budget, onClose }: { readonly budget: Detail; readonly onClose: () => void }) {
  const [terms, setTerms] = useState<Terms>({
    usd: budget.limit_usd.replace(/\.?0+$/, ''),
    per: budget.per,
    hard: budget.hard,
  })
  const save = useSave(onClose)
  const say = words.budgets.form
  const isManaged = budget.managed_by === 'configuration'
  return (
    <Sheet
      open
      onClose={onClose}
      title={say.changeTitle(budget.name)}
      note={isManaged ? undefined : meaningOf(budget, terms)}
      actions={
        isManaged ? undefined : (
          <>
            <Button
              look="danger"
              size="large"
              busy={save.isPending}
              onClick={() => save.mutate({ id: budget.id, budget: null })}
            >
              {say.remove}
            </Button>
            <Button look="primary" size="large" type="submit" form="budget" busy={save.isPending}>
              {say.save}
            </Button>
          </>
        )
      }
    >
      {isManaged ? (
        <div className="flex flex-col gap-3">
          <p>{say.yaml(budget.managed_at ?? 'torana.yaml')}</p>
          <CodeBlock code={yamlOf(budget)} />
        </div>
      ) : (
        <TermsForm
          terms={terms}
          onChange={setTerms}
          error={save.error}
          onSubmit={() => save.mutate({ id: budget.id, budget: terms })}
        />
      )}
    </Sheet>
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
    queryKey: ['keys', 'names', chosen],
    enabled: chosen !== undefined,
    queryFn: ({ signal }) =>
      answerOf(
        client.GET('/api/v1/keys', { params: { query: { project: chosen as string, limit: 1000 } }, signal }),
      ),
  })
  const save = useSave(onClose)
  const say = words.budgets.form
  const own = (keys?.data ?? []).filter(({ managed_by: by, revoked_at: at }) => by === 'store' && at === null)
  const id = key === WHOLE_PROJECT ? `project:${chosen}` : `key:${chosen}/${key}`
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
          <Button look="primary" size="large" type="submit" form="budget" busy={save.isPending}>
            {say.save}
          </Button>
        </>
      }
    >
      <div className="mb-4 grid grid-cols-2 gap-3">
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
      <TermsForm
        terms={terms}
        onChange={setTerms}
        error={save.error}
        onSubmit={() => chosen !== undefined && save.mutate({ id, budget: terms })}
      />
    </Sheet>
  )
}

interface TermsFormProps {
  readonly terms: Terms
  readonly onChange: (terms: Terms) => void
  readonly error: Error | null
  readonly onSubmit: () => void
}

function TermsForm({ terms, onChange, error, onSubmit }: TermsFormProps) {
  const say = words.budgets.form
  const param = error instanceof FaultError ? error.param : undefined
  const isOfAmount = param?.includes('usd') === true
  return (
    <Form
      id="budget"
      className="flex flex-col gap-4"
      errors={isOfAmount && error !== null ? { usd: error.message } : {}}
      onSubmit={onSubmit}
    >
      <div className="grid grid-cols-2 gap-3">
        <Field name="usd" rule={words.ui.rules.amount} label={say.usd}>
          <TextInput
            required
            inputMode="decimal"
            pattern="\d{1,10}(\.\d{1,9})?"
            before="$"
            value={terms.usd}
            onChange={(usd) => onChange({ ...terms, usd })}
          />
        </Field>
        <Field name="per" label={say.per}>
          <Select
            label={say.per}
            options={PERIODS.map((value) => ({ value, label: say.periods[value] }))}
            value={terms.per}
            onChange={(per) => onChange({ ...terms, per })}
          />
        </Field>
      </div>
      <Field name="hard" label={say.kind} hint={terms.hard ? say.hardHint : say.softHint}>
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
      {error !== null && !isOfAmount && <FormProblem>{error.message}</FormProblem>}
    </Form>
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
