/** What is kept, for how long, and how much of it there is. */
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../api/client.ts'
import { peopleQueries } from '../../api/queries/people.ts'
import { bytes, moment, NONE, whole } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { useZone } from '../../time/zone.ts'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { words } from '../../words/words.ts'
import { SectionHead } from './section-head.tsx'

type Kept = Schema<'Settings'>['retention'][number]

const say = words.retention

export function RetentionSection() {
  useZone()
  const query = useQuery(peopleQueries.settings())
  return (
    <>
      <SectionHead title={say.title} text={say.text} />
      <DataTable
        label={say.title}
        columns={COLUMNS}
        rows={query.data?.retention}
        rowKey={({ what }) => what}
        query={query}
        fill={false}
        rowHeight={48}
        empty={<Empty title={say.empty} />}
      />
    </>
  )
}

const COLUMNS: readonly Column<Kept>[] = [
  {
    id: 'what',
    head: say.columns.what,
    cell: ({ what }) => {
      const [name, note] = say.what[what] ?? [what, '']
      return (
        <span className="block min-w-0">
          <span className="block truncate leading-5 font-strong">{name}</span>
          <span className="block truncate text-12 leading-4 text-ink-3">{note}</span>
        </span>
      )
    },
  },
  {
    id: 'days',
    head: say.columns.days,
    width: 120,
    align: 'right',
    cell: ({ days }) => <span className="text-ink-2">{days === null ? say.forEver : say.days(days)}</span>,
  },
  { id: 'rows', head: say.columns.rows, width: 120, align: 'right', cell: ({ rows }) => whole(rows) },
  { id: 'bytes', head: say.columns.bytes, width: 110, align: 'right', cell: (kept) => bytes(kept.bytes) },
  {
    id: 'next',
    head: say.columns.next,
    width: 170,
    align: 'right',
    cell: ({ next }) => (next === null ? <span className="text-ink-3">{NONE}</span> : <Next at={next} />),
  },
]

function Next({ at }: { readonly at: string }) {
  return <span className="tabular-nums text-ink-2">{moment(at, useNow())}</span>
}
