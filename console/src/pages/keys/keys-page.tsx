import { useInfiniteQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { keyQueries } from '../../api/queries/keys.ts'
import { useChangeSearch, useOpened } from '../../app/change-search.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { paths } from '../../app/paths.ts'
import type { SearchOf } from '../../app/place.ts'
import { useMay } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Page } from '../../ui/page.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { columns, type Key } from './columns.tsx'
import { phoneRow } from './phone-row.tsx'
import type { Once } from './once-dialog.tsx'
import { keys as place } from './place.ts'

/** Others than by id. Each has one direction: the one that somebody looks for. */
const ORDERS = ['-used', 'ends'] as const
const KeySheet = lazyPart(async () => (await import('./key-sheet.tsx')).KeySheet)
const OnceDialog = lazyPart(async () => (await import('./once-dialog.tsx')).OnceDialog)

const STATES = ['active', 'ending', 'tidy', 'revoked'] as const

export function KeysPage() {
  const search = place.useSearch()
  const { q = '', state = 'active', project, sort } = search
  const list = useInfiniteQuery(keyQueries.list({ project, q: search.q, state, sort }))
  const change = useChangeSearch<SearchOf<typeof place>>()
  const may = useMay()
  const [once, setOnce] = useState<Once>()
  const [isNew, setNew] = useOpened('new', search.new)
  const pages = list.data?.pages
  const counts = pages?.at(-1)?.counts
  const newKey = may('keys.create') ? (
    <Button look="primary" icon={<Plus size={15} aria-hidden />} onClick={() => setNew(true)}>
      {words.keys.new}
    </Button>
  ) : undefined
  return (
    <Page
      title={words.places.keys}
      fill
      actions={newKey}
      bar={
        <>
          <SearchField
            label={words.keys.search}
            value={q}
            onChange={(next) => change({ q: next === '' ? undefined : next }, { replace: true })}
          />
          <Segmented
            label={words.keys.stateOf}
            segments={STATES.map((one) => ({
              value: one,
              label: words.keys.states[one],
              ...(counts && { count: counts[one] }),
            }))}
            value={state}
            onChange={(next) => change({ state: next === 'active' ? undefined : next })}
          />
        </>
      }
    >
      <DataTable<Key>
        label={words.places.keys}
        columns={columns}
        rows={pages?.flatMap(({ data }) => data)}
        rowKey={({ id }) => id}
        rowHeight={40}
        href={({ id }) => paths.key(id)}
        query={list}
        selected={once?.key.id}
        sort={sort ?? 'id'}
        onSort={(next) => change({ sort: ORDERS.find((one) => one.endsWith(next.replace('-', ''))) })}
        phoneRow={phoneRow}
        empty={
          <NoKeys
            state={state}
            q={q}
            clear={() => change({ q: undefined, state: undefined })}
            action={newKey}
          />
        }
      />
      {isNew && may('keys.create') && (
        <KeySheet
          project={project}
          onClose={() => setNew(false)}
          onMade={(made) => {
            setOnce(made)
            setNew(false)
          }}
        />
      )}
      {once && <OnceDialog once={once} onClose={() => setOnce(undefined)} />}
    </Page>
  )
}

interface NoKeysProps {
  readonly state: (typeof STATES)[number]
  readonly q: string
  readonly clear: () => void
  readonly action: React.ReactNode
}

function NoKeys({ state, q, clear, action }: NoKeysProps) {
  if (state !== 'active' || q !== '')
    return (
      <Empty
        title={words.keys.emptyFilter(words.keys.states[state], q)}
        actions={<Button onClick={clear}>{words.ui.clearFilters}</Button>}
      />
    )
  return (
    <Empty
      title={words.keys.empty}
      actions={action}
      shell="torana keys create search/website --requests-per-minute 600 --budget 20 --hard"
    >
      {words.keys.emptyText}
    </Empty>
  )
}
