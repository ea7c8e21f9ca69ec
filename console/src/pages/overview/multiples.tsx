/** Four small pictures of the range, each with one figure: requests, latency, money, cache. */
import {
  clock,
  count,
  duration,
  durationParts,
  moment,
  money,
  moneyShort,
  moneyTick,
  share,
  whole,
} from '../../app/format.ts'
import { DAY_MS } from '../../time/day.ts'
import { useNow } from '../../time/now.ts'
import { Columns } from '../../charts/columns.tsx'
import { Lines } from '../../charts/lines.tsx'
import type { Overview } from '../../api/queries/overview.ts'
import { words } from '../../words/words.ts'
import { HEIGHT, Multiple } from './multiple.tsx'

type Series = Overview['series']

interface PictureProps {
  readonly series: Series
  readonly fromMs: number
  readonly toMs: number
}

interface MultiplesProps {
  readonly data: Overview
  /** Since midnight. */
  readonly day: Series | undefined
  readonly fromMs: number
  readonly toMs: number
}

export function Multiples({ data, day, fromMs, toMs }: MultiplesProps) {
  const { series, today } = data
  const all = { series, fromMs, toMs }
  return (
    <div className="grid grid-cols-4 divide-x divide-line border-t border-line phone:grid-cols-2 phone:[&>*]:border-b phone:[&>*]:border-line">
      <RequestsPicture {...all} />
      <LatencyPicture {...all} />
      <SpentPicture today={today} day={day} />
      <CachePicture {...all} today={today} />
    </div>
  )
}

const { legend, captions } = words.overview

/** Slots of a day carry the time, longer ones the day. */
function useSlotText({ fromMs, toMs }: PictureProps): (ms: number) => string {
  const now = useNow()
  return (ms) => (toMs - fromMs <= DAY_MS ? clock(ms) : moment(ms, now))
}

function RequestsPicture(props: PictureProps) {
  const { series } = props
  const slotText = useSlotText(props)
  const { data, slot_seconds: seconds } = series
  const sum = (of: (slot: Series['data'][number]) => number): number =>
    data.reduce((total, slot) => total + of(slot), 0)
  const total = sum((slot) => slot.answered + slot.refused + slot.limited + slot.failed + slot.unknown)
  const failed = sum((slot) => slot.failed)
  const answered = sum((slot) => slot.answered)
  const last = data.at(-2) ?? data.at(-1)
  const perMinute =
    last === undefined
      ? 0
      : ((last.answered + last.refused + last.limited + last.failed + last.unknown) * 60) / seconds
  const stack = ['answered', 'refused', 'limited', 'failed'] as const
  const colours = { answered: 'pale', refused: 'rest', limited: 'warn', failed: 'bad' } as const
  return (
    <Multiple
      title={words.overview.requests}
      note={total === 0 ? '' : words.overview.answeredShare(share(answered / total, 2))}
      value={whole(Math.round(perMinute))}
      unit={words.overview.aMinute}
      legend={stack.map((outcome) => ({ label: legend[outcome], colour: colours[outcome] }))}
    >
      <Columns
        caption={captions.requests(whole(total), whole(failed))}
        slots={data.map(({ at }) => Date.parse(at))}
        slotMs={seconds * 1000}
        series={stack.map((outcome) => ({
          label: legend[outcome],
          colour: colours[outcome],
          values: data.map((slot) => slot[outcome]),
        }))}
        valueText={whole}
        axisText={count}
        slotText={slotText}
        height={HEIGHT}
        gap={0.25}
        lines={2}
      />
    </Multiple>
  )
}

function LatencyPicture(props: PictureProps) {
  const { series, fromMs, toMs } = props
  const slotText = useSlotText(props)
  const { data } = series
  const latest = data.findLast(({ p95_ms: p95 }) => p95 !== null)
  const [value, unit] = durationParts(latest?.p95_ms ?? null)
  const lines = [
    { name: 'p50', colour: 'ink-2', values: data.map((slot) => slot.p50_ms) },
    { name: 'p95', colour: 's1', values: data.map((slot) => slot.p95_ms) },
    { name: 'p99', colour: 'ink-2', dash: 'dotted', values: data.map((slot) => slot.p99_ms) },
  ] as const
  const all = lines.flatMap(({ values }) => values.filter((one) => one !== null))
  const least = Math.min(10, ...all)
  const most = Math.max(1000, ...all)
  return (
    <Multiple
      title={words.overview.latency}
      note={latest?.own_p95_ms ? words.overview.adds(duration(latest.own_p95_ms)) : ''}
      value={value}
      unit={`${unit} ${words.overview.p95}`}
      legend={lines.map((line) => ({
        label: line.name,
        colour: line.colour,
        mark: 'dash' in line ? 'dotted' : 'line',
      }))}
    >
      <Lines
        caption={captions.latency(duration(latest?.p95_ms))}
        timesMs={data.map(({ at }) => Date.parse(at))}
        series={lines.map((line) => ({
          label: line.name,
          colour: line.colour,
          values: line.values,
          ...('dash' in line && { dash: line.dash }),
        }))}
        valueText={duration}
        timeText={slotText}
        log={{
          ticks: [10, 100, 1000, 10_000].filter((tick) => tick >= least && tick <= most),
          least: least * 0.8,
          most: most * 1.3,
        }}
        span={{ fromMs, toMs }}
        height={HEIGHT}
      />
    </Multiple>
  )
}

