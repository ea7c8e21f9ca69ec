/** A small chart with one figure, a note and a legend. */
import type { ReactNode } from 'react'
import { Legend, type LegendEntry } from '../../charts/legend.tsx'

/** Of the chart itself. */
export const HEIGHT = 158

interface MultipleProps {
  readonly title: string
  readonly note: ReactNode
  readonly value: ReactNode
  readonly unit?: string
  readonly legend: readonly LegendEntry[]
  readonly children: ReactNode
}

export function Multiple({ title, note, value, unit, legend, children }: MultipleProps) {
  return (
    <section className="flex min-w-0 flex-col px-6 pt-4 pb-4 tight:px-4 phone:px-4">
      <header className="flex items-baseline gap-2">
        <h2 className="shrink-0 text-13 font-semibold">{title}</h2>
        <span
          className="ml-auto truncate text-12 text-ink-2 phone:hidden"
          title={typeof note === 'string' ? note : undefined}
        >
          {note}
        </span>
      </header>
      <p className="flex items-baseline gap-1.5">
        <span className="text-20 font-strong tabular-nums">{value}</span>
        {unit !== undefined && <span className="text-ink-2">{unit}</span>}
      </p>
      <div className="mt-1" style={{ minHeight: HEIGHT }}>
        {children}
      </div>
      <Legend className="mt-1.5 gap-x-2.5! text-11!" entries={legend} />
    </section>
  )
}
