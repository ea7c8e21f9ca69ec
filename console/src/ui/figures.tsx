/** A strip of figures: a name, a value, a word below it. */
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

export interface Figure {
  readonly name: ReactNode
  readonly value: ReactNode
  readonly note?: ReactNode
}

interface FiguresProps {
  readonly figures: readonly Figure[]
  /** 20 px for the headline of a report, 15 px for a detail page, 13 px for a peek. */
  readonly size?: 'headline' | 'detail' | 'peek'
  readonly className?: string
}

const VALUE = {
  headline: 'text-20 font-strong',
  detail: 'text-15 font-strong',
  peek: 'text-13 font-semibold',
} as const
const GAP = { headline: 'gap-x-10', detail: 'gap-x-8', peek: 'gap-x-5' } as const

export function Figures({ figures, size = 'detail', className }: FiguresProps) {
  return (
    <dl className={classes('flex flex-wrap gap-y-3', GAP[size], className)}>
      {figures.map(({ name, value, note }, index) => (
        <div key={index} className="min-w-0">
          <dt className={classes('text-ink-3', size === 'peek' ? 'text-11' : 'text-12')}>{name}</dt>
          <dd className={classes('tabular-nums', VALUE[size])}>{value}</dd>
          {note !== undefined && <dd className="text-12 text-ink-2">{note}</dd>}
        </div>
      ))}
    </dl>
  )
}
