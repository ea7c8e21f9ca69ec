/** One batch: how far it is, how fast it goes, what it costs, how its lines failed. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Ban, Download, Play } from 'lucide-react'
import { useState } from 'react'
import {
  batchFileUrl,
  batchQueries,
  putBatch,
  type Batch,
  type BatchDetail,
} from '../../api/queries/batches.ts'
import { useWrite } from '../../api/write.ts'
import {
  clock,
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
import { useMay } from '../../app/session.ts'
import { useStream, useStreamState } from '../../app/stream.ts'
import { Meter } from '../../charts/meter.tsx'
import { Missing } from '../../app/problems.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Button, buttonClasses } from '../../ui/button.tsx'
import { CopyIconButton } from '../../ui/copy.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Figures } from '../../ui/figures.tsx'
import { useKeys } from '../../ui/keyboard.ts'
import { LiveMark } from '../../ui/live-mark.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Page } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { BatchSide } from './batch-side.tsx'
import { BatchStateView, modelOf, shortBatchId } from './columns.tsx'
import { Faults, FileErrors } from './faults.tsx'
import { LinesChart } from './lines-chart.tsx'
import { doneOf, isOpen, leftMs, shareOf, tookMs } from './progress.ts'
import { batch as place } from './place.ts'

const CancelDialog = lazyPart(async () => (await import('./cancel-dialog.tsx')).CancelDialog)

export function BatchPage() {
  const { id } = place.useParams()
  const found = useQuery(batchQueries.one(id))
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [isCancelling, setCancelling] = useState(false)
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
            <Actions batch={batch} cancel={() => setCancelling(true)} />
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
      {batch && isCancelling && <CancelDialog batch={batch} onClose={() => setCancelling(false)} />}
    </Page>
  )
}

function Actions({ batch, cancel }: { readonly batch: Batch; readonly cancel: () => void }) {
  const may = useMay()
  const say = words.batches
  const icon = <Download size={14} aria-hidden />
  const why = !may('batches.cancel', batch.project)
    ? say.cancel.forbidden
    : batch.state === 'cancelling'
      ? say.cancel.stopping
      : undefined
  return (
    <>
      {batch.output.bytes === 0 ? (
        <Button icon={icon} why={say.noOutput}>
          {say.download}
        </Button>
      ) : (
        <a href={batchFileUrl(batch.id, 'output')} download className={buttonClasses()}>
          {icon}
          {say.download}
        </a>
      )}
      {isOpen(batch) && (
        <Button look="danger" icon={<Ban size={14} aria-hidden />} why={why} onClick={cancel}>
          {say.cancel.action}
        </Button>
      )}
    </>
  )
}

function Body({ batch }: { readonly batch: BatchDetail }) {
  const nowMs = useNow()
  const say = words.batches
  const done = doneOf(batch)
  const { total } = batch.lines
  return (
    <div className="flex flex-col gap-5 px-6 pt-[18px] pb-6 phone:px-4">
      {batch.pause !== null && (
        <PauseBanner batch={batch} code={batch.pause.code} until={batch.pause.until ?? batch.expires_at} />
      )}
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

function hasNextStep(code: string): code is keyof typeof words.batches.nextStep {
  return code in words.batches.nextStep
}

function waitsForPerson(code: string): code is keyof typeof words.batches.waitsForPerson {
  return code in words.batches.waitsForPerson
}

interface PauseProps {
  readonly batch: BatchDetail
  readonly code: string
  readonly until: string
}

/** Where its key has ended, only a person can say whether it goes on. */
function PauseBanner({ batch, code, until }: PauseProps) {
  const may = useMay()
  const goOn = useWrite('post', '/api/v1/batches/{id}/continue')
  const say = words.batches
  if (!waitsForPerson(code))
    return (
      <Banner tone="warn">
        {say.pausedUntil(code, clock(until))} {hasNextStep(code) && say.nextStep[code]}{' '}
        {code.startsWith('budget_') && (
          <TextLink to={paths.budgets()} className="underline">
            {say.toBudgets}
          </TextLink>
        )}
      </Banner>
    )
  const why = may('batches.continue', batch.project) ? undefined : say.goOn.forbidden
  const go = (): void =>
    goOn.now({ params: { path: { id: batch.id } } }, ({ project }) => toast(say.goOn.toast(project)))
  return (
    <Banner
      tone="warn"
      action={
        <Button icon={<Play size={14} aria-hidden />} why={why} busy={goOn.busy} onClick={go}>
          {say.goOn.action}
        </Button>
      }
    >
      {say.waitsForPerson[code](batch.key)}
    </Banner>
  )
}

function figuresOf(batch: BatchDetail, nowMs: number) {
  const { figures, of, rateNote, unknownLeft, until } = words.batches
  const { lines } = batch
  const left = leftMs(batch)
  const time = isOpen(batch)
    ? {
        name: figures.left,
        value: left === undefined ? unknownLeft : duration(left),
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
