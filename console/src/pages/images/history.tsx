/** Images that this member made here, newest first, for as long as they are kept. */
import { Columns2 } from 'lucide-react'
import { age } from '../../app/format.ts'
import { DAY_MS } from '../../time/day.ts'
import { useNow } from '../../time/now.ts'
import { apiUrl } from '../../api/client.ts'
import type { ImageJob } from '../../api/queries/image-jobs.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { StateMark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { costOfJob } from './shown-job.ts'

interface HistoryProps {
  readonly jobs: readonly ImageJob[] | undefined
  /** The job that is looked at, or those that are compared. */
  readonly chosen: readonly string[]
  readonly isComparing: boolean
  readonly onComparing: (isComparing: boolean) => void
  readonly onChoose: (job: ImageJob) => void
}

const MINUTE_MS = 60_000

export function History({ jobs, chosen, isComparing, onComparing, onChoose }: HistoryProps) {
  const text = words.images
  // A card changes once a minute at most.
  const now = Math.floor(useNow() / MINUTE_MS) * MINUTE_MS
  return (
    <section
      aria-label={text.history}
      className="shrink-0 border-t border-line px-5 pt-2.5 pb-3 phone:order-3 phone:px-4"
    >
      <header className="flex items-center gap-2.5">
        <h2 className="text-13 font-semibold">{text.history}</h2>
        <span className="flex-1 text-12 text-ink-3">{text.historyNote}</span>
        {jobs !== undefined && jobs.length > 0 && (
          <Button
            look="quiet"
            size="small"
            aria-pressed={isComparing}
            icon={<Columns2 size={13} aria-hidden />}
            onClick={() => onComparing(!isComparing)}
          >
            {text.compare}
          </Button>
        )}
      </header>
      {jobs?.length === 0 ? (
        <p className="py-3 text-12 text-ink-2">{text.historyEmpty}</p>
      ) : (
        <ul className="-mx-1 mt-1.5 flex min-h-24 gap-3 overflow-x-auto px-1 pt-1">
          {jobs?.map((job) => (
            <li key={job.id} className="w-26 shrink-0">
              <Card job={job} now={now} isOpen={chosen.includes(job.id)} onOpen={() => onChoose(job)} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

interface CardProps {
  readonly job: ImageJob
  readonly now: number
  readonly isOpen: boolean
  readonly onOpen: () => void
}

function Card({ job, now, isOpen, onOpen }: CardProps) {
  const text = words.images
  const [image] = job.pictures
  const leftMs = job.expires_at === null ? undefined : Date.parse(job.expires_at) - now
  const isGone = leftMs !== undefined && leftMs <= 0
  const name = job.kind === 'edit' ? `${text.edit}, ${job.model}` : job.model
  return (
    <button
      type="button"
      aria-pressed={isOpen}
      disabled={image === undefined || isGone}
      title={isGone ? text.expired : name}
      className="flex w-full flex-col text-left text-11 disabled:bg-transparent"
      onClick={onOpen}
    >
      <span
        className={classes(
          'mb-1 block h-17 w-full overflow-hidden rounded-control bg-sunken',
          isOpen && 'outline-2 outline-offset-1 outline-accent',
        )}
      >
        {image !== undefined && !isGone ? (
          <img
            src={apiUrl(`/api/v1/assets/${image.asset}/content?width=208`)}
            alt=""
            loading="lazy"
            className="size-full object-cover"
          />
        ) : (
          <span className="flex size-full items-center justify-center">
            <StateMark
              mark={job.status === 'running' || job.status === 'queued' ? 'wait' : isGone ? 'off' : 'bad'}
              word=""
            />
          </span>
        )}
      </span>
      <span className="w-full truncate text-ink">{name}</span>
      <span className="flex w-full justify-between text-ink-3 tabular-nums">
        <span>{costOfJob(job)}</span>
        <span className={classes(leftMs !== undefined && leftMs < DAY_MS && !isGone && 'text-warn')}>
          {image === undefined
            ? (job.fault ?? '')
            : isGone
              ? text.gone
              : leftMs !== undefined && text.left(leftText(leftMs))}
        </span>
      </span>
    </button>
  )
}

/** Days are rounded: images made a minute apart read the same, from the first day on. */
function leftText(ms: number): string {
  return age(ms < 2 * DAY_MS ? ms : ms + DAY_MS / 2)
}
