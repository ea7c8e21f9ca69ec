/** Names of series, in the order of the stack. */
import type { ReactNode } from 'react'
import { classes } from '../ui/classes.ts'
import { paint, type Colour } from './colours.ts'

export interface LegendEntry {
  readonly label: ReactNode
  readonly colour: Colour
  readonly mark?: 'square' | 'diamond' | 'line' | 'dashed' | 'dotted'
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

const SHAPES = {
  square: 'M2 0H8A2 2 0 0 1 10 2V8A2 2 0 0 1 8 10H2A2 2 0 0 1 0 8V2A2 2 0 0 1 2 0Z',
  diamond: 'M5 0 10 5 5 10 0 5Z',
}
const DASH = { line: undefined, dashed: '4 3', dotted: '1.5 3' } as const

export function Swatch({
  colour,
  mark = 'square',
}: {
  readonly colour: Colour
  readonly mark?: LegendEntry['mark']
}) {
  if (mark === 'square' || mark === 'diamond')
    return (
      <svg width="10" height="10" aria-hidden className="shrink-0">
        <path d={SHAPES[mark]} fill={paint(colour)} />
      </svg>
    )
  return (
    <svg width="14" height="10" aria-hidden className="shrink-0">
      <path d="M0 5H14" stroke={paint(colour)} strokeWidth="2" strokeDasharray={DASH[mark ?? 'line']} />
    </svg>
  )
}
