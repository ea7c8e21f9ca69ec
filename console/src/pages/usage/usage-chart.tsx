/** What was used in each hour or day, by group, with the days on which prices changed. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { clock, day } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { useChangeSearch } from '../../app/range-control.tsx'
import { useMay } from '../../app/session.ts'
import { moneyQueries, type UsageQuestion } from '../../api/queries/money.ts'
import { Columns, type ColumnMark } from '../../charts/columns.tsx'
import { Legend } from '../../charts/legend.tsx'
import { useGo } from '../../ui/link.tsx'
import { usePhone } from '../../ui/media.ts'
import { words } from '../../words/words.ts'
import { amountOf, seriesOf, type GroupRow, type Show } from './usage-groups.ts'
import type { UsageRange } from './usage-range.ts'

/** Labels below the picture; more would touch one another. */
const TICKS = 6
/** Days that a narrow screen has room for. */
const PHONE_SLOTS = 15
/** More texts above the picture would lie on one another. */
const MOST_MARKS = 3

interface UsageChartProps {
  readonly question: UsageQuestion
  readonly rows: readonly GroupRow[] | undefined
  readonly range: UsageRange
  readonly show: Show
  readonly withBefore: boolean
  readonly valueText: (value: number) => string
  readonly axisText: (value: number) => string
}

export function UsageChart(props: UsageChartProps) {
  const { question, rows = NO_ROWS, range, show, withBefore, valueText, axisText } = props
  const isPhone = usePhone()
  const change = useChangeSearch()
  const go = useGo()
  const before = useBefore(question, range, show, withBefore)
  const marks = usePriceMarks(range)
  const slots = isPhone ? range.slots.slice(-PHONE_SLOTS) : range.slots
  const series = useMemo(
    () => seriesOf(rows, slots, show, words.usage.others),
    [rows, show, slots.length, slots[0]],
  )
  const every = Math.max(1, Math.ceil(slots.length / TICKS))
  const slotText = (ms: number): string => (range.slot === 'day' ? day(ms, 'UTC') : clock(ms))
  const select = (slot: number, at: number | undefined): void => {
    const name = at === undefined ? undefined : rows[at]?.name
    const atMs = slots[slot]
    if (name === undefined || atMs === undefined) return
    const group = `${question.by}:${name}`
    // The first click narrows the page, the second opens the rows behind the column.
    if (!question.only.includes(group)) return change({ only: [group] })
    go(
      paths.requests({
        [question.by]: name,
        from: new Date(atMs).toISOString(),
        to: new Date(atMs + range.slotMs).toISOString(),
      }),
    )
  }
  const sum = rows.reduce((total, row) => total + amountOf(row.total, show), 0)
  const say = words.usage
  return (
    <div className="px-6 phone:px-4">
      <Columns
        caption={
          sum > 0
            ? say.caption(say.shows[show], valueText(sum), rows[0]?.name ?? say.others(1))
            : say.captionNothing
        }
        slots={slots}
        slotMs={range.slotMs}
        series={series}
        before={before?.slice(-slots.length)}
        marks={isPhone ? [] : marks}
        ticks={slots.flatMap((atMs, index) => (index % every === 0 ? [{ atMs, text: slotText(atMs) }] : []))}
        valueText={valueText}
        axisText={axisText}
        slotText={slotText}
        onSelect={select}
        height={isPhone ? 170 : 268}
      />
      {!isPhone && <Legend entries={series} className="pt-2.5 pb-3" />}
    </div>
  )
}

const NO_ROWS: readonly GroupRow[] = []

/** The sum of each slot in the period before. */
function useBefore(
  question: UsageQuestion,
  { fromMs, toMs, slots }: UsageRange,
  show: Show,
  enabled: boolean,
): readonly number[] | undefined {
  const from = new Date(2 * fromMs - toMs).toISOString()
  const to = new Date(fromMs).toISOString()
  const { data } = useQuery({
    ...moneyQueries.usage({ ...question, from, to, before: false, groups: 1 }),
    enabled,
  })
  return useMemo(() => {
    if (!enabled || data === undefined) return undefined
    const values = slots.map(() => 0)
    const startMs = 2 * fromMs - toMs
    const slotMs = (toMs - fromMs) / slots.length
    for (const row of [...data.data, ...(data.others ? [data.others] : [])])
      for (const slot of row.slots) {
        const index = Math.round((Date.parse(slot.at) - startMs) / slotMs)
        if (index in values) values[index] = (values[index] ?? 0) + amountOf(slot, show)
      }
    return values
  }, [data, enabled, show, fromMs, toMs])
}

function usePriceMarks({ fromMs, toMs }: UsageRange): readonly ColumnMark[] {
  const may = useMay()
  const { data } = useQuery({
    ...moneyQueries.priceChanges(new Date(fromMs).toISOString(), new Date(toMs).toISOString()),
    enabled: may('prices.read'),
  })
  return (data?.data ?? []).slice(-MOST_MARKS).map(({ at, deployment, before, after }) => ({
    atMs: Date.parse(at),
    sign: '$',
    text: words.usage.priceChanged(modelIn(deployment), amountsOf(before), amountsOf(after)),
  }))
}

/** `embed-v4.0/cohere` → `embed-v4.0`; ids of models may hold a slash of their own. */
function modelIn(deployment: string): string {
  return deployment.slice(0, Math.max(deployment.lastIndexOf('/'), 0)) || deployment
}

function amountsOf(texts: readonly { readonly amount: string; readonly unit: string }[]): string {
  return texts.map(({ amount, unit }) => (unit === 'free' || amount === '' ? unit : amount)).join(', ')
}
