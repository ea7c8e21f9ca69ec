/** One incident: what happened, since when, and how each channel was notified. */
import { useQuery } from '@tanstack/react-query'
import { useRef, type ReactNode } from 'react'
import { alertQueries, type Channel, type IncidentDetail } from '../../api/queries/alerts.ts'
import { clockSeconds, day, dayWithYear, duration } from '../../app/format.ts'
import { parseSearch } from '../../app/search.ts'
import { useNow } from '../../time/now.ts'
import { classes } from '../../ui/classes.ts'
import { Sheet } from '../../ui/dialog.tsx'
import { TextLink, type Address } from '../../ui/link.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Facts } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { StateMark, type Mark } from '../../ui/state-mark.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import { ChannelIcon } from './channel-icon.tsx'
import { IncidentMark } from './incidents.tsx'
import { markOf, problemText, scopeText, spanText } from './texts.ts'

type Notice = IncidentDetail['notices'][number]
type Delivery = IncidentDetail['deliveries'][number]

interface IncidentSheetProps {
  readonly id: string
  readonly channels: readonly Channel[]
  readonly onClose: () => void
}

export function IncidentSheet({ id, channels, onClose }: IncidentSheetProps) {
  const query = useQuery(alertQueries.incident(id))
  const incident = query.data
  // The button that closes would show its hint, and `esc` would close the hint first.
  const content = useRef<HTMLDivElement>(null)
  return (
    <Sheet open onClose={onClose} title={words.alerts.incident.title} initialFocus={content}>
      <div ref={content} tabIndex={-1} className="outline-none">
        {query.error !== null && incident === undefined ? (
          <Problem error={query.error} retry={() => void query.refetch()} className="px-0" />
        ) : incident === undefined ? (
          <LoadingRows className="-mx-6" />
        ) : (
          <Detail incident={incident} channels={channels} />
        )}
      </div>
    </Sheet>
  )
}

interface DetailProps {
  readonly incident: IncidentDetail
  readonly channels: readonly Channel[]
}

function Detail({ incident, channels }: DetailProps) {
  const say = words.alerts.incident
  const nowMs = useNow()
  const { started_at: started, ended_at: ended, subjects } = incident
  const lasted = (ended === null ? nowMs : Date.parse(ended)) - Date.parse(started)
  return (
    <div className="flex flex-col gap-5">
      <div className="flex flex-col gap-1.5">
        <h3 className="flex items-center gap-2 text-15 font-semibold">
          <IncidentMark incident={incident} />
          <span className="min-w-0 break-words">{incident.title}</span>
          {incident.grouped > 1 && <Tag>{words.alerts.incidents.grouped(incident.grouped)}</Tag>}
        </h3>
        <p className="break-words text-ink-2">{incident.lines.join(' ')}</p>
        <p>
          <TextLink to={addressOf(incident.path)}>{say.view}</TextLink>
        </p>
      </div>
      <Facts
        facts={[
          [say.rule, words.alerts.kinds[incident.kind]],
          [say.scope, scopeText(incident.scope)],
          ...(subjects.length > 1 ? [[say.subjects, subjects.join(', ')] as const] : []),
          [say.started, momentText(started, nowMs)],
          [say.ended, ended === null ? say.still : momentText(ended, nowMs)],
          [say.duration, spanText(lasted)],
        ]}
      />
      <section aria-label={say.deliveries} className="flex flex-col">
        <h3 className="pb-2 text-13 font-semibold">{say.deliveries}</h3>
        <ol className="flex flex-col">
          <Step mark={ended === null ? markOf(incident) : 'off'} title={say.start} at={started}>
            <Notices incident={incident} channels={channels} phases={['start', 'past']} />
          </Step>
          {incident.notices.some(({ phase }) => phase === 'worse') && (
            <Step mark={ended === null ? markOf(incident) : 'off'} title={say.worse}>
              <Notices incident={incident} channels={channels} phases={['worse']} />
            </Step>
          )}
          {ended !== null && (
            <Step mark="good" title={say.end} at={ended}>
              <Notices incident={incident} channels={channels} phases={['end']} />
            </Step>
          )}
        </ol>
      </section>
    </div>
  )
}

interface StepProps {
  readonly mark: Mark
  readonly title: string
  readonly at?: string
  readonly children: ReactNode
}