/** The whole day, whatever the range: a budget's pace means something over a day only. */
function SpentPicture({
  today,
  day,
}: {
  readonly today: Overview['today']
  readonly day: Series | undefined
}) {
  const now = useNow()
  const fromMs = Math.floor(now / DAY_MS) * DAY_MS
  const { pace_usd: pace, forecast_usd: forecast } = today
  const slots = (day?.data ?? []).filter(({ at }) => Date.parse(at) >= fromMs)
  const spent = running(slots.map((slot) => Number(slot.spent_usd)))
  const stepMs = (day?.slot_seconds ?? 1800) * 1000
  // A sum is known at the end of its slot; the last one is of now.
  const times = [fromMs, ...slots.map(({ at }) => Math.min(now, Date.parse(at) + stepMs)), fromMs + DAY_MS]
  const rest = (values: readonly (number | null)[]): (number | null)[] => [...values]
  return (
    <Multiple
      title={words.overview.spent}
      note={
        forecast === null
          ? ''
          : pace === null
            ? words.overview.headingAlone(moneyShort(forecast))
            : words.overview.heading(moneyShort(forecast), moneyShort(pace))
      }
      value={money(today.spent_usd)}
      legend={[
        { label: legend.spent, colour: 's1', mark: 'line' },
        ...(pace === null ? [] : [{ label: legend.pace, colour: 'ink-2', mark: 'dashed' } as const]),
        ...(forecast === null ? [] : [{ label: legend.forecast, colour: 's1', mark: 'dotted' } as const]),
      ]}
    >
      <Lines
        caption={captions.spent(money(today.spent_usd))}
        timesMs={times}
        series={[
          ...(pace === null
            ? []
            : [
                {
                  label: legend.pace,
                  colour: 'ink-2',
                  dash: 'dashed',
                  values: times.map((ms) => (Number(pace) * (ms - fromMs)) / DAY_MS),
                } as const,
              ]),
          { label: legend.spent, colour: 's1', fill: true, values: rest([0, ...spent, null]) },
          // Before the day is known, it would begin at nothing.
          ...(forecast === null || day === undefined
            ? []
            : [
                {
                  label: legend.forecast,
                  colour: 's1',
                  dash: 'dotted',
                  values: rest([
                    ...spent.map(() => null),
                    spent.at(-1) ?? 0,
                    Math.max(Number(forecast), spent.at(-1) ?? 0),
                  ]),
                } as const,
              ]),
        ]}
        valueText={moneyTick}
        axisText={moneyTick}
        timeText={(ms) => clock(ms)}
        span={{ fromMs, toMs: fromMs + DAY_MS }}
        height={HEIGHT}
      />
    </Multiple>
  )
}

/** From cents of each slot to what had been spent by then. */
function running(values: readonly number[]): number[] {
  let sum = 0
  return values.map((value) => (sum += value))
}

function CachePicture(props: PictureProps & { readonly today: Overview['today'] }) {
  const { series, fromMs, toMs, today } = props
  const slotText = useSlotText(props)
  const { data } = series
  const inputs = data.reduce((sum, slot) => sum + slot.inputs, 0)
  const hits = data.reduce((sum, slot) => sum + slot.hits, 0)
  return (
    <Multiple
      title={words.overview.cacheTitle}
      note={inputs === 0 ? words.overview.noCache : words.overview.saved(money(today.saved_usd))}
      value={inputs === 0 ? '–' : share(hits / inputs)}
      legend={[{ label: legend.hits, colour: 's3', mark: 'line' }]}
    >
      <Lines
        caption={captions.cache(inputs === 0 ? '–' : share(hits / inputs))}
        timesMs={data.map(({ at }) => Date.parse(at))}
        series={[
          {
            label: legend.hits,
            colour: 's3',
            fill: true,
            values: data.map((slot) => (slot.inputs === 0 ? null : slot.hits / slot.inputs)),
          },
        ]}
        valueText={(value) => share(value, 0)}
        timeText={slotText}
        span={{ fromMs, toMs }}
        height={HEIGHT}
      />
    </Multiple>
  )
}
