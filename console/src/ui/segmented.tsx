/** One of a few, all of them in sight. */
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

interface Segment<Value extends string> {
  readonly value: Value
  readonly label: ReactNode
  /** For an icon alone. */
  readonly name?: string
  /** A number beside the label. */
  readonly count?: ReactNode
}

interface SegmentedProps<Value extends string> {
  /** Of the whole group. */
  readonly label: string
  readonly segments: readonly Segment<Value>[]
  readonly value: Value | undefined
  readonly onChange: (value: Value) => void
  /** Stands at the end of the track. */
  readonly end?: ReactNode
  readonly className?: string
}

export function Segmented<Value extends string>({
  label,
  segments,
  value,
  onChange,
  end,
  className,
}: SegmentedProps<Value>) {
  return (
    <div
      role="group"
      aria-label={label}
      className={classes(
        'inline-flex h-7 max-w-full items-center overflow-x-auto rounded-control border border-line bg-sunken p-0.5 [scrollbar-width:none] phone:h-9',
        className,
      )}
    >
      {segments.map((segment) => {
        const isChosen = segment.value === value
        return (
          <button
            key={segment.value}
            type="button"
            aria-pressed={isChosen}
            aria-label={segment.name}
            title={segment.name}
            className={classes(
              'inline-flex h-full items-center gap-1.5 rounded-[5px] border px-2 text-12 font-medium whitespace-nowrap tabular-nums transition-colors duration-120',
              isChosen ? 'border-line bg-raised text-ink' : 'border-transparent text-ink-2 hover:text-ink',
            )}
            onClick={() => onChange(segment.value)}
          >
            {segment.label}
            {segment.count !== undefined && <span className="tabular-nums text-ink-3">{segment.count}</span>}
          </button>
        )
      })}
      {end}
    </div>
  )
}
