import { useMemo } from 'react'
import type { Histogram, RequestRow } from '../../api/queries/requests.ts'
import { requestColumns } from '../../parts/requests/columns.tsx'
import { RequestHistogram } from '../../parts/requests/request-histogram.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { words } from '../../words/words.ts'
import type { BodyProps } from './body.ts'

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
        empty={<Empty title={words.ui.nothingFound} />}
      />
    </>
  )
}