function Step({ mark, title, at, children }: StepProps) {
  return (
    <li className="relative pb-4 pl-6 not-last:before:absolute not-last:before:top-5 not-last:before:bottom-0 not-last:before:left-[5.5px] not-last:before:w-px not-last:before:bg-line">
      <StateMark mark={mark} word="" className="absolute top-1 left-0" />
      <p className="flex justify-between gap-3">
        <span className="font-strong">{title}</span>
        {at !== undefined && (
          <span className="text-12 leading-5 tabular-nums text-ink-2">{clockSeconds(at)}</span>
        )}
      </p>
      {children}
    </li>
  )
}

interface NoticesProps extends DetailProps {
  readonly phases: readonly Notice['phase'][]
}

function Notices({ incident, channels, phases }: NoticesProps) {
  const notices = incident.notices.filter(({ phase }) => phases.includes(phase))
  const say = words.alerts.incident
  if (notices.length === 0) return <p className="pt-1 text-12 text-ink-2">{say.none}</p>
  return (
    <ul className="mt-1.5 divide-y divide-line rounded-control border border-line">
      {notices.map((notice, index) => (
        <NoticeRow
          key={index}
          notice={notice}
          channel={channels.find(({ id }) => id === notice.channel)}
          deliveries={incident.deliveries
            .filter(({ channel, phase }) => channel === notice.channel && phase === notice.phase)
            .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))}
        />
      ))}
    </ul>
  )
}

interface NoticeRowProps {
  readonly notice: Notice
  /** Undefined: it was deleted since. */
  readonly channel: Channel | undefined
  /** In the order in which they were tried. */
  readonly deliveries: readonly Delivery[]
}

function NoticeRow({ notice, channel, deliveries }: NoticeRowProps) {
  const nowMs = useNow()
  const say = words.alerts.incident
  const at = notice.at ?? deliveries.at(-1)?.at
  const { mark, text } = outcomeOf(notice, deliveries, nowMs)
  return (
    <li className="flex items-start gap-2.5 px-3 py-2 text-12 leading-[18px]">
      <span className="inline-flex w-30 shrink-0 items-center gap-1.5 font-medium">
        {channel && <ChannelIcon kind={channel.kind} />}
        <span title={channel?.name} className="truncate">
          {channel?.name ?? say.deletedChannel}
        </span>
      </span>
      <span className={classes('min-w-0 flex-1 break-words', mark === 'bad' ? 'text-bad' : 'text-ink-2')}>
        {text}
      </span>
      {at !== undefined && <span className="shrink-0 tabular-nums text-ink-2">{momentText(at, nowMs)}</span>}
    </li>
  )
}

function outcomeOf(
  { outcome, held_until: held, phase }: Notice,
  deliveries: readonly Delivery[],
  nowMs: number,
): { readonly mark: 'good' | 'bad' | 'wait'; readonly text: string } {
  const say = words.alerts.incident
  const last = deliveries.at(-1)
  const tries = deliveries.length
  switch (outcome) {
    case 'sent': {
      const ok = deliveries.findLast((one) => one.ok)
      const took = ok === undefined ? say.delivered : say.deliveredIn(duration(ok.ms))
      const notes = [
        ...(tries > 1 ? [say.afterAttempts(tries)] : []),
        ...(held === null ? [] : [say.wasHeld]),
        ...(phase === 'past' ? [say.past] : []),
      ]
      return { mark: 'good', text: [took, ...notes].join(', ') }
    }
    case 'given-up':
      return { mark: 'bad', text: say.givenUp(tries, last === undefined ? '' : problemText(last)) }
    case 'dropped':
      return { mark: 'wait', text: say.dropped }
    case 'waiting':
      if (last !== undefined) return { mark: 'bad', text: say.failed(problemText(last), tries) }
      return {
        mark: 'wait',
        text: held === null ? say.queued : words.alerts.incidents.heldUntil(momentText(held, nowMs)),
      }
  }
}

function momentText(time: string, nowMs: number): string {
  const isToday = dayWithYear(time) === dayWithYear(nowMs)
  return isToday ? clockSeconds(time) : `${day(time)} ${clockSeconds(time)}`
}

/** The node names a page of the console: `/deployments/a%2Fb?tab=drift`. */
function addressOf(path: string): Address {
  const [to = '/', query = ''] = path.split(/\?(.*)/s)
  return { to, params: {}, search: parseSearch(query) }
}
