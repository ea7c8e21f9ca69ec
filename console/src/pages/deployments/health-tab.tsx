/** The timeline: calls and failures, latency beside its siblings, what happened, and why calls failed. */
import { count, duration, moment, whole } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { RangeControl } from '../../app/range-control.tsx'
import type { RangeSearch } from '../../time/range.ts'
import { Columns } from '../../charts/columns.tsx'
import { Legend } from '../../charts/legend.tsx'
import { Meter } from '../../charts/meter.tsx'
import { Lines } from '../../charts/lines.tsx'
import type { Deployment, DeploymentHistory } from '../../api/queries/deployments.ts'
import { Section } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import { words } from '../../words/words.ts'
import { reasonText } from './deployment-banner.tsx'
import { useSlots } from './history.ts'
import { nameOf } from './state.tsx'

interface HealthTabProps {
  readonly one: Deployment
  readonly siblings: readonly Deployment[]
  readonly search: RangeSearch
}

export function HealthTab({ one, siblings, search }: HealthTabProps) {
  const { health } = words.deployments
  const history = useSlots(one.id, search)
  const now = useNow()
  if (history.error !== null && history.data === undefined)
    return <Problem error={history.error} retry={history.retry} />
  const slots = history.slots
  const slotText = (ms: number): string => moment(ms, now)
  const failed = slots.map((slot) => slot.failed)
  const answered = slots.map((slot) => slot.requests - slot.failed)
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  return (
    <div className="flex flex-col gap-6">
      <Section title={health.calls} actions={<RangeControl search={search} usual="24h" bare />}>
        <Columns
          caption={health.callsCaption(whole(sum(answered) + sum(failed)), whole(sum(failed)))}
          slots={slots.map((slot) => slot.atMs)}
          slotMs={history.slotMs}
          series={[
            { label: health.answered, colour: 'pale', values: answered },
            { label: health.failed, colour: 'bad', values: failed },
          ]}
          valueText={whole}
          axisText={count}
          slotText={slotText}
          height={150}
          gap={0.15}
        />
        <Legend
          className="mt-2"
          entries={[
            { label: health.answered, colour: 'pale' },
            { label: health.failed, colour: 'bad' },
          ]}
        />
      </Section>
      <Section title={health.latency}>
        <Lines
          caption={health.latencyCaption(duration(one.p95_ms))}
          timesMs={slots.map((slot) => slot.atMs)}
          series={[{ label: 'p95', colour: 's1', values: slots.map((slot) => slot.p95Ms) }]}
          valueText={duration}
          timeText={slotText}
          span={history}
          height={140}
          axisWidth={56}
        />
      </Section>
      <div className="grid grid-cols-2 gap-8 phone:grid-cols-1">
        <Events events={history.data?.events} />
        <div className="flex flex-col gap-6">
          <Failures one={one} />
          <Siblings all={[one, ...siblings]} />
        </div>
      </div>
    </div>
  )
}

/** The newest first; more than these are for the audit of a bad week. */
const MOST_EVENTS = 12

function Events({ events }: { readonly events: DeploymentHistory['events'] | undefined }) {
  const now = useNow()
  return (
    <Section title={words.deployments.health.events}>
      {events?.length === 0 && (
        <p className="border-t border-line py-2 text-12 text-ink-2">{words.deployments.health.noEvents}</p>
      )}
      <ol>
        {events?.slice(0, MOST_EVENTS).map(({ at, state, reason }) => (
          <li key={at + state} className="flex gap-3 border-t border-line py-2">
            <span className="w-25 shrink-0 text-12 text-ink-2 tabular-nums">{moment(at, now)}</span>
            <StateMark mark={STATE_MARKS[state]} word={words.deployments.states[state]} className="mt-1" />
            <span className="min-w-0 flex-1 break-words">
              {state === 'healthy'
                ? words.deployments.health.back
                : `${words.deployments.states[state]}${reason === '' ? '' : `: ${reasonText(reason)}`}`}
            </span>
          </li>
        ))}
      </ol>
    </Section>
  )
}

/** Rejections of what a caller sent. They are no failures of a deployment, and its error rate leaves them out. */
const OF_CALLERS: ReadonlySet<string> = new Set(['refused', 'contentRefused'])

function Failures({ one }: { readonly one: Deployment }) {
  const kinds = Object.entries(one.failures).sort(([, a], [, b]) => b - a)
  const most = Math.max(1, ...kinds.map(([, n]) => n))
  return (
    <Section title={words.deployments.health.failures}>
      {kinds.length === 0 && (
        <p className="border-t border-line py-2 text-12 text-ink-2">{words.deployments.health.noFailures}</p>
      )}
      <ul>
        {kinds.map(([kind, n]) => (
          <li key={kind} className="flex items-center gap-3 border-t border-line py-1.5">
            <span className="w-44 shrink-0">
              <span className="block truncate">{reasonText(kind)}</span>
              {OF_CALLERS.has(kind) && (
                <span className="block text-12 text-ink-3">{words.deployments.health.ofCallers}</span>
              )}
            </span>
            <Meter share={n / most} colour={OF_CALLERS.has(kind) ? 'rest' : 'bad'} className="flex-1" />
            <span className="w-12 text-right tabular-nums">{count(n)}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Siblings({ all }: { readonly all: readonly Deployment[] }) {
  if (all.length < 2) return null
  const most = Math.max(1, ...all.map(({ p95_ms: p95 }) => p95 ?? 0))
  return (
    <Section title={words.deployments.health.siblings}>
      <ul>
        {all.map((row) => (
          <li key={row.id} className="flex items-center gap-3 border-t border-line py-1.5">
            <span className="flex w-44 shrink-0 items-center gap-2 truncate">
              <StateMark mark={STATE_MARKS[row.state]} word={words.deployments.states[row.state]} size={9} />
              {nameOf(row)}
            </span>
            <Meter share={(row.p95_ms ?? 0) / most} colour="s1" className="flex-1" />
            <span className="w-16 text-right tabular-nums">{duration(row.p95_ms)}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
