import { useMemo } from 'react'
import type { Histogram, RequestRow } from '../../api/queries/requests.ts'
import { clockSeconds, duration, moneyInList } from '../../app/format.ts'
import { OUTCOME_MARK } from '../../parts/requests/outcome.tsx'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { requestColumns } from '../../parts/requests/columns.tsx'
import { RequestHistogram } from '../../parts/requests/request-histogram.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { words } from '../../words/words.ts'
import type { BodyProps } from './body.ts'

const phoneRow = (row: RequestRow) => (
  <PhoneRow
    mark={<StateMark mark={OUTCOME_MARK[row.outcome]} size={10} />}
    title={row.model ?? words.requests.outcomes[row.outcome]}
    end={duration(row.duration_ms)}
    note={`${clockSeconds(row.at)} ${row.key ?? ''}`}
    endNote={row.unpriced ? words.ui.unpriced : moneyInList(row.cost_usd)}
  />
)

export function RequestsBody({ content }: BodyProps) {
  const { data: rows, has_more: hasMore } = content['requests'] as {
    readonly data: readonly RequestRow[]
    readonly has_more: boolean
  }
  const histogram = content['histogram'] as Histogram
  const columns = useMemo(() => requestColumns(words.shell.utc), [])
  const say = words.snapshots.page
  return (
    <>
      <p className="px-6 pt-3 text-12 text-ink-2 phone:px-4">
        {words.requests.inRange(String(histogram.total))}
        {hasMore && `, ${say.rows(rows.length)}`}
      </p>
      <RequestHistogram histogram={histogram} error={undefined} marked={undefined} />
      <DataTable
        label={words.places.requests}
        columns={columns}
        rows={rows}
        rowKey={({ id }) => id}
        rowHeight={31}
        fill={false}
        phoneRow={phoneRow}
        empty={<Empty title={words.ui.nothingFound} />}
      />
    </>
  )
}
