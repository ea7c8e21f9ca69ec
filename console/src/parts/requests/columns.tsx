/** The columns of the request list. */
import { Image, ChartScatter } from 'lucide-react'
import type { RequestRow } from '../../api/queries/requests.ts'
import { apiUrl } from '../../api/client.ts'
import {
  clockExact,
  clockSeconds,
  count,
  duration,
  moneyExact,
  moneyInList,
  NONE,
  share,
} from '../../app/format.ts'
import { classes } from '../../ui/classes.ts'
import type { Column } from '../../ui/data-table.tsx'
import { MARK_TEXT, StateMark } from '../../ui/state-mark.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import { LatencyBar } from './latency-bar.tsx'
import { OUTCOME_MARK, OutcomeCell } from './outcome.tsx'
import { upstreamsOf } from '../deployments/short-names.ts'

function KindIcon({ kind }: { readonly kind: RequestRow['kind'] }) {
  const Icon = kind === 'embedding' ? ChartScatter : Image
  return (
    <Icon
      size={14}
      strokeWidth={1.75}
      aria-label={words.requests.kinds[kind]}
      className="shrink-0 text-ink-3"
    />
  )
}

function ModelCell({ row }: { readonly row: RequestRow }) {
  return (
    <span className="flex items-center gap-1.5">
      <KindIcon kind={row.kind} />
      <span title={row.model ?? undefined} className="truncate">
        {row.model ?? NONE}
      </span>
      {row.calls > 1 && (
        <span title={words.requests.several(row.calls)}>
          <Tag>×{row.calls}</Tag>
        </span>
      )}
    </span>
  )
}

function CostCell({ row }: { readonly row: RequestRow }) {
  if (row.unpriced) return <Tag>{words.ui.unpriced}</Tag>
  const text = moneyInList(row.cost_usd)
  return (
    <span
      title={moneyExact(row.cost_usd)}
      className={classes('-ml-2 inline-block', (text === '$0' || text === NONE) && 'text-ink-3')}
    >
      {text}
    </span>
  )
}

/** The first picture, or how many texts. */
function InputsCell({ row }: { readonly row: RequestRow }) {
  if (row.asset !== null)
    return (
      <img
        src={apiUrl(`/api/v1/assets/${row.asset}/content?width=104`)}
        alt={words.requests.job.picture(1)}
        loading="lazy"
        className="inline-block size-6 rounded-chip bg-tag object-cover"
      />
    )
  return count(row.inputs)
}

export function requestColumns(zone: string): readonly Column<RequestRow>[] {
  const text = words.requests.columns
  return [
    {
      id: 'at',
      head: text.time(zone),
      width: 122,
      sort: 'at',
      className: 'tabular-nums text-ink-2',
      cell: (row) => (
        <span title={row.at} className="-mr-2 inline-block">
          {clockExact(row.at)}
        </span>
      ),
    },
    {
      id: 'outcome',
      head: text.outcome,
      width: 172,
      cell: (row) => <OutcomeCell row={row} />,
    },
    { id: 'model', head: text.model, least: 186, cell: (row) => <ModelCell row={row} /> },
    {
      id: 'deployment',
      drop: 4,
      head: text.deployment,
      width: 124,
      className: 'text-ink-2',
      cell: (row) => (row.deployments.length === 0 ? NONE : upstreamsOf(row.deployments, row.model)),
    },
    {
      id: 'key',
      drop: 5,
      head: text.key,
      width: 140,
      className: 'text-ink-2',
      cell: (row) => <span title={row.key ?? undefined}>{row.key ?? NONE}</span>,
    },
    {
      id: 'inputs',
      drop: 2,
      head: text.inputs,
      width: 64,
      align: 'right',
      cell: (row) => <InputsCell row={row} />,
    },
    {
      id: 'cache',
      drop: 1,
      head: text.cache,
      width: 66,
      align: 'right',
      className: 'text-ink-2',
      cell: (row) => (row.hits === null || !row.inputs ? NONE : share(row.hits / row.inputs, 0)),
    },
    { id: 'where', drop: 3, head: text.where, width: 96, cell: (row) => <LatencyBar row={row} /> },
    {
      id: 'duration',
      drop: 7,
      head: text.latency,
      width: 80,
      align: 'right',
      sort: 'duration',
      cell: (row) => duration(row.duration_ms),
    },
    {
      id: 'cost',
      drop: 6,
      head: text.cost,
      width: 106,
      align: 'right',
      sort: 'cost',
      cell: (row) => <CostCell row={row} />,
    },
  ]
}

/** Two lines for a narrow screen. */
export function phoneRow(row: RequestRow) {
  const mark = OUTCOME_MARK[row.outcome]
  const second =
    row.fault === null
      ? [row.key, upstreamsOf(row.deployments, row.model)].filter(Boolean).join(' · ')
      : `${row.status} ${row.fault}`
  return (
    <span className="flex gap-3">
      <StateMark mark={mark} word={words.requests.outcomes[row.outcome]} size={10} className="mt-[5px]" />
      <span className="min-w-0 flex-1">
        <span className="flex gap-3">
          <span className="min-w-0 flex-1 truncate font-strong">{row.model ?? NONE}</span>
          <span className="font-strong tabular-nums">{duration(row.duration_ms)}</span>
        </span>
        <span className="flex gap-2 text-12 text-ink-2">
          <span className="tabular-nums text-ink-3">{clockSeconds(row.at)}</span>
          <span className={classes('min-w-0 flex-1 truncate', row.fault !== null && MARK_TEXT[mark])}>
            {second}
          </span>
          <span className="tabular-nums">
            <CostCell row={row} />
          </span>
        </span>
      </span>
    </span>
  )
}
