/** A new rule, or another condition, scope or channels of one. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { alertQueries, type Channel, type Rule } from '../../api/queries/alerts.ts'
import { shellQueries } from '../../api/queries/shell.ts'
import { useWrite } from '../../api/write.ts'
import { useScope } from '../../app/scope.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { NumberInput } from '../../ui/number-field.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Select } from '../../ui/select.tsx'
import { FieldError } from '../../ui/sending.ts'
import { Tick } from '../../ui/switch.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { ChannelIcon } from './channel-icon.tsx'
import { NoticeCard } from './notice-preview.tsx'
import { QuietFields } from './quiet-fields.tsx'
import {
  conditionOf,
  formOf,
  formOfKind,
  isList,
  newForm,
  quietFormOf,
  scopeOf,
  type ConditionField,
  type FieldsProps,
  type KindFields,
  type RuleForm,
} from './rule-form.ts'
import { conditionText, ruleName } from './texts.ts'

interface RuleSheetProps {
  /** Undefined: a new one. */
  readonly rule?: Rule
  /** Of a new one. */
  readonly kind?: string
  readonly onClose: () => void
}

/** It waits for what a rule of each kind begins with, and for the channels. */
export function RuleSheet({ kind = 'budget', ...props }: RuleSheetProps) {
  const kinds = useQuery(alertQueries.rules()).data?.kinds
  const channels = useQuery(alertQueries.channels()).data?.data
  const of = kinds?.find((one) => one.kind === (props.rule?.kind ?? kind))
  if (kinds === undefined || of === undefined || channels === undefined) return null
  return <Sheet {...props} kinds={kinds} of={of} channels={channels} />
}

interface SheetProps extends Omit<RuleSheetProps, 'kind'> {
  readonly kinds: readonly KindFields[]
  readonly of: KindFields
  readonly channels: readonly Channel[]
}

function Sheet({ rule, kinds, of, channels, onClose }: SheetProps) {
  const rules = useQuery(alertQueries.rules()).data?.data
  const project = useScope()
  const [before] = useState(() => (rule ? formOf(rule, of) : newForm(of, channels, project)))
  const [form, setForm] = useState(before)
  const create = useWrite('post', '/api/v1/alerts/rules')
  const change = useWrite('patch', '/api/v1/alerts/rules/{id}')
  const say = words.alerts.rule
  const set = (next: Partial<RuleForm>): void => setForm({ ...form, ...next })
  const chosen = kinds.find((one) => one.kind === form.kind) ?? of
  const same = rules?.find((one) => one.kind === form.kind && one.id !== rule?.id)
  const isUnchanged = rule !== undefined && JSON.stringify(form) === JSON.stringify(before)
  const send = async (): Promise<void> => {
    const read = conditionOf(form.condition, chosen.fields)
    if ('wrong' in read) throw new FieldError(`condition.${read.wrong}`, say.numbers)
    if (form.quiet !== 'none' && form.days.length === 0) throw new FieldError('quiet', say.noDays)
    const body = {
      name: form.name,
      condition: read.condition,
      scope: scopeOf(form),
      channels: [...form.channels],
      quiet: quietFormOf(form),
    }
    if (rule === undefined) await create.send({ body: { kind: form.kind, on: true, ...body } })
    else await change.send({ params: { path: { id: rule.id } }, body })
    toast((rule === undefined ? say.made : say.saved)(ruleName(form)))
  }
  return (
    <FormSheet
      title={rule === undefined ? say.newTitle : say.editTitle(ruleName(rule))}
      go={rule === undefined ? say.create : say.save}
      why={isUnchanged ? say.unchanged : undefined}
      onSubmit={send}
      onClose={onClose}
    >
      {rule === undefined && (
        <Field
          name="kind"
          label={say.kind}
          hint={
            <>
              {say.kindHints[form.kind]}
              {same !== undefined && ` ${say.exists(conditionText(same))}`}
            </>
          }
        >
          <Select
            label={say.kind}
            options={kinds.map(({ kind: value }) => ({ value, label: words.alerts.kinds[value] }))}
            value={form.kind}
            onChange={(next) => set(formOfKind(kinds.find((one) => one.kind === next) ?? of))}
          />
        </Field>
      )}
      <ConditionFields key={form.kind} fields={chosen.fields} form={form} set={set} />
      {chosen.projects && <ScopeFields form={form} set={set} />}
      <ChannelTicks channels={channels} form={form} set={set} />
      <QuietFields form={form} set={set} />
      <Field name="name" label={say.name} hint={say.nameHint}>
        <TextInput
          autoComplete="off"
          maxLength={MAX_NAME_LENGTH}
          placeholder={words.alerts.kinds[form.kind]}
          value={form.name}
          onChange={(name) => set({ name })}
        />
      </Field>
      <section aria-label={say.preview} className="flex flex-col gap-1.5">
        <h3 className="text-12 font-strong">{say.preview}</h3>
        <NoticeCard kind={form.kind} />
      </section>
    </FormSheet>
  )
}

