import type { Schema } from '../../api/client.ts'
import { money, share } from '../../app/format.ts'
import { nanoOf, shareOf } from '../../app/money.ts'
import { Meter } from '../../charts/meter.tsx'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { Empty } from '../../ui/empty.tsx'
import { words } from '../../words/words.ts'
import type { BodyProps } from './body.ts'

type Standing = Schema<'BudgetList'>['data'][number]

const say = words.snapshots.page

const full = ({ spent_usd: spent, limit_usd: limit }: Standing): number => shareOf(spent, nanoOf(limit)) ?? 0

const COLUMNS: readonly Column<Standing>[] = [
  {
    id: 'budget',
    head: say.budget,
    least: 160,
    cell: ({ name, scope }) => (
      <span className="flex min-w-0 items-baseline gap-2">
        <span className="truncate font-strong">{name}</span>
        <span className="text-12 text-ink-3">{words.budgets.scope[scope]}</span>
      </span>
    ),
  },
  {
    id: 'bar',
    drop: 1,
    head: '',
    width: 180,
    cell: (budget) => <Meter share={full(budget)} colour={full(budget) >= 1 ? 'bad' : 's1'} />,
  },
  { id: 'share', head: say.used, width: 80, align: 'right', cell: (budget) => share(full(budget), 0) },
  { id: 'spent', head: say.spent, width: 120, align: 'right', cell: ({ spent_usd: spent }) => money(spent) },
  {
    id: 'limit',
    head: say.of,
    width: 220,
    align: 'right',
    cell: ({ limit_usd: limit, per, hard }) =>
      `${money(limit)} ${words.budgets.per[per]}${hard ? words.budgets.hard : ''}`,
  },
]

const phoneRow = (budget: Standing) => (
  <PhoneRow
    title={budget.name}
    end={share(full(budget), 0)}
    note={words.budgets.of(money(budget.spent_usd), money(budget.limit_usd))}
  />
)

export function BudgetsBody({ content }: BodyProps) {
  const { data } = content['budgets'] as Schema<'BudgetList'>
  return (
    <DataTable
      label={words.places.budgets}
      columns={COLUMNS}
      rows={data}
      rowKey={({ id }) => id}
      rowHeight={40}
      fill={false}
      phoneRow={phoneRow}
      empty={<Empty title={say.noBudgets} />}
    />
  )
}
