/** One batch: how far it is, how fast it goes, what it costs, how its lines failed. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { batchQueries, putBatch, type Batch, type BatchDetail } from '../../api/queries/batches.ts'
import {
  count,
  duration,
  moneyExact,
  moneyInList,
  moment,
  NONE,
  rate,
  share,
  whole,
} from '../../app/format.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { useNow } from '../../time/now.ts'
import { paths } from '../../app/paths.ts'
import { useStream, useStreamState } from '../../app/stream.ts'
import { Meter } from '../../charts/meter.tsx'
import { Missing } from '../../app/problems.tsx'
import { Banner } from '../../ui/banner.tsx'
import { CopyIconButton } from '../../ui/copy.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Figures } from '../../ui/figures.tsx'
import { useKeys } from '../../ui/keyboard.ts'
import { LiveMark } from '../../ui/live-mark.tsx'
import { Page } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'
import { BatchActions } from './batch-actions.tsx'
import { BatchSide } from './batch-side.tsx'
import { BatchStateView, modelOf, shortBatchId } from './columns.tsx'
import { Faults, FileErrors } from './faults.tsx'
import { LinesChart } from './lines-chart.tsx'
import { PauseBanner } from './pause-banner.tsx'
import { doneOf, isOpen, leftMs, shareOf, tookMs } from './progress.ts'
import { batch as place } from './place.ts'

const PauseDialog = lazyPart(async () => (await import('./pause-dialog.tsx')).PauseDialog)
const CancelDialog = lazyPart(async () => (await import('./cancel-dialog.tsx')).CancelDialog)

export function BatchPage() {
  const { id } = place.useParams()
  const found = useQuery(batchQueries.one(id))
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<'pause' | 'cancel'>()
  const batch = found.data
  useStream<Batch>('batch', (one) => one.id === id && putBatch(queries, one), {
    on: batch === undefined || isOpen(batch),
  })
  const stream = useStreamState()
  useKeys({ Escape: () => void navigate(paths.batches()) })
  return (
    <Page
      title={`${words.places.batches} ${shortBatchId(id)}`}
      crumbs={[{ label: words.places.batches, to: paths.batches() }]}
      head={
        <>
          <span className="truncate">{batch === undefined ? shortBatchId(id) : modelOf(batch)}</span>
          <span className="mono-12 text-ink-3 phone:hidden">{shortBatchId(id)}</span>
          <span data-copy-id>
            <CopyIconButton text={id} />
          </span>
        </>
      }
      actions={
        batch && (
          <>
            <span className="phone:hidden">{isOpen(batch) && <LiveMark state={stream} />}</span>
            <BatchActions
              batch={batch}
              onPause={() => setDialog('pause')}
              onCancel={() => setDialog('cancel')}
            />
          </>
        )
      }
      side={batch && <BatchSide batch={batch} />}
    >
      {batch ? (
        <Body batch={batch} />
      ) : (
        <Missing query={found} gone={<Empty title={words.batches.gone(id)} />} />
      )}
      {batch && dialog === 'pause' && <PauseDialog batch={batch} onClose={() => setDialog(undefined)} />}
      {batch && dialog === 'cancel' && <CancelDialog batch={batch} onClose={() => setDialog(undefined)} />}
    </Page>
  )
}

function Body({ batch }: { readonly batch: BatchDetail }) {
  const nowMs = useNow()
  const say = words.batches
  const done = doneOf(batch)
  const { total } = batch.lines
  return (
    <div className="flex flex-col gap-5 px-6 pt-[18px] pb-6 phone:px-4">
      {batch.pause !== null && <PauseBanner batch={batch} pause={batch.pause} />}
      {batch.cancelled_because !== null && isKnownCause(batch.cancelled_because) && (
        <Banner tone="bad">{say.cancelledBecause[batch.cancelled_because](batch.key)}</Banner>
      )}
      <Figures figures={figuresOf(batch, nowMs)} />
      {total > 0 && (
        <Meter
          share={shareOf(batch)}
          label={say.done(whole(done), whole(total))}
          colour={batch.state === 'completed' ? 'good' : 's1'}
          height={6}
        />
      )}
      {batch.file_errors.length > 0 ? (
        <FileErrors errors={batch.file_errors} />
      ) : (
        <>
          <LinesChart batch={batch} />
          <Faults batch={batch} />
        </>
      )}
    </div>
  )
}

function isKnownCause(code: string): code is keyof typeof words.batches.cancelledBecause {
  return code in words.batches.cancelledBecause
}

function figuresOf(batch: BatchDetail, nowMs: number) {
  const { figures, of, rateNote, unknownLeft, until } = words.batches
  const { lines } = batch
  const left = leftMs(batch)
  const time = isOpen(batch)
    ? {
        name: figures.left,
        value: left === undefined || batch.pause !== null ? unknownLeft : duration(left),
        note: until(moment(batch.expires_at, nowMs)),
      }
    : { name: figures.took, value: duration(tookMs(batch, nowMs)) }
  return [
    { name: figures.state, value: <BatchStateView batch={batch} /> },
    {
      name: figures.done,
      value: of(whole(doneOf(batch)), whole(lines.total)),
      note: lines.total === 0 ? NONE : share(shareOf(batch)),
    },
    ...(batch.lines_per_second === null
      ? []
      : [{ name: figures.rate, value: rate(batch.lines_per_second), note: rateNote }]),
    time,
    {
      name: isOpen(batch) ? figures.cost : figures.costAll,
      value: moneyInList(batch.cost_usd),
      note: moneyExact(batch.cost_usd),
    },
    {
      name: figures.failed,
      value: whole(lines.failed),
      note: lines.total === 0 ? NONE : share(lines.failed / lines.total),
    },
    { name: figures.tokens, value: count(batch.tokens) },
  ]
}
