/** The columns of the list, and its rows on a narrow screen. */
import { cosine, duration, NONE, rate, share, whole } from '../../app/format.ts'
import { Cells } from '../../charts/cells.tsx'
import { Meter } from '../../charts/meter.tsx'
import type { Deployment } from '../../api/queries/deployments.ts'
import { classes } from '../../ui/classes.ts'
import type { Column } from '../../ui/data-table.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import { words } from '../../words/words.ts'
import { nameOf, StateText } from './state.tsx'

/** A row, with what only its model knows. */
export interface DeploymentRow extends Deployment {
  readonly turn: string
}

/** From here on failures are worth a colour. */
const SOME_FAILED = 0.02
const MANY_FAILED = 0.5

export function DayCells({ one, cellWidth = 3 }: { readonly one: Deployment; readonly cellWidth?: number }) {
  const bad = one.cells.replaceAll(/[g.]/g, '').length
  return <Cells cells={one.cells} cellWidth={cellWidth} label={words.deployments.cellsLabel(bad)} />
}

function FailedShare({ one }: { readonly one: Deployment }) {
  const tone =
    one.failed_share >= MANY_FAILED
      ? 'text-bad'
      : one.failed_share >= SOME_FAILED
        ? 'text-warn'
        : 'text-ink-2'
  return <span className={tone}>{one.calls === 0 ? NONE : share(one.failed_share, 2)}</span>
}

function CallsAtOnce({ one }: { readonly one: Deployment }) {
  if (one.limit === null)
    return <span className="text-ink-3">{one.in_flight === 0 ? NONE : whole(one.in_flight)}</span>
  const isFull = one.limit > 0 && one.in_flight >= one.limit
  return (
    <span className="flex items-center gap-2 text-12 text-ink-2">
      <Meter share={one.in_flight / one.limit} colour={isFull ? 'warn' : 'ink-2'} width={40} />
      <span className="tabular-nums">{words.deployments.of(whole(one.in_flight), whole(one.limit))}</span>
    </span>
  )
}

function LeastCosine({ one }: { readonly one: Deployment }) {
  const value = one.space?.least_cosine
  if (value === null || value === undefined) return <span className="text-ink-3">{NONE}</span>
  if (one.space?.state === 'quarantined')
    return <span className="font-semibold text-odd">{cosine(value, 4)}</span>
  return (
    <span className={classes(one.space?.state === 'warned' && 'font-semibold text-warn')}>
      {cosine(value)}
    </span>
  )
}

export const columns: readonly Column<DeploymentRow>[] = [
  {
    id: 'deployment',
    head: <span className="pl-[23px]">{words.deployments.heads.deployment}</span>,
    least: 166,
    cell: (row) => <span className="pl-[23px] font-strong">{nameOf(row)}</span>,
  },
  { id: 'state', head: words.deployments.heads.state, width: 178, cell: (row) => <StateText one={row} /> },
  {
    id: 'cells',
    drop: 4,
    head: words.deployments.heads.cells,
    width: 214,
    cell: (row) => <DayCells one={row} />,
  },
  {
    id: 'rate',
    head: words.deployments.heads.rate,
    width: 88,
    align: 'right',
    cell: (row) => (
      <span className={row.rate.requests === 0 ? 'text-ink-3' : undefined}>{rate(row.rate.requests)}</span>
    ),
  },
  {
    id: 'p95',
    head: words.deployments.heads.p95,
    width: 72,
    align: 'right',
    cell: (row) => (row.p95_ms === null || isSilent(row) ? NONE : duration(row.p95_ms)),
  },
  {
    id: 'failed',
    head: words.deployments.heads.failed,
    width: 96,
    align: 'right',
    cell: (row) => <FailedShare one={row} />,
  },
  {
    id: 'calls',
    drop: 2,
    head: words.deployments.heads.calls,
    width: 124,
    cell: (row) => <CallsAtOnce one={row} />,
  },
  {
    id: 'cosine',
    drop: 3,
    head: words.deployments.heads.cosine,
    width: 102,
    align: 'right',
    cell: (row) => <LeastCosine one={row} />,
  },
  {
    id: 'turn',
    drop: 1,
    head: words.deployments.heads.turn,
    width: 116,
    cell: (row) => <span className="text-ink-2">{row.turn}</span>,
  },
]

/** What it took while it served says nothing of one that serves nobody. */
function isSilent({ state }: Deployment): boolean {
  return state === 'ejected' || state === 'quarantined' || state === 'drained'
}

export function PhoneRow({ one }: { readonly one: DeploymentRow }) {
  return (
    <span className="flex items-center gap-2.5">
      <StateMark mark={STATE_MARKS[one.state]} word="" className="mb-5" />
      <span className="min-w-0 flex-1">
        <span className="block truncate font-strong">{nameOf(one)}</span>
        <span className="block truncate text-12 text-ink-2">
          <StateText one={one} bare />
          {one.p95_ms !== null && !isSilent(one) && ` · ${duration(one.p95_ms)}`}
        </span>
      </span>
      <span className="flex shrink-0 flex-col items-end">
        <span className="tabular-nums">
          {one.rate.requests === 0 ? '0' : words.deployments.perSecond(rate(one.rate.requests))}
        </span>
        <DayCells one={one} cellWidth={2} />
      </span>
    </span>
  )
}
