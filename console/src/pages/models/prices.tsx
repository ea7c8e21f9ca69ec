/** What each deployment of a model charges. */
import type { Schema } from '../../api/client.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'

type Model = Schema<'ModelDetail'>
interface Row {
  readonly key: string
  readonly deployment: string
  readonly price: Schema<'PriceText'>
}

const UNITS: Record<Schema<'PriceText'>['unit'], string> = {
  'million tokens': words.models.perTokens,
  'million input tokens': words.models.perTokens,
  'million output tokens': words.models.perTokens,
  image: words.models.perImage,
  megapixel: words.models.perMegapixel,
  free: '',
  unpriced: '',
}

const { priceColumns: heads } = words.models.detail

const COLUMNS: readonly Column<Row>[] = [
  { id: 'deployment', head: heads.deployment, cell: ({ deployment }) => deployment },
  {
    id: 'price',
    head: heads.price,
    width: 110,
    align: 'right',
    className: 'tabular-nums',
    cell: ({ price }) =>
      price.unit === 'unpriced' ? (
        <Tag tone="warn">{words.ui.unpriced}</Tag>
      ) : price.unit === 'free' ? (
        words.models.free
      ) : (
        price.amount
      ),
  },
  { id: 'unit', head: heads.unit, width: 120, cell: ({ price }) => UNITS[price.unit] },
  {
    id: 'note',
    head: heads.note,
    least: 120,
    cell: ({ price }) => <span className="text-ink-3">{price.note}</span>,
  },
]

export function Prices({ model }: { readonly model: Model }) {
  const may = useMay()
  const rows = model.deployments.flatMap(({ id }) =>
    (model.prices[id] ?? []).map((price, at) => ({ key: `${id} ${at}`, deployment: id, price })),
  )
  return (
    <>
      <DataTable
        label={words.models.detail.tabs.prices}
        columns={COLUMNS}
        rows={rows}
        rowKey={({ key }) => key}
        empty={null}
        fill={false}
      />
      {may('prices.read') && (
        <div className="px-6 py-4 phone:px-4">
          <ButtonLink to={paths.settings('prices')}>{words.models.detail.editPrices}</ButtonLink>
        </div>
      )}
    </>
  )
}
