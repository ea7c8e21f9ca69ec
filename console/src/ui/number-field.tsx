/** A number with its unit. Empty is "no limit", never zero. */
import { NumberField as BaseNumber } from '@base-ui/react/number-field'
import type { ReactNode } from 'react'
import { locale } from '../app/language.ts'
import { classes } from './classes.ts'
import { CONTROL } from './field.tsx'

interface NumberInputProps {
  readonly label?: string
  readonly value: number | null
  readonly onChange: (value: number | null) => void
  readonly min?: number
  readonly max?: number
  readonly step?: number
  readonly placeholder?: string
  readonly before?: ReactNode
  readonly after?: ReactNode
  readonly format?: Intl.NumberFormatOptions
  readonly disabled?: boolean
  readonly required?: boolean
  readonly className?: string
}

export function NumberInput(props: NumberInputProps) {
  const {
    label,
    value,
    onChange,
    min = 0,
    max,
    step,
    placeholder,
    before,
    after,
    format,
    disabled = false,
    required = false,
    className,
  } = props
  return (
    <BaseNumber.Root
      value={value}
      min={min}
      {...(max !== undefined && { max })}
      {...(step !== undefined && { step })}
      {...(format && { format })}
      locale={locale}
      disabled={disabled}
      required={required}
      onValueChange={(next) => onChange(next)}
      className={classes('relative block min-w-0', className)}
    >
      {before !== undefined && (
        <span className="pointer-events-none absolute inset-y-0 left-2.5 flex items-center text-ink-3">
          {before}
        </span>
      )}
      <BaseNumber.Input
        aria-label={label}
        // Several of them stand in one field, whose own label would name them all alike.
        {...(label !== undefined && { 'aria-labelledby': undefined })}
        placeholder={placeholder}
        className={classes(
          CONTROL,
          'tabular-nums',
          before !== undefined && 'pl-6',
          after !== undefined && 'pr-18',
        )}
      />
      {after !== undefined && (
        <span className="pointer-events-none absolute inset-y-0 right-2.5 flex items-center text-12 text-ink-3">
          {after}
        </span>
      )}
    </BaseNumber.Root>
  )
}
