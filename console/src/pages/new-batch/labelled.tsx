/** A control that names itself, with a label and a hint like those of a field. */
import type { ReactNode } from 'react'

interface LabelledProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly children: ReactNode
}

export function Labelled({ label, hint, children }: LabelledProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <span aria-hidden className="text-12 font-strong">
        {label}
      </span>
      {children}
      {hint !== undefined && <span className="text-12 text-ink-3">{hint}</span>}
    </div>
  )
}

/** Of a segmented control that fills its column. */
export const FULL_WIDTH = 'h-8! w-full *:flex-1 *:justify-center *:text-13 phone:h-10!'
/** Three columns where there is room for them. */
export const COLUMNS = 'grid grid-cols-1 gap-x-4 gap-y-4 @min-[400px]:grid-cols-2 @min-[600px]:grid-cols-3'