/** As the control API bounds it. */
const MAX_NAME_LENGTH = 80

function ConditionFields({
  fields,
  form,
  set,
}: FieldsProps & { readonly fields: readonly ConditionField[] }) {
  const say = words.alerts.rule
  if (fields.length === 0) return <p className="text-12 text-ink-2">{say.immediately}</p>
  const change = (field: string, value: string | number | null): void =>
    set({ condition: { ...form.condition, [field]: value } })
  return (
    <div className="grid grid-cols-3 items-start gap-3 phone:grid-cols-1">
      {fields.map((one) => {
        const { field, initial, min, max } = one
        const name = `condition.${field}`
        const value = form.condition[field] ?? null
        if (isList(one))
          return (
            <Field
              key={field}
              name={name}
              label={say.lists[field] ?? field}
              hint={say.listHint([initial].flat().join(', '))}
              className="col-span-full"
            >
              <TextInput
                required
                inputMode="numeric"
                autoComplete="off"
                value={String(value ?? '')}
                onChange={(next) => change(field, next)}
              />
            </Field>
          )
        return (
          <Field key={field} name={name} label={say.fields[field] ?? field}>
            <NumberInput
              required
              label={say.fields[field] ?? field}
              value={typeof value === 'number' ? value : null}
              min={min}
              max={max}
              after={say.units[field]}
              onChange={(next) => change(field, next)}
            />
          </Field>
        )
      })}
      {fields.some(({ field }) => field === 'requests') && (
        <p className="col-span-full text-12 text-ink-3">{say.requestsHint}</p>
      )}
    </div>
  )
}

function ScopeFields({ form, set }: FieldsProps) {
  const projects = useQuery(shellQueries.projects()).data?.data
  const say = words.alerts.rule
  const names = projects?.map(({ name }) => name) ?? []
  const chosen = form.project === '' ? (names[0] ?? '') : form.project
  return (
    <div className="flex flex-wrap gap-3">
      <Field name="scope" label={say.scope}>
        <Segmented
          label={say.scope}
          className="h-8 self-start"
          value={form.scope}
          segments={[
            { value: 'installation', label: words.alerts.scopes.installation },
            { value: 'each', label: words.alerts.scopes.each },
            { value: 'project', label: say.oneProject },
          ]}
          onChange={(scope) => set({ scope, ...(scope === 'project' && { project: chosen }) })}
        />
      </Field>
      {form.scope === 'project' && (
        <Field name="scope.project" label={say.project} className="min-w-44 flex-1">
          <Select
            label={say.project}
            options={names.map((value) => ({ value, label: value }))}
            value={chosen}
            onChange={(project) => set({ project })}
          />
        </Field>
      )}
    </div>
  )
}

function ChannelTicks({ channels, form, set }: FieldsProps & { readonly channels: readonly Channel[] }) {
  const say = words.alerts.rule
  return (
    <Field
      name="channels"
      label={say.channels}
      hint={channels.length === 0 ? say.noChannels : say.channelsHint}
    >
      <div className="flex flex-col divide-y divide-line rounded-control border border-line empty:hidden">
        {channels.map(({ id, name, kind, masked }) => (
          <div key={id} className="flex min-h-9 items-center px-3 py-1.5">
            <Tick
              label={name}
              checked={form.channels.includes(id)}
              onChange={(next) =>
                set({ channels: next ? [...form.channels, id] : form.channels.filter((one) => one !== id) })
              }
            >
              <span className="inline-flex min-w-0 items-center gap-2">
                <ChannelIcon kind={kind} />
                <span className="font-medium">{name}</span>
                <span className="truncate text-12 text-ink-3">{masked}</span>
              </span>
            </Tick>
          </div>
        ))}
      </div>
    </Field>
  )
}
