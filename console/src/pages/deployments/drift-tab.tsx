/** How near the vectors of a deployment are to the space of its model, check by check. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, type ReactNode } from 'react'
import { spaceQueries, type SpaceProbe, type SpaceSlot } from '../../api/queries/spaces.ts'
import type { Deployment } from '../../api/queries/deployments.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import { clockSeconds, cosine, moment, share } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { DAY_MS, HOUR_MS } from '../../time/day.ts'
import { DriftChart } from '../../charts/drift/drift-chart.tsx'
import { changesIn, type DriftMeasure } from '../../charts/drift/drift-layout.ts'
import { Legend } from '../../charts/legend.tsx'
import { upstreamOf } from '../../parts/deployments/short-names.ts'
import { SuspectWindows } from '../../parts/spaces/suspect-windows.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Section } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { MARK_TEXT, StateMark, type Mark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import type { deployment } from './place.ts'
import { ProbeCosines } from './probe-cosines.tsx'
import { lookOf, pointOf, seriesOf } from './drift-series.ts'
import { nameOf } from './state.tsx'

/** Over a day every check is a point of its own; over weeks the worst of each slot, since a mean would hide a quarter of an hour. */
const SPANS = {
  '24h': { ms: DAY_MS, slotMs: HOUR_MS / 4 },
  '14d': { ms: 14 * DAY_MS, slotMs: 2 * HOUR_MS },
  '90d': { ms: 90 * DAY_MS, slotMs: 12 * HOUR_MS },
} as const
type Span = keyof typeof SPANS

const VERDICT_MARKS: Record<SpaceProbe['verdict'], Mark> = {
  good: 'good',
  warned: 'warn',
  quarantined: 'odd',
  failed: 'off',
}
const SHOWN_LOOKS = 8
const SHOWN_CHANGES = 6

type DeploymentSearch = SearchOf<typeof deployment>

interface DriftTabProps {
  readonly one: Deployment
  readonly siblings: readonly Deployment[]
  readonly search: DeploymentSearch
}

export function DriftTab({ one, siblings, search }: DriftTabProps) {
  const say = words.deployments.drift
  const now = Math.floor(useNow() / 60_000) * 60_000
  const { looks: span = '14d', measure = 'cosine' } = search
  const { ms, slotMs } = SPANS[span]
  const fromMs = Math.floor((now - ms) / slotMs) * slotMs
  const slots = useQuery(spaceQueries.slots(one.model, new Date(fromMs).toISOString(), slotMs / 1000))
  const looks = useQuery(spaceQueries.looks(one.model, new Date(now - DAY_MS).toISOString()))
  const spaces = useQuery(spaceQueries.all())
  const reference = spaces.data?.data.find(({ model }) => model === one.model)?.reference?.deployment
  const series = useMemo(
    () => seriesOf(slots.data?.data ?? [], [one, ...siblings], reference),
    [slots.data, one, siblings, reference],
  )
  if (slots.error !== null && slots.data === undefined)
    return <Problem error={slots.error} retry={() => void slots.refetch()} />
  const valueText = (value: number): string => (measure === 'length' ? share(value, 2) : cosine(value, 9))
  const latest = looks.data?.data.find(({ deployment }) => deployment === one.id)
  const hasImages = series.some((line) => line.looks.some(({ images }) => images !== null))
  const lastText = latest?.least_cosine === undefined ? '–' : cosine(latest.least_cosine, 9)
  return (
    <div className="flex flex-col gap-6">
      <Section
        title={say.title[measure]}
        actions={<DriftControls span={span} measure={measure} hasImages={hasImages} />}
      >
        {slots.data !== undefined && series.length === 0 ? (
          <Empty title={say.none}>{say.noneText}</Empty>
        ) : (
          <>
            <Legend
              className="mb-2"
              entries={series.map(({ name, colour }) => ({ label: name, colour, mark: 'line' }))}
            />
            <DriftChart
              caption={say.caption(nameOf(one), lastText)}
              measure={measure}
              series={series}
              fromMs={fromMs}
              toMs={now}
              slotMs={slotMs}
              words={say}
              valueText={valueText}
              tipTitle={(at, count) => (count === 0 ? moment(at, now) : say.worstOf(moment(at, now), count))}
            />
          </>
        )}
      </Section>
      <SuspectWindows model={one.model} deployment={one.id} />
      {latest !== undefined && <ProbeCosines look={latest} />}
      <div className="grid grid-cols-2 gap-8 tight:grid-cols-1 phone:grid-cols-1">
        <Happened slots={slots.data?.data ?? []} looks={looks.data?.data ?? []} id={one.id} now={now} />
        <Latest looks={looks.data?.data ?? []} model={one.model} />
      </div>
    </div>
  )
}

