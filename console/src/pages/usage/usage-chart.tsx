/** What was used in each hour or day, by group, with what happened on the way. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { paths } from '../../app/paths.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import { moneyQueries, type UsageQuestion } from '../../api/queries/money.ts'
import { UsageColumns } from '../../parts/usage/usage-columns.tsx'
import { amountOf, type GroupRow, type Show } from '../../parts/usage/usage-groups.ts'
import type { UsageRange } from '../../parts/usage/usage-range.ts'
import { requestFilterOf } from './group-text.ts'
import { useMarks } from './marks.ts'
import type { usage } from './place.ts'

interface UsageChartProps {
  readonly question: UsageQuestion
  readonly rows: readonly GroupRow[] | undefined
  readonly range: UsageRange
  readonly show: Show
  readonly withBefore: boolean
}

export function UsageChart({ question, rows = NO_ROWS, range, show, withBefore }: UsageChartProps) {
  const change = useChangeSearch<SearchOf<typeof usage>>()
  const navigate = useNavigate()
  const before = useBefore(question, range, show, withBefore)
  const marks = useMarks(range, question.project)
  const select = (atMs: number, name: string): void => {
    const group = `${question.by}:${name}`
    // The first click narrows the page, the second opens the rows behind the column.
    if (!question.only.includes(group)) return change({ only: [group] })
    void navigate(
      paths.requests({
        ...requestFilterOf(question.by, name),
        from: new Date(atMs).toISOString(),
        to: new Date(atMs + range.slotMs).toISOString(),
      }),
    )
  }
  return (
    <UsageColumns rows={rows} range={range} show={show} before={before} marks={marks} onSelect={select} />
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
    const beside = [data.others, data.overflow, data.none].filter((one) => one !== null)
    for (const row of [...data.data, ...beside])
      for (const slot of row.slots) {
        const index = Math.round((Date.parse(slot.at) - startMs) / slotMs)
        if (index in values) values[index] = (values[index] ?? 0) + amountOf(slot, show)
      }
    return values
  }, [data, enabled, show, fromMs, toMs, slots])
}
