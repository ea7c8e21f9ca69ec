/** How far is the bulk work? All batches, newest first, as they are now. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { batchQueries, putBatch, type Batch, type BatchState } from '../../api/queries/batches.ts'
import { paths } from '../../app/paths.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import { useMay } from '../../app/session.ts'
import { useStream, useStreamState } from '../../app/stream.ts'
import { Button, ButtonLink, type ButtonLook } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { LiveMark } from '../../ui/live-mark.tsx'
import { Page } from '../../ui/page.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { columns, phoneRow } from './columns.tsx'
import { batches as place } from './place.ts'

const STATES = ['open', 'completed', 'expired', 'cancelled', 'failed'] as const

export function BatchesPage() {
  const { state, project } = place.useSearch()
  const change = useChangeSearch<SearchOf<typeof place>>()
  const list = useInfiniteQuery(batchQueries.list(state, project))
  const queries = useQueryClient()
  useStream<Batch>('batch', (batch) => putBatch(queries, batch), { filters: { project } })
  const stream = useStreamState()
  const say = words.batches
  return (
    <Page
      title={words.places.batches}
      fill
      actions={
        <>
          <LiveMark state={stream} />
          <NewBatch />
        </>
      }
      bar={
        <Segmented
          label={say.filter}
          segments={[
            { value: 'all', label: say.all },
            ...STATES.map((one) => ({ value: one, label: labelOf(one) })),
          ]}
          value={state ?? 'all'}
          onChange={(next) => change({ state: next === 'all' ? undefined : next })}
        />
      }
    >
      <DataTable<Batch>
        label={words.places.batches}
        columns={columns}
        rows={list.data?.pages.flatMap(({ data }) => data)}
        rowKey={({ id }) => id}
        rowHeight={46}
        href={({ id }) => paths.batch(id)}
        query={list}
        phoneRow={phoneRow}
        empty={<NoBatches state={state} clear={() => change({ state: undefined })} />}
      />
    </Page>
  )
}

function labelOf(state: 'open' | BatchState): string {
  return state === 'open' ? words.batches.open : words.batches.states[state]
}

/** The page has one primary button, that of its head. */
function NewBatch({ look = 'primary' }: { readonly look?: ButtonLook }) {
  const may = useMay()
  const say = words.batches
  const icon = <Plus size={14} aria-hidden />
  if (!may('batches.create'))
    return (
      <Button look={look} icon={icon} why={say.newForbidden}>
        {say.new}
      </Button>
    )
  return (
    <ButtonLink to={paths.newBatch()} look={look} icon={icon}>
      {say.new}
    </ButtonLink>
  )
}

const SHELL = 'torana batch run corpus.jsonl --model text-embedding-3-small --out vectors.jsonl'

function NoBatches({
  state,
  clear,
}: {
  readonly state: 'open' | BatchState | undefined
  readonly clear: () => void
}) {
  const say = words.batches
  if (state !== undefined)
    return (
      <Empty
        title={say.emptyFilter(labelOf(state))}
        actions={<Button onClick={clear}>{words.ui.clearFilters}</Button>}
      />
    )
  return (
    <Empty title={say.empty} shell={SHELL} actions={<NewBatch look="plain" />}>
      {say.emptyText}
    </Empty>
  )
}
