/** What one key or one deployment used and spent over time. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { moneyQueries } from '../../api/queries/money.ts'
import { count, money } from '../../app/format.ts'
import { nowMs } from '../../time/now.ts'
import { paths } from '../../app/paths.ts'
import type { UsageGroup } from '../../api/usage-groups.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { RangeControl } from '../../app/range-control.tsx'
import type { RangeSearch } from '../../time/range.ts'
import { useZone } from '../../time/zone.ts'
import { Empty } from '../../ui/empty.tsx'
import { Figures } from '../../ui/figures.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { UsageColumns } from './usage-columns.tsx'
import { groupRows, SHOWS, type Show } from './usage-groups.ts'
import { usageRange } from './usage-range.ts'

/** Groups that are told apart; the picture has six colours. */
const MOST_GROUPS = 20

interface UsageOfProps {
  readonly of: { readonly [Group in UsageGroup]?: string }
  /** The groups of the picture. */
  readonly by: UsageGroup
  readonly search: RangeSearch & { readonly show?: Show | undefined }
}

export function UsageOf({ of, by, search }: UsageOfProps) {
  const change = useChangeSearch<UsageOfProps['search']>()
  useZone()
  const { since, from, to, show = 'usd' } = search
  const range = useMemo(() => usageRange({ since, from, to }, nowMs()), [since, from, to])
  const only = Object.entries(of).map(([group, name]) => `${group}:${name}`)
  const usage = useQuery(
    moneyQueries.usage({
      by,
      only,
      from: new Date(range.fromMs).toISOString(),
      to: new Date(range.toMs).toISOString(),
      project: undefined,
      before: false,
      groups: MOST_GROUPS,
    }),
  )
  const rows = useMemo(() => (usage.data ? groupRows(usage.data, show) : []), [usage.data, show])
  const say = words.usage
  if (usage.data === undefined)
    return usage.error === null ? null : <Problem error={usage.error} retry={() => void usage.refetch()} />
  const { total } = usage.data
  return (
    <section className="flex flex-col gap-4 pt-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-6 phone:px-4">
        <Segmented
          label={say.show}
          segments={SHOWS.map((value) => ({ value, label: say.shows[value] }))}
          value={show}
          onChange={(next) => change({ show: next === 'usd' ? undefined : next })}
        />
        <TextLink to={paths.usage({ by, only, since, from, to })}>{say.openInUsage}</TextLink>
        <span className="ml-auto">
          <RangeControl search={search} usual="30d" bare />
        </span>
      </div>
      <Figures
        className="px-6 phone:px-4"
        figures={[
          { name: say.spent, value: money(total.usd) },
          { name: say.columns.requests, value: count(total.requests) },
          { name: say.columns.tokens, value: count(total.tokens) },
          { name: say.columns.images, value: count(total.images) },
          { name: say.saved, value: money(total.saved_usd) },
        ]}
      />
      {total.requests === 0 ? (
        <Empty title={say.captionNothing}>{say.nothingYet}</Empty>
      ) : (
        <UsageColumns rows={rows} range={range} show={show} height={220} />
      )}
    </section>
  )
}
