import { useMemo } from 'react'
import type { Usage } from '../../api/queries/money.ts'
import { count, money, moneyInList, NONE, share, whole } from '../../app/format.ts'
import { nanoOf, shareOf } from '../../app/money.ts'
import { paint } from '../../charts/colours.ts'
import { groupRows, type GroupRow } from '../../parts/usage/usage-groups.ts'
import { UsageColumns } from '../../parts/usage/usage-columns.tsx'
import { usageRange } from '../../parts/usage/usage-range.ts'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Figures } from '../../ui/figures.tsx'
import { words } from '../../words/words.ts'
import type { BodyProps } from './body.ts'

const phoneRow = (row: GroupRow) => (
  <PhoneRow
    title={nameOf(row)}
    end={moneyInList(row.total.usd)}
    note={words.requests.inRange(whole(row.total.requests))}
  />
)

function nameOf({ name, groups, beside }: GroupRow): string {
  return name ?? (beside === undefined ? words.usage.others(groups) : words.usage.beside[beside])
}

export function UsageBody({ content, atMs }: BodyProps) {
  const usage = content['usage'] as Usage
  const rows = useMemo(() => groupRows(usage, 'usd'), [usage])
  const range = usageRange({ from: usage.from, to: usage.to }, atMs, 'UTC')
  const columns = useMemo(() => columnsFor(usage.total.usd), [usage])
  const { total } = usage
  const say = words.snapshots.page
  return (
    <>
      <Figures
        size="headline"
        className="px-6 pt-4 pb-3 phone:px-4"
        figures={[
          { name: say.spent, value: money(total.usd) },
          { name: say.saved, value: money(total.saved_usd) },
          { name: say.requests, value: whole(total.requests) },
          { name: say.tokens, value: count(total.tokens) },
          { name: say.images, value: whole(total.images) },
        ]}
      />
      <UsageColumns rows={rows} range={range} show="usd" />
      <DataTable
        label={words.places.usage}
        columns={columns}
        rows={rows}
        rowKey={({ name, beside }) => name ?? beside ?? 'others'}
        fill={false}
        phoneRow={phoneRow}
        rowHeight={36}
        empty={<Empty title={words.usage.captionNothing} />}
      />
    </>
  )
}

function columnsFor(totalUsd: string): readonly Column<GroupRow>[] {
  const say = words.snapshots.page
  return [
    {
      id: 'group',
      head: say.group,
      least: 140,
      cell: (row) => (
        <span className="flex min-w-0 items-center gap-2">
          <span
            aria-hidden
            className="size-2.5 shrink-0 rounded-[2px]"
            style={{ background: paint(row.colour) }}
          />
          <span className="truncate font-strong">{nameOf(row)}</span>
        </span>
      ),
    },
    {
      id: 'requests',
      head: say.requests,
      width: 110,
      align: 'right',
      cell: ({ total }) => whole(total.requests),
    },
    {
      id: 'tokens',
      drop: 1,
      head: say.tokens,
      width: 100,
      align: 'right',
      cell: ({ total }) => (total.tokens === 0 ? NONE : count(total.tokens)),
    },
    {
      id: 'images',
      drop: 2,
      head: say.images,
      width: 90,
      align: 'right',
      cell: ({ total }) => (total.images === 0 ? NONE : whole(total.images)),
    },
    { id: 'cost', head: say.cost, width: 120, align: 'right', cell: ({ total }) => moneyInList(total.usd) },
    {
      id: 'share',
      head: say.share,
      width: 80,
      align: 'right',
      cell: ({ total }) => share(shareOf(total.usd, nanoOf(totalUsd))),
    },
  ]
}
