/** Who spends what. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { nowMs } from '../../time/now.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import { RangeControl } from '../../app/range-control.tsx'
import { useZone } from '../../time/zone.ts'
import { moneyQueries, type Usage } from '../../api/queries/money.ts'
import { money } from '../../app/format.ts'
import { USAGE_GROUPS, type UsageGroup } from '../../api/usage-groups.ts'
import { Banner } from '../../ui/banner.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { STALE } from '../../ui/loading.tsx'
import { usePhone } from '../../ui/media.ts'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Switch } from '../../ui/switch.tsx'
import { words } from '../../words/words.ts'
import { ExportMenu } from './export-menu.tsx'
import { groupText, onlyWith } from './group-text.ts'
import { OnlyChips } from './only-chips.tsx'
import { UsageChart } from './usage-chart.tsx'
import { UsageFigures } from './usage-figures.tsx'
import { amountOf, groupRows, SHOWS } from '../../parts/usage/usage-groups.ts'
import { usageRange, type UsageRange } from '../../parts/usage/usage-range.ts'
import { TagMenu } from './tag-menu.tsx'
import { UsageTable } from './usage-table.tsx'
import { usage as place } from './place.ts'

/** Rows of the table; all others are one. */
const MOST_ROWS = 100

export function UsagePage() {
  const search = place.useSearch()
  const change = useChangeSearch<SearchOf<typeof place>>()
  const isPhone = usePhone()
  useZone()
  const { by = 'model', show = 'usd', only = [], before = false, project } = search
  const { since, from, to } = search
  // The range moves on when it is asked for anew, not with every drawing.
  const range = useMemo(() => usageRange({ since, from, to }, nowMs()), [since, from, to])
  const span = isoSpan(range)
  const question = { by, only, project, ...span, before: true, groups: MOST_ROWS }
  const usage = useQuery(moneyQueries.usage(question))
  const rows = useMemo(() => (usage.data ? groupRows(usage.data, show) : undefined), [usage.data, show])
  const say = words.usage
  const group = (next: UsageGroup): void =>
    change({ by: next === 'model' ? undefined : next, only: onlyWith(next, only) })
  const groupControl = (
    <span className="inline-flex flex-wrap items-center gap-2">
      <Segmented
        label={say.by}
        segments={USAGE_GROUPS.map((value) => ({ value, label: say.groups[value] }))}
        value={USAGE_GROUPS.find((group) => group === by)}
        onChange={group}
      />
      <TagMenu by={by} keys={usage.data?.tag_keys ?? []} onChange={group} />
    </span>
  )
  return (
    <Page
      title={words.places.usage}
      actions={
        <>
          {!isPhone && <CopyButton text={() => location.href} label={words.ui.copyLink} />}
          {!isPhone && <ExportMenu by={by} only={only} project={project} {...span} />}
          <RangeControl search={search} usual="30d" bare={isPhone} />
        </>
      }
      {...(!isPhone && {
        bar: (
          <>
            <span className="text-12 text-ink-2">{say.by}</span>
            {groupControl}
            <span className="ml-2 text-12 text-ink-2">{say.show}</span>
            <Segmented
              label={say.show}
              segments={SHOWS.map((value) => ({ value, label: say.shows[value] }))}
              value={show}
              onChange={(next) => change({ show: next === 'usd' ? undefined : next })}
            />
            <OnlyChips by={by} only={only} rows={rows} onChange={(next) => change({ only: next })} />
            <span className="ml-auto text-12 text-ink-2">
              <Switch checked={before} onChange={(next) => change({ before: next || undefined })}>
                {beforeText(range)}
              </Switch>
            </span>
          </>
        ),
      })}
    >
      <div className="border-line md:border-t">
        {usage.error !== null && usage.data === undefined ? (
          <Problem error={usage.error} retry={() => void usage.refetch()} />
        ) : (
          <>
            <div className={usage.isPlaceholderData ? STALE : undefined}>
              <UsageFigures usage={usage.data} rows={rows} range={range} beforeText={beforeText(range)} />
              <UsageChart question={question} rows={rows} range={range} show={show} withBefore={before} />
            </div>
            {isPhone && <div className="px-4 pt-4 pb-2">{groupControl}</div>}
            <Overflow usage={usage.data} by={by} />
            <UsageTable
              rows={rows}
              total={usage.data?.total}
              by={by}
              range={range}
              search={search}
              query={usage}
              share={(row) =>
                usage.data ? amountOf(row.total, show) / Math.max(amountOf(usage.data.total, show), 1e-9) : 0
              }
            />
          </>
        )}
      </div>
    </Page>
  )
}

/** Nothing is left out silently: what is not counted apart is named. */
function Overflow({ usage, by }: { readonly usage: Usage | undefined; readonly by: UsageGroup }) {
  const say = words.usage
  if (usage === undefined || (usage.overflow === null && usage.left_out_tags === null)) return null
  return (
    <div className="px-6 pb-3 phone:px-4">
      {usage.overflow !== null && (
        <Banner tone="warn">{say.overflow(money(usage.overflow.total.usd), groupText(by))}</Banner>
      )}
      {usage.left_out_tags !== null && (
        <Banner tone="warn">{say.leftOutTags(money(usage.left_out_tags.usd))}</Banner>
      )}
    </div>
  )
}

function isoSpan({ fromMs, toMs }: UsageRange): { readonly from: string; readonly to: string } {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }
}

function beforeText({ slots, slot }: UsageRange): string {
  return slot === 'day' ? words.usage.before(slots.length) : words.usage.beforeHours(slots.length)
}
