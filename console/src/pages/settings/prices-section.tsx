/** What each deployment costs and who says so, those without a price first. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { day } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { moneyQueries } from '../../api/queries/money.ts'
import { Button } from '../../ui/button.tsx'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { TextLink } from '../../ui/link.tsx'
import { LockTag, Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import { SectionHead } from './section-head.tsx'
import { PriceSheet, type Price } from './price-sheet.tsx'

export function PricesSection() {
  const query = useQuery(moneyQueries.prices())
  const [changing, setChanging] = useState<Price>()
  const may = useMay()
  const mayWrite = may('prices.write')
  const columns = useMemo(() => columnsFor(setChanging, mayWrite), [mayWrite])
  const say = words.prices
  return (
    <>
      <SectionHead title={say.title} text={say.text} />
      <DataTable
        label={say.title}
        columns={columns}
        rows={query.data?.data}
        rowKey={({ deployment }) => deployment}
        query={query}
        fill={false}
        rowHeight={36}
        phoneRow={phoneRowFor(setChanging, mayWrite)}
        empty={<Empty title={say.empty} />}
      />
      {changing && (
        <PriceSheet key={changing.deployment} price={changing} onClose={() => setChanging(undefined)} />
      )}
    </>
  )
}

function columnsFor(change: (price: Price) => void, mayWrite: boolean): readonly Column<Price>[] {
  const say = words.prices
  return [
    {
      id: 'deployment',
      least: 210,
      head: say.columns.deployment,
      cell: ({ deployment, model }) => (
        <TextLink to={paths.model(model, { tab: 'prices' })} className="font-strong text-ink!">
          {deployment}
        </TextLink>
      ),
    },
    { id: 'price', head: say.columns.price, width: 210, cell: priceCell },
    { id: 'from', head: say.columns.from, cell: fromCell },
    {
      id: 'unpriced',
      head: say.columns.unpriced,
      width: 140,
      align: 'right',
      cell: ({ unpriced_requests_30d: calls }) =>
        calls === 0 ? (
          <span className="text-ink-3">0</span>
        ) : (
          <span className="text-warn">{say.calls(calls)}</span>
        ),
    },
    {
      id: 'action',
      head: say.columns.action,
      width: 100,
      align: 'right',
      cell: (price) => <ChangeButton price={price} change={change} mayWrite={mayWrite} />,
    },
  ]
}

function phoneRowFor(change: (price: Price) => void, mayWrite: boolean) {
  return (price: Price) => (
    <PhoneRow
      title={price.deployment}
      note={priceCell(price)}
      endNote={fromCell(price)}
      action={<ChangeButton price={price} change={change} mayWrite={mayWrite} />}
    />
  )
}

interface ChangeButtonProps {
  readonly price: Price
  readonly change: (price: Price) => void
  readonly mayWrite: boolean
}

function ChangeButton({ price, change, mayWrite }: ChangeButtonProps) {
  const say = words.prices
  const inFile = price.from === 'configuration' ? say.inFile(price.managed_at ?? 'torana.yaml') : undefined
  return (
    <Button
      size="small"
      className="relative"
      why={inFile ?? (mayWrite ? undefined : say.forbidden)}
      onClick={() => change(price)}
    >
      {price.from === 'none' ? say.set : say.change}
    </Button>
  )
}

export function priceWords({ text }: Pick<Price, 'text'>): string {
  const { units } = words.prices
  return text
    .map(({ amount, unit, note }) => {
      const one = unit === 'free' || unit === 'unpriced' ? units[unit] : `$${amount} ${units[unit]}`
      return note === null ? one : `${one}, ${note}`
    })
    .join(' · ')
}

function priceCell(price: Price) {
  if (price.text[0]?.unit === 'unpriced') return <Tag tone="warn">{words.ui.unpriced}</Tag>
  const shown = priceWords(price)
  return <span title={shown}>{shown}</span>
}

function fromCell({ from, managed_at: at, as_of: asOf, set_by: by, source }: Price) {
  const say = words.prices.from
  switch (from) {
    case 'configuration':
      return <LockTag at={at ?? say.configuration} />
    case 'store':
      return <span className="text-ink-2">{say.store(by ?? '', asOf === null ? '' : day(asOf, 'UTC'))}</span>
    case 'catalog':
      return (
        <span className="text-ink-2" title={source ?? undefined}>
          {asOf === null ? say.builtIn : say.catalog(asOf)}
        </span>
      )
    case 'none':
      return <span className="text-warn">{say.none}</span>
  }
}
