import type { Overview } from '../../api/queries/overview.ts'
import { rate } from '../../app/format.ts'
import { FlowTable } from '../../parts/overview/flow-table.tsx'
import { Multiples } from '../../parts/overview/multiples.tsx'
import { words } from '../../words/words.ts'
import type { BodyProps } from './body.ts'

export function OverviewBody({ content, atMs }: BodyProps) {
  const overview = content['overview'] as Overview
  const day = content['day'] as Overview
  const { flows, nodes, attention, series } = overview
  const first = series.data[0]
  const perSecond = flows.reduce((sum, { requests }) => sum + requests, 0)
  return (
    <>
      <p className="flex flex-wrap gap-x-6 px-6 py-3 text-12 text-ink-2 phone:px-4">
        <span>{words.overview.rate(rate(perSecond), nodes.reporting, nodes.alive)}</span>
        <span>
          {words.snapshots.page.attention}: {attention.length}
        </span>
      </p>
      <Multiples
        data={overview}
        day={day.series}
        fromMs={first === undefined ? atMs : Date.parse(first.at)}
        toMs={atMs}
      />
      <div className="border-t border-line">
        <FlowTable flows={flows} isLinked={false} />
      </div>
    </>
  )
}
