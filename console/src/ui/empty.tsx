/** A place without data: one sentence, one next step, and the line of shell that does the same. */
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import { CodeBlock } from './code-block.tsx'

interface EmptyProps {
  readonly title: ReactNode
  readonly children?: ReactNode
  readonly actions?: ReactNode
  /** A command that does the same. */
  readonly shell?: string
  readonly className?: string
}

export function Empty({ title, children, actions, shell, className }: EmptyProps) {
  return (
    <div
      className={classes(
        'appearing flex max-w-140 flex-col items-start gap-3 px-6 py-8 phone:px-4',
        className,
      )}
    >
      <p className="text-13 font-semibold">{title}</p>
      {children !== undefined && <div className="text-ink-2">{children}</div>}
      {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      {shell !== undefined && <CodeBlock code={shell} className="w-full" />}
    </div>
  )
}
