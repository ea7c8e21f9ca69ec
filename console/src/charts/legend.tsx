/** Names of series, in the order of the stack. */
import type { ReactNode } from 'react'
import { classes } from '../ui/classes.ts'
import { paint, type Colour } from './colours.ts'

export interface LegendEntry {
  readonly label: ReactNode
  readonly colour: Colour
  readonly mark?: 'square' | 'line' | 'dashed' | 'dotted'
}

export function Legend({
  entries,
  className,
}: {
  readonly entries: readonly LegendEntry[]
  readonly className?: string
}) {
  return (
    <ul className={classes('flex flex-wrap gap-x-3.5 gap-y-1 text-12 text-ink-2', className)}>
      {entries.map(({ label, colour, mark = 'square' }, index) => (
        <li key={index} className="flex items-center gap-1.5">
          <Swatch colour={colour} mark={mark} />
          {label}
        </li>
      ))}
    </ul>
  )
}

const DASH = { line: undefined, dashed: '4 3', dotted: '1.5 3' } as const

export function Swatch({
  colour,
  mark = 'square',
}: {
  readonly colour: Colour
  readonly mark?: LegendEntry['mark']
}) {
  if (mark === 'square')
    return (
      <svg width="10" height="10" aria-hidden className="shrink-0">
        <rect width="10" height="10" rx="2" fill={paint(colour)} />
      </svg>
    )
  return (
    <svg width="14" height="10" aria-hidden className="shrink-0">
      <path d="M0 5H14" stroke={paint(colour)} strokeWidth="2" strokeDasharray={DASH[mark ?? 'line']} />
    </svg>
  )
}
