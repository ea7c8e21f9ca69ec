/** The fields of the sheet of a key, from top to bottom. */
import { useQuery } from '@tanstack/react-query'
import { Folder } from 'lucide-react'
import { useState, type RefObject } from 'react'
import type { Schema } from '../../api/client.ts'
import { keyQueries } from '../../api/queries/keys.ts'
import { money } from '../../app/format.ts'
import { nowMs } from '../../time/now.ts'
import { useMay } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { DayInput } from '../../ui/day-field.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { NumberInput } from '../../ui/number-field.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Select } from '../../ui/select.tsx'
import { Tick } from '../../ui/switch.tsx'
import { words } from '../../words/words.ts'
import { endOf, spanOf, SPANS, type KeyForm, type Scope, type Span } from './key-form.ts'

type Project = Schema<'Project'>

interface PartProps {
  readonly form: KeyForm
  readonly set: (change: Partial<KeyForm>) => void
}

const NEW_PROJECT = ''
const NO_PROJECTS: readonly string[] = []

interface NameProps extends PartProps {
  readonly projects: readonly string[] | undefined
  readonly owner: Project | undefined
  /** The first thing one types. */
  readonly nameRef: RefObject<HTMLInputElement | null>
}

export function NameFields({ form, set, projects = NO_PROJECTS, owner, nameRef }: NameProps) {
  const [isNew, setNew] = useState(false)
  const say = words.keys.form
  const mayCreate = useMay()('projects.write')
  const hasNone = projects.length === 0 && form.project === ''
  const isTyped = mayCreate && (isNew || hasNone)
  const hint = isTyped
    ? say.newProjectHint
    : hasNone
      ? say.noProject
      : form.project === ''
        ? undefined
        : spentOf(owner)
  return (
    <div className="grid grid-cols-2 gap-3 phone:grid-cols-1">
      <Field name="project" label={say.project} hint={hint}>
        {isTyped ? (
          <span className="flex gap-2">
            <TextInput
              required
              autoComplete="off"
              value={form.project}
              onChange={(project) => set({ project })}
            />
            {projects.length > 0 && (
              <Button
                size="large"
                onClick={() => {
                  setNew(false)
                  set({ project: '' })
                }}
              >
                {say.existing}
              </Button>
            )}
          </span>
        ) : (
          <Select
            label={say.project}
            placeholder={say.chooseProject}
            icon={<Folder size={14} aria-hidden className="shrink-0 text-ink-3" />}
            options={[
              ...projects.map((value) => ({ value, label: value })),
              ...(mayCreate ? [{ value: NEW_PROJECT, label: say.newProject }] : []),
            ]}
            value={form.project}
            onChange={(project) => {
              setNew(project === NEW_PROJECT)
              set({ project })
            }}
          />
        )}
      </Field>
      <Field
        name="name"
        label={say.name}
        rule={words.ui.rules.name}
        hint={
          <>
            {say.nameHint}{' '}
            <span className="mono-12 text-ink">
              {form.project || '…'}/{form.name || '…'}
            </span>
          </>
        }
      >
        <TextInput
          required
          ref={nameRef}
          autoComplete="off"
          spellCheck={false}
          pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,62}"
          value={form.name}
          onChange={(name) => set({ name })}
        />
      </Field>
    </div>
  )
}

function spentOf(owner: Project | undefined): string {
  const { form } = words.keys
  if (owner?.budget == null || owner.spent === null) return form.projectUnbound
  return form.projectSpent(owner.name, money(owner.spent.usd), money(owner.budget.usd))
}

export function ModelsField({ form, set }: PartProps) {
  const { data: models = [] } = useQuery(keyQueries.models())
  const say = words.keys.form
  return (
    <Field name="models" label={say.models} hint={say.modelsHint}>
      <Combobox
        label={say.models}
        options={models}
        values={form.models}
        onChange={(chosen) => set({ models: chosen })}
      />
    </Field>
  )
}

export function EndField({ form, set }: PartProps) {
  const say = words.keys.form
  const now = nowMs()
  return (
    <Field name="expires_at" label={say.ends}>
      <div className="flex flex-wrap items-center gap-2">
        <Segmented
          label={say.ends}
          segments={(Object.keys(SPANS) as Span[]).map((value) => ({ value, label: say.spans[value] }))}
          value={spanOf(form.ends, now)}
          onChange={(span) => set({ ends: endOf(span, now) })}
        />
        <DayInput
          label={say.endsDay}
          value={form.ends}
          min={new Date(now).toISOString().slice(0, 10)}
          onChange={(ends) => set({ ends })}
          className="w-37"
        />
        {form.ends !== '' && <span className="text-12 text-ink-3">{say.atMidnight}</span>}
      </div>
    </Field>
  )
}

const SCOPES: readonly Scope[] = ['embeddings', 'images', 'edits']

/** What few keys need: folded unless something is set. */
export function BoundsFields({ form, set }: PartProps) {
  const say = words.keys.form
  const isSet = form.scopes.length > 0 || form.calls !== null || form.addresses !== ''
  return (
    <details open={isSet} className="group">
      <summary className="cursor-pointer text-12 font-medium text-ink-2 hover:text-ink">{say.more}</summary>
      <div className="flex flex-col gap-5 pt-3">
        <Field name="scopes" label={say.scopes} hint={say.scopesHint}>
          <div className="flex h-6 items-center gap-5">
            {SCOPES.map((scope) => (
              <Tick
                key={scope}
                label={say.scopeNames[scope]}
                checked={form.scopes.includes(scope)}
                onChange={(chosen) =>
                  set({
                    scopes: SCOPES.filter((one) => (one === scope ? chosen : form.scopes.includes(one))),
                  })
                }
              >
                {say.scopeNames[scope]}
              </Tick>
            ))}
          </div>
        </Field>
        <Field name="max_calls_at_once" label={say.calls} hint={say.callsHint}>
          <NumberInput
            label={say.calls}
            min={1}
            value={form.calls}
            onChange={(calls) => set({ calls })}
            placeholder={say.noLimit}
            className="w-37"
          />
        </Field>
        <Field name="addresses" label={say.addresses} hint={say.addressesHint}>
          <TextInput
            autoComplete="off"
            spellCheck={false}
            value={form.addresses}
            onChange={(addresses) => set({ addresses })}
          />
        </Field>
      </div>
    </details>
  )
}
