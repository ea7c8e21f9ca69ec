/** Who sends what where, as a table: the mean of the last ten seconds. */
import { count, duration, moneyInList, NONE, rate } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { Meter } from '../../charts/meter.tsx'
import type { Flow } from '../../api/queries/overview.ts'
import { upstreamOf } from '../../parts/deployments/short-names.ts'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { words } from '../../words/words.ts'

interface FlowRow extends Flow {
  /** Of the thickest. */
  readonly share: number
}

const { heads } = words.overview

const columns: readonly Column<FlowRow>[] = [
  { id: 'key', head: heads.key, width: 168, cell: (row) => <span className="font-strong">{row.key}</span> },
  { id: 'model', head: heads.model, least: 170, cell: (row) => row.model },
  {
    id: 'deployment',
    head: heads.deployment,
    cell: (row) => (row.deployment === null ? words.overview.cache : upstreamOf(row.deployment, row.model)),
  },
  {
    id: 'share',
    drop: 1,
    head: '',
    width: 60,
    cell: (row) => (
      <Meter share={row.share} colour={row.failed > 0 ? 'bad' : row.deployment === null ? 's3' : 's1'} />
    ),
  },
  { id: 'requests', head: heads.requests, width: 84, align: 'right', cell: (row) => rate(row.requests) },
  {
    id: 'failed',
    head: heads.failed,
    width: 64,
    align: 'right',
    cell: (row) => (row.failed === 0 ? NONE : <span className="text-bad">{rate(row.failed)}</span>),
  },
  { id: 'p95', head: heads.p95, width: 76, align: 'right', cell: (row) => duration(row.p95_ms) },
  {
    id: 'tokens',
    drop: 2,
    head: heads.tokens,
    width: 82,
    align: 'right',
    cell: (row) => (row.tokens === 0 ? NONE : count(Math.round(row.tokens))),
  },
  {
    id: 'usd',
    head: heads.usd,
    width: 92,
    align: 'right',
    cell: (row) => moneyInList((Number(row.usd) * 3600).toFixed(9)),
  },
]

const requestsOf = (row: FlowRow) =>
  paths.requests({
    key: row.key,
    model: row.model,
    ...(row.deployment !== null && { deployment: row.deployment }),
  })

export function FlowTable({ flows }: { readonly flows: readonly Flow[] | undefined }) {
  const most = Math.max(0.1, ...(flows ?? []).map(({ requests }) => requests))
  const rows = flows?.map((flow) => ({ ...flow, share: flow.requests / most }))
  return (
    <DataTable
      label={words.overview.traffic}
      columns={columns}
      rows={rows}
      rowKey={(row) => JSON.stringify([row.key, row.model, row.deployment])}
      href={requestsOf}
      empty={<Empty title={words.overview.quiet}>{words.overview.quietText}</Empty>}
    />
  )
}
