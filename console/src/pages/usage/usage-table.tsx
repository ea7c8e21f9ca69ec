/** The same numbers as rows: each opens what is behind it. */
import { useMemo } from 'react'
import { change, count, day, money, moneyExact, NONE, share as shareText } from '../../app/format.ts'
import { nanoOf } from '../../app/money.ts'
import { paths } from '../../app/paths.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import type { UsageGroup } from '../../api/usage-groups.ts'
import { Swatch } from '../../charts/legend.tsx'
import { Meter } from '../../charts/meter.tsx'
import { Button } from '../../ui/button.tsx'
import { DataTable, type Column, type Query } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import type { Address } from '../../ui/link.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import {
  averageOf,
  averageText,
  changeOf,
  hasAverage,
  type GroupRow,
  type Sum,
} from '../../parts/usage/usage-groups.ts'
import type { UsageRange } from '../../parts/usage/usage-range.ts'
import { groupText, requestFilterOf } from './group-text.ts'
import type { usage } from './place.ts'

/** A jump that is worth a look. */
const JUMP = 0.25
const SHARE_WIDTH = 84

type UsageSearch = SearchOf<typeof usage>

interface UsageTableProps {
  readonly rows: readonly GroupRow[] | undefined
  readonly total: Sum | undefined
  readonly by: UsageGroup
  readonly range: UsageRange
  readonly search: UsageSearch
  readonly query: Query
  readonly share: (row: GroupRow) => number
}

export function UsageTable(props: UsageTableProps) {
  const { rows, total, by, range, search, share } = props
  const changeSearch = useChangeSearch<UsageSearch>()
  const { show = 'usd' } = search
  const usual = `-${show}`
  const { sort = usual } = search
  const most = Math.max(0, ...(rows ?? []).map(share))
  const columns = useMemo(() => columnsOf(by, share, most), [by, share, most])
  const sorted = useMemo(() => rows && sortedRows(rows, sort), [rows, sort])
  const say = words.usage
  const empty = (
    <Empty
      title={say.nothing(day(range.fromMs, 'UTC'), day(range.toMs - 1, 'UTC'))}
      actions={
        search.since === undefined && search.from === undefined ? undefined : (
          <Button onClick={() => changeSearch({ since: undefined, from: undefined, to: undefined })}>
            {say.lookBack('30d')}
          </Button>
        )
      }
    >
      {say.nothingYet}
    </Empty>
  )
  return (
    <DataTable
      label={words.places.usage}
      columns={columns}
      rows={sorted}
      rowKey={({ name, beside }) => (name === undefined ? (beside ?? '') : `${name} `)}
      query={props.query}
      empty={empty}
      fill={false}
      rowHeight={34}
      href={(row) => hrefOf(row, by, range, search)}
      sort={sort}
      onSort={(next) => changeSearch({ sort: next === usual ? undefined : next })}
      {...(total && { foot: footOf(total) })}
      phoneRow={(row) => phoneRow(row, by)}
    />
  )
}

/** The first click narrows the page to the group, the second opens its requests. */
function hrefOf({ name }: GroupRow, by: UsageGroup, range: UsageRange, search: UsageSearch): Address {
  const { project: _, ...kept } = search
  if (name === undefined) return paths.usage({ ...kept })
  const group = `${by}:${name}`
  if (!(search.only ?? []).includes(group))
    return paths.usage({ ...kept, only: [...(search.only ?? []), group] })
  const span = { from: new Date(range.fromMs).toISOString(), to: new Date(range.toMs).toISOString() }
  return paths.requests({ ...requestFilterOf(by, name), ...span })
}

function columnsOf(
  by: UsageGroup,
  share: (row: GroupRow) => number,
  most: number,
): readonly Column<GroupRow>[] {
  const { columns } = words.usage
  return [
    { id: 'group', least: 180, head: groupText(by), cell: nameCell, sort: 'name' },
    {
      id: 'requests',
      head: <span title={columns.requestsHint}>{columns.requests}</span>,
      width: 96,
      align: 'right',
      sort: 'requests',
      cell: (row) => count(row.total.requests),
    },
    {
      id: 'tokens',
      drop: 3,
      head: columns.tokens,
      width: 92,
      align: 'right',
      sort: 'tokens',
      cell: (row) => countOrNone(row.total.tokens),
    },
    {
      id: 'images',
      drop: 2,
      head: columns.images,
      width: 100,
      align: 'right',
      sort: 'images',
      cell: (row) => countOrNone(row.total.images),
    },
    ...(hasAverage(by) ? [averageColumn()] : []),
    { id: 'change', head: columns.change, width: 97, align: 'right', sort: 'change', cell: changeCell },
    {
      id: 'usd',
      head: columns.usd,
      width: 111,
      align: 'right',
      sort: 'usd',
      cell: ({ total: { usd } }) => (
        <span className="font-strong" title={moneyExact(usd)}>
          {money(usd)}
        </span>
      ),
    },
    {
      id: 'share',
      head: <span className="pl-2.5">{columns.share}</span>,
      width: 180,
      cell: (row) => <ShareCell part={share(row)} most={most} row={row} />,
    },
  ]
}

