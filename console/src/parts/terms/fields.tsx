/** What keys and projects have in common while they are filled in: limits a minute, and a budget. */
import type { Schema } from '../../api/client.ts'
import { whole } from '../../app/format.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import { NumberInput } from '../../ui/number-field.tsx'
import { Select } from '../../ui/select.tsx'
import { Switch } from '../../ui/switch.tsx'
import { words } from '../../words/words.ts'
import type { BudgetForm, LimitForm, Period } from './form.ts'

interface TermsProps<Form> {
  readonly form: Form
  readonly set: (change: Partial<Form>) => void
}

export function LimitFields({
  form,
  set,
  owner,
}: TermsProps<LimitForm> & { readonly owner?: Schema<'Project'> | undefined }) {
  const say = words.keys.form
  return (
    <Field name="limits" label={say.limits} hint={projectLimits(owner)}>
      <div className="grid grid-cols-3 gap-3 phone:grid-cols-1">
        <NumberInput
          label={`${say.limits}: ${say.requests}`}
          min={1}
          value={form.requests}
          onChange={(requests) => set({ requests })}
          placeholder={say.noLimit}
          after={say.requests}
        />
        <NumberInput
          label={`${say.limits}: ${say.tokens}`}
          min={1}
          value={form.tokens}
          onChange={(tokens) => set({ tokens })}
          placeholder={say.noLimit}
          after={say.tokens}
        />
        <NumberInput
          label={`${say.limits}: ${say.pictures}`}
          min={1}
          value={form.images}
          onChange={(images) => set({ images })}
          placeholder={say.noLimit}
          after={say.pictures}
        />
      </div>
    </Field>
  )
}

function projectLimits(owner: Schema<'Project'> | undefined): string | undefined {
  const say = words.keys.form
  const {
    requests_per_minute: requests,
    tokens_per_minute: tokens,
    images_per_minute: images,
  } = owner?.limits ?? {}
  const parts = [
    requests !== undefined && `${whole(requests)} ${say.requests}`,
    tokens !== undefined && `${whole(tokens)} ${say.tokens}`,
    images !== undefined && `${whole(images)} ${say.pictures}`,
  ].filter((part) => part !== false)
  return parts.length === 0 ? undefined : say.projectLimits(parts.join(', '))
}

const PERIODS: readonly Period[] = ['day', 'week', 'month', 'total']

export function BudgetFields({ form, set }: TermsProps<BudgetForm>) {
  const say = words.keys.form
  return (
    <Field
      name="budget"
      rule={words.ui.rules.amount}
      label={say.budget}
      hint={form.hard ? say.hardHint : say.softHint}
    >
      <div className="flex items-center gap-3 phone:flex-wrap">
        <div className="min-w-0 flex-1 phone:basis-full">
          <TextInput
            inputMode="decimal"
            pattern="\d{1,10}(\.\d{1,9})?"
            aria-label={say.budget}
            placeholder={say.noBudget}
            before="$"
            value={form.usd}
            onChange={(usd) => set({ usd })}
          />
        </div>
        <Select
          label={say.budgetPeriod}
          className="w-32!"
          options={PERIODS.map((value) => ({ value, label: say.periods[value] }))}
          value={form.per}
          onChange={(per) => set({ per })}
        />
        <Switch label={say.hardBudget} checked={form.hard} onChange={(hard) => set({ hard })}>
          {say.hard}
        </Switch>
      </div>
    </Field>
  )
}
