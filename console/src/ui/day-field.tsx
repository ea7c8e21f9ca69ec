/** A day of the calendar, by the browser's own field: it shows every digit as it is typed, and has a picker. */
import { classes } from './classes.ts'

interface DayInputProps {
  readonly label: string
  /** `2027-02-13`, or empty. */
  readonly value: string
  readonly onChange: (value: string) => void
  readonly min?: string
  readonly className?: string
}

export function DayInput({ label, value, onChange, min, className }: DayInputProps) {
  return (
    <input
      type="date"
      aria-label={label}
      value={value}
      min={min}
      className={classes(
        'h-8 rounded-control border border-line-strong bg-surface px-2.5 text-13 text-ink tabular-nums focus:border-accent focus:ring-3 focus:ring-accent/25 focus:outline-none phone:h-10 phone:text-15',
        className,
      )}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