function nameOf({ name, beside, groups }: GroupRow): string {
  return name ?? (beside === undefined ? words.usage.others(groups) : words.usage.beside[beside])
}

function nameCell(row: GroupRow) {
  return (
    <span className="flex items-center gap-2 font-strong">
      <Swatch colour={row.colour} />
      <bdi title={nameOf(row)} className="truncate">
        {nameOf(row)}
      </bdi>
    </span>
  )
}

interface ShareCellProps {
  readonly part: number
  readonly most: number
  readonly row: GroupRow
}

/** The bar of the largest is full; the figure is the share in the whole. */
function ShareCell({ part, most, row }: ShareCellProps) {
  return (
    <span className="flex items-center gap-2 pl-2.5 text-12 text-ink-2">
      <Meter share={most === 0 ? 0 : part / most} colour={row.colour} width={SHARE_WIDTH} />
      <span className="flex-1 text-right tabular-nums">{shareText(part)}</span>
    </span>
  )
}

function averageColumn(): Column<GroupRow> {
  return {
    id: 'average',
    drop: 1,
    head: words.usage.columns.average,
    width: 200,
    align: 'right',
    cell: (row) => <span className="text-ink-2">{averageCell(row)}</span>,
  }
}

/** The rest of the groups together may be of both kinds. */
function averageCell({ name, total }: GroupRow) {
  if (name === undefined) return NONE
  const average = averageOf(total)
  const say = words.usage
  switch (average.kind) {
    case 'picture':
      return `${averageText(average.usd)} ${say.picture}`
    case 'tokens':
      return `${averageText(average.usd)} ${say.million}`
    case 'free':
      return say.free
    case 'unpriced':
      return <Tag tone="warn">{words.ui.unpriced}</Tag>
    case 'none':
      return NONE
  }
}

function changeCell({ total, before }: GroupRow) {
  const by = changeOf(total.usd, before?.usd)
  return <span className={by !== undefined && by > JUMP ? 'text-warn' : 'text-ink-2'}>{change(by)}</span>
}

function phoneRow(row: GroupRow, by: UsageGroup) {
  return (
    <span className="flex items-start gap-2.5 py-2">
      <span className="pt-1.5">
        <Swatch colour={row.colour} />
      </span>
      <span className="min-w-0 flex-1">
        <span className="block truncate font-strong">{nameOf(row)}</span>
        <span className="block text-12 text-ink-2">
          {hasAverage(by) ? averageCell(row) : words.usage.requestsOf(row.total.requests)}
        </span>
      </span>
      <span className="text-right tabular-nums">
        <span className="block font-strong">{money(row.total.usd)}</span>
        <span className="block text-12">{changeCell(row)}</span>
      </span>
    </span>
  )
}

function footOf(total: Sum): Readonly<Record<string, React.ReactNode>> {
  return {
    group: words.usage.sum,
    requests: count(total.requests),
    tokens: countOrNone(total.tokens),
    images: countOrNone(total.images),
    usd: money(total.usd),
  }
}

function countOrNone(value: number): string {
  return value === 0 ? NONE : count(value)
}

function sortedRows(rows: readonly GroupRow[], sort: string): readonly GroupRow[] {
  const [isDown, by] = sort.startsWith('-') ? [true, sort.slice(1)] : [false, sort]
  const order = (left: GroupRow, right: GroupRow): number => {
    switch (by) {
      case 'requests':
      case 'tokens':
      case 'images':
        return left.total[by] - right.total[by]
      case 'change':
        return (
          (changeOf(left.total.usd, left.before?.usd) ?? 0) -
          (changeOf(right.total.usd, right.before?.usd) ?? 0)
        )
      case 'name':
        return (left.name ?? '').localeCompare(right.name ?? '')
      default: {
        const difference = nanoOf(left.total.usd) - nanoOf(right.total.usd)
        return difference === 0n ? 0 : difference > 0n ? 1 : -1
      }
    }
  }
  // What is not told apart stands last, however large it is together.
  const named = rows.filter(({ name }) => name !== undefined).toSorted(order)
  return [...(isDown ? named.toReversed() : named), ...rows.filter(({ name }) => name === undefined)]
}