interface DriftControlsProps {
  readonly span: Span
  readonly measure: DriftMeasure
  readonly hasImages: boolean
}

function DriftControls({ span, measure, hasImages }: DriftControlsProps) {
  const change = useChangeSearch<DeploymentSearch>()
  const say = words.deployments.drift
  return (
    <span className="flex flex-wrap gap-3">
      <Segmented<Span>
        label={say.span}
        value={span}
        onChange={(looks) => change({ looks }, { replace: true })}
        segments={(Object.keys(SPANS) as Span[]).map((value) => ({ value, label: value }))}
      />
      <Segmented<DriftMeasure>
        label={say.measure}
        value={measure}
        onChange={(value) => change({ measure: value }, { replace: true })}
        segments={[
          { value: 'cosine', label: say.cosine },
          ...(hasImages || measure === 'images' ? [{ value: 'images', label: say.images } as const] : []),
          { value: 'length', label: say.length },
        ]}
      />
    </span>
  )
}

interface HappenedProps {
  readonly slots: readonly SpaceSlot[]
  readonly looks: readonly SpaceProbe[]
  readonly id: string
  readonly now: number
}

function Happened({ slots, looks, id, now }: HappenedProps) {
  const say = words.deployments.drift
  // Of the last day every check is known; before it, the worst of each slot.
  const newer = looks.filter(({ deployment }) => deployment === id).map(lookOf)
  const firstMs = Math.min(...newer.map(({ atMs }) => atMs))
  const older = slots.filter(({ deployment }) => deployment === id).map(pointOf)
  const known = [...older.filter(({ atMs }) => atMs < firstMs), ...newer]
  const changes = changesIn(known).slice(0, SHOWN_CHANGES)
  return (
    <Section title={say.happened}>
      {changes.length === 0 && <p className="text-12 text-ink-2">{say.nothing}</p>}
      <ul className="divide-y divide-line text-12">
        {changes.map(({ atMs, verdict, least, length }) => (
          <li key={atMs} className="flex gap-4 py-2">
            <span className="w-28 shrink-0 text-ink-2 tabular-nums">{moment(atMs, now)}</span>
            <StateMark mark={VERDICT_MARKS[verdict]} word="" className="mt-0.5" />
            <span>
              {verdict === 'failed' ? say.noAnswer : say.events[verdict](cosine(least, 7), share(length, 1))}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Latest({ looks, model }: { readonly looks: readonly SpaceProbe[]; readonly model: string }) {
  const say = words.deployments.drift
  const heads: readonly ReactNode[] = [
    say.at,
    words.deployments.heads.deployment,
    words.deployments.heads.cosine,
    say.length,
  ]
  return (
    <Section title={say.latest}>
      <table
        aria-label={say.latest}
        className="w-full border-collapse text-12 [&_:is(td,th)+:is(td,th)]:pl-2.5"
      >
        <thead>
          <tr className="border-b border-line text-ink-2">
            {heads.map((head, index) => (
              <th
                key={index}
                scope="col"
                className={index < 2 ? 'h-7 text-left font-medium' : 'h-7 text-right font-medium'}
              >
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {looks.slice(0, SHOWN_LOOKS).map((look) => (
            <tr key={`${look.at} ${look.deployment}`} className="border-b border-line">
              <td className="h-7 tabular-nums">{clockSeconds(look.at)}</td>
              <td>{upstreamOf(look.deployment, model)}</td>
              <td className={`text-right font-strong tabular-nums ${MARK_TEXT[VERDICT_MARKS[look.verdict]]}`}>
                {look.verdict === 'failed' ? say.noAnswer : cosine(look.least_cosine, 7)}
              </td>
              <td className="text-right tabular-nums">{share(look.norm_drift, 1)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  )
}
