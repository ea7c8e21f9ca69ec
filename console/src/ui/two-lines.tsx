import type { ReactNode } from 'react'
import { classes } from './classes.ts'

interface TwoLinesProps {
  readonly lines: readonly [first: ReactNode, second: ReactNode]
  /** Of the second line. */
  readonly tone?: string
}

/** The cell of a table whose rows are 46 high. */
export function TwoLines({ lines: [first, second], tone = 'text-ink-3' }: TwoLinesProps) {
  return (
    <span className="block min-w-0 leading-4">
      <span className="block truncate leading-[18px]">{first}</span>
      <span className={classes('block truncate text-12', tone)}>{second}</span>
    </span>
  )
}
