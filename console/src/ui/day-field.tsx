/** A day of the calendar, shown as people write it; the browser's own picker and typing change it. */
import { Calendar } from 'lucide-react'
import { dayWithYear } from '../app/format.ts'
import { classes } from './classes.ts'

interface DayInputProps {
  readonly label: string
  /** `2027-02-13`, or empty. */
  readonly value: string
  readonly onChange: (value: string) => void
  readonly min?: string
  readonly placeholder?: string
  readonly className?: string
}

export function DayInput({ label, value, onChange, min, placeholder = '–', className }: DayInputProps) {
  return (
    <span
      className={classes(
        'relative flex h-8 items-center justify-between gap-2 rounded-control border border-line-strong bg-surface px-2.5 text-13 focus-within:border-accent focus-within:ring-3 focus-within:ring-accent/25 phone:h-10 phone:text-15',
        className,
      )}
    >
      <span aria-hidden className={value === '' ? 'text-ink-3' : 'text-ink'}>
        {value === '' ? placeholder : dayWithYear(value, 'UTC')}
      </span>
      <Calendar size={14} aria-hidden className="text-ink-3" />
      <input
        type="date"
        aria-label={label}
        value={value}
        min={min}
        className="absolute inset-0 size-full cursor-pointer opacity-0"
        onClick={(event) => event.currentTarget.showPicker()}
        onChange={(event) => onChange(event.target.value)}
      />
    </span>
  )
}
