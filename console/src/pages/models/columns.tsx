/** The columns of the list of models, each of two lines. */
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import { Image, ScatterChart } from 'lucide-react'
import { Cells } from '../../charts/cells.tsx'
import { count, duration } from '../../app/format.ts'
import type { Column } from '../../ui/data-table.tsx'
import { MARK_TEXT, StateMark } from '../../ui/state-mark.tsx'
import { TwoLines } from '../../ui/two-lines.tsx'
import { words } from '../../words/words.ts'
import { Abilities } from './abilities.tsx'
import {
  askedByText,
  endsText,
  illOf,
  makes,
  priceLines,
  takes,
  troubles,
  type ModelRow,
} from './row-words.ts'

export const MODEL_COLUMNS: readonly Column<ModelRow>[] = [
  {
    id: 'model',
    head: words.models.columns.model,
    sort: 'name',
    width: 220,
    cell: (row) => <NameCell row={row} />,
  },
  {
    id: 'deployments',
    head: words.models.columns.deployments,
    width: 170,
    cell: (row) => <DeploymentsCell row={row} />,
  },
  {
    id: 'makes',
    drop: 4,
    head: words.models.columns.makes,
    width: 122,
    cell: (row) => <TwoLines lines={makes(row)} />,
  },
  {
    id: 'takes',
    drop: 2,
    head: words.models.columns.takes,
    width: 127,
    cell: (row) => <TwoLines lines={takes(row)} />,
  },
  {
    id: 'can',
    drop: 1,
    head: words.models.columns.can,
    width: 132,
    cell: (row) => <Abilities can={row.can} />,
  },
  { id: 'price', head: words.models.columns.price, sort: 'price', cell: (row) => <PriceCell row={row} /> },
  {
    id: 'p95',
    head: words.models.columns.p95,
    sort: 'p95',
    width: 84,
    align: 'right',
    className: 'tabular-nums',
    cell: (row) => duration(row.last_hour.p95_ms),
  },
  {
    id: 'week',
    drop: 3,
    head: words.models.columns.week,
    width: 103,
    cell: (row) => <Cells cells={row.cells} label={words.models.cells(troubles(row.cells))} />,
  },
  {
    id: 'day',
    head: <span title={words.models.columns.dayHint}>{words.models.columns.day}</span>,
    sort: 'day',
    width: 80,
    align: 'right',
    className: 'tabular-nums',
    cell: (row) => count(row.last_day.requests),
  },
]

function NameCell({ row }: { readonly row: ModelRow }) {
  const Icon = row.kind === 'embedding' ? ScatterChart : Image
  const say = words.models
  const ends = endsText(row)
  return (
    <span className="flex min-w-0 items-center gap-2.5" title={ends}>
      <Icon size={16} strokeWidth={1.75} aria-hidden className="shrink-0 text-ink-3" />
      <TwoLines
        lines={[
          <span key="id" className="font-strong">
            {row.id}
          </span>,
          row.retired
            ? (askedByText(row) ?? say.retired(row.retired.on, row.retired.successor))
            : (ends ?? (row.aliases.length > 0 ? say.also(row.aliases.join(', ')) : say.kinds[row.kind])),
        ]}
        {...((row.retired ?? ends) && { tone: 'text-warn' })}
      />
    </span>
  )
}

function DeploymentsCell({ row: { deployments } }: { readonly row: ModelRow }) {
  const ill = illOf(deployments)
  const [worst] = ill
  const say = words.models
  if (deployments.length === 0) return <span className="text-ink-3">–</span>
  return (
    <TwoLines
      lines={[
        <span key="marks" className="flex items-center gap-2">
          <span className="flex items-center gap-1.5">
            {deployments.map(({ id, upstream, state }) => (
              <StateMark
                key={id}
                mark={STATE_MARKS[state]}
                word={`${upstream} ${say.states[state]}`}
                size={9}
              />
            ))}
          </span>
          {say.of(deployments.length - ill.length, deployments.length)}
        </span>,
        worst === undefined
          ? deployments.map(({ upstream }) => upstream).join(', ')
          : ill.map(({ upstream, state }) => `${upstream} ${say.states[state]}`).join(', '),
      ]}
      {...(worst && { tone: MARK_TEXT[STATE_MARKS[worst.state]] })}
    />
  )
}

function PriceCell({ row }: { readonly row: ModelRow }) {
  if (row.retired) return <span className="text-ink-3">–</span>
  const { lines, warn } = priceLines(row)
  return <TwoLines lines={lines} {...(warn && { tone: 'text-warn' })} />
}
