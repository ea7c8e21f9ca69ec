/** A row of a table on a narrow screen: two lines, each with something at its end, and at last something to press. */
import type { ReactNode } from 'react'

interface PhoneRowProps {
  readonly mark?: ReactNode
  readonly title: ReactNode
  readonly end?: ReactNode
  readonly note?: ReactNode
  readonly endNote?: ReactNode
  readonly action?: ReactNode
}

export function PhoneRow({ mark, title, end, note, endNote, action }: PhoneRowProps) {
  return (
    <span className="flex items-center gap-2.5">
      {mark}
      <span className="min-w-0 flex-1">
        <span className="flex gap-3">
          <span className="min-w-0 flex-1 truncate font-strong">{title}</span>
          <span className="shrink-0 tabular-nums">{end}</span>
        </span>
        <span className="flex gap-3 text-12 text-ink-2">
          <span className="min-w-0 flex-1 truncate">{note}</span>
          <span className="shrink-0 tabular-nums">{endNote}</span>
        </span>
      </span>
      {action}
    </span>
  )
}
