/** What was used in each hour or day, by group. */
import { useMemo } from 'react'
import { clock, day } from '../../app/format.ts'
import { Columns, type ColumnMark } from '../../charts/columns.tsx'
import { Legend } from '../../charts/legend.tsx'
import { usePhone } from '../../ui/media.ts'
import { words } from '../../words/words.ts'
import { amountText, tickText } from './amount-text.ts'
import { amountOf, seriesOf, type GroupRow, type Show } from './usage-groups.ts'
import type { UsageRange } from './usage-range.ts'

/** Days that a narrow screen has room for. */
const PHONE_SLOTS = 15

interface UsageColumnsProps {
  readonly rows: readonly GroupRow[]
  readonly range: UsageRange
  readonly show: Show
  /** The sum of each slot in the period before. */
  readonly before?: readonly number[] | undefined
  readonly marks?: readonly ColumnMark[]
  /** A click on a group in a slot. */
  readonly onSelect?: (atMs: number, group: string) => void
  readonly height?: number
}

export function UsageColumns(props: UsageColumnsProps) {
  const { rows, range, show, before, marks, onSelect, height = 268 } = props
  const isPhone = usePhone()
  const slots = useMemo(
    () => (isPhone ? range.slots.slice(-PHONE_SLOTS) : range.slots),
    [isPhone, range.slots],
  )
  const series = useMemo(
    () =>
      seriesOf(rows, slots, show, (groups, only) =>
        only === undefined ? words.usage.others(groups) : words.usage.beside[only],
      ),
    [rows, show, slots],
  )
  const slotText = (ms: number): string => (range.slot === 'day' ? day(ms, 'UTC') : clock(ms))
  const sum = rows.reduce((total, row) => total + amountOf(row.total, show), 0)
  const say = words.usage
  const valueText = amountText(show)
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
        marks={isPhone ? [] : (marks ?? [])}
        zone={range.slot === 'day' ? 'UTC' : undefined}
        valueText={valueText}
        axisText={tickText(show)}
        slotText={slotText}
        {...(onSelect && {
          onSelect: (slot, at) => {
            const [atMs, name] = [slots[slot], at === undefined ? undefined : rows[at]?.name]
            if (atMs !== undefined && name !== undefined) onSelect(atMs, name)
          },
        })}
        height={isPhone ? 170 : height}
      />
      {!isPhone && <Legend entries={series} className="pt-2.5 pb-3" />}
    </div>
  )
}
