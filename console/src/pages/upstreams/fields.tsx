/** Fields of deployments and models: each marks a value that is not saved yet, and shows what it was. */
import type { ReactNode } from 'react'
import { NumberInput } from '../../ui/number-field.tsx'
import { CONTROL } from '../../ui/field.tsx'
import { classes } from '../../ui/classes.ts'
import { Select } from '../../ui/select.tsx'
import { words } from '../../words/words.ts'
import { amountOf, choiceOf, priceOf, type Kind, type PriceChoice } from './price.ts'

interface ChangedProps {
  /** Undefined: it is as it is stored. */
  readonly was: string | undefined
  readonly className?: string
  readonly children: ReactNode
}

/** Around a control: an accent ring, and what the value was. */
export function Changed({ was, className, children }: ChangedProps) {
  return (
    <span {...(was !== undefined && { 'data-changed': '' })} className={classes('block min-w-0', className)}>
      {children}
      {was !== undefined && (
        <span className="mt-0.5 block truncate text-11 text-accent" title={words.routing.model.was(was)}>
          {words.routing.model.was(was)}
        </span>
      )}
    </span>
  )
}

interface LimitFieldProps {
  readonly label: string
  readonly value: unknown
  /** Of what is stored; undefined: there is none. */
  readonly before: unknown
  /** It is new, so that there is nothing it was. */
  readonly isNew: boolean
  readonly placeholder: string
  readonly disabled: boolean
  readonly onChange: (value: number | undefined) => void
}

export function LimitField({
  label,
  value,
  before,
  isNew,
  placeholder,
  disabled,
  onChange,
}: LimitFieldProps) {
  const [now, then] = [numberOf(value), numberOf(before)]
  return (
    <Changed was={isNew || now === then ? undefined : then === null ? placeholder : String(then)}>
      <NumberInput
        label={label}
        value={now}
        min={1}
        placeholder={placeholder}
        disabled={disabled}
        onChange={(next) => onChange(next ?? undefined)}
      />
    </Changed>
  )
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

interface PriceFieldProps {
  readonly label: string
  readonly kind: Kind
  readonly price: unknown
  /** What no price of its own means: `List $0.02 per 1M`. Undefined: it would be unpriced. */
  readonly byDefault: string | undefined
  readonly was: string | undefined
  readonly disabled: boolean
  readonly onChange: (price: unknown) => void
}

export function PriceField({ label, kind, price, byDefault, was, disabled, onChange }: PriceFieldProps) {
  const say = words.routing.price
  const choice = choiceOf(price, kind)
  const choices: readonly PriceChoice[] = [
    'free',
    ...(byDefault === undefined ? [] : (['default'] as const)),
    'custom',
    ...(choice === 'table' ? (['table'] as const) : []),
    'unpriced',
  ]
  const textOf = (one: PriceChoice): string => (one === 'default' ? (byDefault ?? say.unpriced) : say[one])
  // Without a list price, none and unpriced are the same.
  const shown = choice === 'default' && byDefault === undefined ? 'unpriced' : choice
  const choose = (next: PriceChoice): void => {
    if (next === 'table') return
    const isAbsent = next === 'unpriced' && byDefault === undefined
    onChange(isAbsent ? undefined : priceOf(next, kind, amountOf(price, kind) ?? ''))
  }
  return (
    <Changed was={was}>
      <Select
        label={label}
        value={shown}
        disabled={disabled}
        options={choices.map((value) => ({ value, label: textOf(value) }))}
        onChange={choose}
      />
      {choice === 'custom' && (
        <input
          aria-label={`${label}: ${say.amount[kind]}`}
          inputMode="decimal"
          placeholder={say.amount[kind]}
          value={amountOf(price, kind) ?? ''}
          disabled={disabled}
          className={classes(CONTROL, 'mt-1 tabular-nums')}
          onChange={(event) => onChange(priceOf('custom', kind, event.target.value.trim()))}
        />
      )}
    </Changed>
  )
}
