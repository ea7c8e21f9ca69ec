import type { ReactNode } from 'react'
import { classes } from '../../ui/classes.ts'

interface SectionHeadProps {
  readonly title: string
  readonly text: string
  readonly action?: ReactNode
}

export function SectionHead({ title, text, action }: SectionHeadProps) {
  return (
    <div
      className={classes('px-6 phone:px-4', action ? 'flex min-h-13 items-center gap-4 py-2.5' : 'py-3.5')}
    >
      <div className="min-w-0 flex-1">
        <h2 className="text-13 font-semibold">{title}</h2>
        <p className="text-12 text-ink-3">{text}</p>
      </div>
      {action}
    </div>
  )
}
