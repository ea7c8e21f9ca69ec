/** The columns of the list of batches, and its rows on a phone. */
import type { Batch } from '../../api/queries/batches.ts'
import { ageOf, count, duration, moneyExact, moneyInList, NONE, shortId, whole } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { Meter } from '../../charts/meter.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { State } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { doneOf, markOf, shareOf, tookMs } from './progress.ts'

const say = words.batches

export const columns: readonly Column<Batch>[] = [
  {
    id: 'state',
    head: say.columns.state,
    width: 136,
    cell: (batch) => <BatchStateView batch={batch} />,
  },
  {
    id: 'batch',
    head: say.columns.batch,
    least: 190,
    cell: (batch) => (
      <span className="block leading-[17px]">
        <span className="block truncate font-strong">{modelOf(batch)}</span>
        <span className="mono-12 block truncate text-ink-2">{shortBatchId(batch.id)}</span>
      </span>
    ),
  },
  {
    id: 'key',
    drop: 2,
    head: say.columns.key,
    width: 190,
    cell: ({ key }) => <span className="block truncate text-ink-2">{key}</span>,
  },
  { id: 'progress', head: say.columns.progress, width: 216, cell: (batch) => <Progress batch={batch} /> },
  {
    id: 'failed',
    head: say.columns.failed,
    width: 76,
    align: 'right',
    cell: ({ lines }) => (
      <span className={lines.failed === 0 ? 'tabular-nums text-ink-3' : 'tabular-nums text-bad'}>
        {count(lines.failed)}
      </span>
    ),
  },
  {
    id: 'cost',
    head: say.columns.cost,
    width: 96,
    align: 'right',
    cell: ({ cost_usd: usd }) => (
      <span className="tabular-nums" title={moneyExact(usd)}>
        {moneyInList(usd)}
      </span>
    ),
  },
  {
    id: 'took',
    drop: 1,
    head: say.columns.took,
    width: 116,
    align: 'right',
    cell: (batch) => <Took batch={batch} />,
  },
  { id: 'made', head: say.columns.made, width: 96, align: 'right', cell: (batch) => <Made batch={batch} /> },
]

export const phoneRow = (batch: Batch) => (
  <span className="flex min-w-0 flex-col gap-1 py-1.5">
    <span className="flex items-center gap-2">
      <span className="min-w-0 flex-1 truncate font-strong">{modelOf(batch)}</span>
      <BatchStateView batch={batch} />
    </span>
    <span className="flex items-center gap-3 text-12">
      <Progress batch={batch} />
      <span className="ml-auto shrink-0 tabular-nums text-ink-2">{moneyInList(batch.cost_usd)}</span>
    </span>
  </span>
)

export function BatchStateView({ batch }: { readonly batch: Batch }) {
  const isPaused = batch.state === 'in_progress' && batch.pause !== null
  return <State mark={markOf(batch)}>{isPaused ? say.paused : say.states[batch.state]}</State>
}

export function modelOf({ model, endpoint }: Batch): string {
  return model ?? `${endpoint}, ${say.severalModels}`
}

/** All ids begin alike: what tells them apart is shown. */
export function shortBatchId(id: string): string {
  return shortId(id.replace(/^batch_/, ''))
}

function Progress({ batch }: { readonly batch: Batch }) {
  const done = doneOf(batch)
  const { total } = batch.lines
  // Of a file that was refused nothing was ever going to run.
  if (total === 0) return <span className="text-ink-3">{NONE}</span>
  return (
    <span className="flex min-w-0 items-center gap-2.5">
      <Meter
        share={shareOf(batch)}
        label={say.done(whole(done), whole(total))}
        colour={batch.state === 'completed' ? 'good' : 's1'}
        width={84}
      />
      <span className="truncate tabular-nums text-ink-2">{say.of(whole(done), whole(total))}</span>
    </span>
  )
}

function Took({ batch }: { readonly batch: Batch }) {
  const nowMs = useNow()
  return (
    <span className="tabular-nums text-ink-2">
      {batch.lines.total === 0 ? NONE : duration(tookMs(batch, nowMs))}
    </span>
  )
}

function Made({ batch }: { readonly batch: Batch }) {
  return <span className="tabular-nums text-ink-2">{say.ago(ageOf(batch.created_at, useNow()))}</span>
}
