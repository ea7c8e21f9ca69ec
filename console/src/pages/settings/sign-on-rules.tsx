/** Claim → role. */
import { useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import type { Schema } from '../../api/client.ts'
import { shellQueries } from '../../api/queries/shell.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { CONTROL } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { useFieldError } from '../../ui/sending.ts'
import { words } from '../../words/words.ts'
import { roleOptions } from './role-fields.tsx'

export type Rule = Schema<'SignOnRule'>

interface SignOnRulesProps {
  readonly rules: readonly Rule[]
  readonly onChange: (rules: readonly Rule[]) => void
}

export function SignOnRules({ rules, onChange }: SignOnRulesProps) {
  const error = useFieldError('rules')
  const say = words.people.signOn
  const set = (at: number, change: Partial<Rule>): void =>
    onChange(rules.map((rule, index) => (index === at ? { ...rule, ...change } : rule)))
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="text-13 font-semibold">{say.rules}</legend>
      <p className="text-12 text-ink-3">{say.rulesText}</p>
      {rules.length === 0 && <p className="text-12 text-warn">{say.noRules}</p>}
      {rules.map((rule, index) => (
        <RuleRow
          key={index}
          rule={rule}
          onChange={(change) => set(index, change)}
          onRemove={() => onChange(rules.filter((_, at) => at !== index))}
        />
      ))}
      {error !== undefined && (
        <p role="alert" className="text-12 text-bad">
          {error}
        </p>
      )}
      <Button
        className="self-start"
        icon={<Plus size={14} aria-hidden />}
        onClick={() => onChange([...rules, { claim: 'groups', value: '', role: 'developer', projects: [] }])}
      >
        {say.addRule}
      </Button>
    </fieldset>
  )
}

interface RuleRowProps {
  readonly rule: Rule
  readonly onChange: (change: Partial<Rule>) => void
  readonly onRemove: () => void
}

function RuleRow({ rule, onChange, onRemove }: RuleRowProps) {
  const { data } = useQuery(shellQueries.projects())
  const say = words.people.signOn
  return (
    <div className="grid grid-cols-[1fr_1fr_8rem_1.5fr_2rem] items-start gap-2 phone:grid-cols-1">
      <input
        aria-label={say.claim}
        required
        value={rule.claim}
        onChange={(event) => onChange({ claim: event.target.value })}
        className={`${CONTROL} mono-12`}
      />
      <input
        aria-label={say.value}
        required
        placeholder={say.value}
        value={rule.value}
        onChange={(event) => onChange({ value: event.target.value })}
        className={`${CONTROL} mono-12`}
      />
      <Select
        label={say.role}
        options={roleOptions()}
        value={rule.role}
        onChange={(role) => onChange({ role })}
      />
      <div className="min-w-0">
        {rule.role === 'developer' && (
          <Combobox
            label={say.projects}
            placeholder={say.projects}
            options={data?.data.map(({ name }) => name) ?? []}
            values={rule.projects ?? []}
            onChange={(projects) => onChange({ projects })}
          />
        )}
      </div>
      <IconButton label={say.removeRule} size="large" onClick={onRemove}>
        <X size={15} aria-hidden />
      </IconButton>
    </div>
  )
}
