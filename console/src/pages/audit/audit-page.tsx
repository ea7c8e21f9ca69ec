import { useInfiniteQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import { apiUrl, type Schema } from '../../api/client.ts'
import { keyQueries, type AuditListFilter } from '../../api/queries/keys.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { moment, whole } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { paths } from '../../app/paths.ts'
import type { SearchOf } from '../../app/place.ts'
import { stringifySearch } from '../../app/search.ts'
import { useMay } from '../../app/session.ts'
import { Banner } from '../../ui/banner.tsx'
import { ButtonLink, buttonClasses } from '../../ui/button.tsx'
import { CopyIconButton } from '../../ui/copy.tsx'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { FilterChip } from '../../ui/filter-chip.tsx'
import { TextLink } from '../../ui/link.tsx'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { Page } from '../../ui/page.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { inShort } from './changes.ts'
import { EntryPanel } from './entry-panel.tsx'
import { targetPath } from './target.ts'
import { audit as place } from './place.ts'

type Entry = Schema<'AuditEntry'>

export function AuditPage() {
  const { actor, action, target, from, to, open } = place.useSearch()
  const filter = { actor, action, target, from, to }
  const list = useInfiniteQuery(keyQueries.audit(filter))
  const change = useChangeSearch<SearchOf<typeof place>>()
  const may = useMay()
  const narrow = useCallback((next: AuditListFilter): void => change({ ...next, open: undefined }), [change])
  const columns = useMemo(() => columnsFor(narrow), [narrow])
  const pages = list.data?.pages
  const rows = pages?.flatMap(({ data }) => data)
  const opened = rows?.findIndex(({ sequence }) => String(sequence) === open) ?? -1
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return (
    <Page
      title={words.places.audit}
      fill
      actions={
        may('audit.export') && (
          <a
            href={apiUrl(`/api/v1/audit/export${stringifySearch(filter)}`)}
            download
            className={buttonClasses('plain')}
          >
            <Download size={15} aria-hidden />
            {words.audit.export}
          </a>
        )
      }
      bar={<Filter filter={filter} rows={rows ?? []} onChange={narrow} />}
      sideWidth={424}
      side={
        opened < 0 || rows === undefined ? undefined : (
          <EntryPanel
            entry={rows[opened] as Entry}
            before={isFiltered ? undefined : rows[opened + 1]}
            onClose={() => change({ open: undefined }, { replace: true })}
          />
        )
      }
    >
      <Chain chain={pages?.[0]?.chain} />
      <DataTable<Entry>
        label={words.places.audit}
        columns={columns}
        rows={rows}
        rowKey={({ sequence }) => String(sequence)}
        rowHeight={32}
        query={list}
        selected={open}
        href={({ sequence }) => paths.audit({ ...filter, open: String(sequence) })}
        onPeek={({ sequence }) => change({ open: String(sequence) }, { replace: true })}
        phoneRow={phoneRow}
        empty={
          isFiltered ? (
            <Empty
              title={words.audit.emptyFilter}
              actions={<ButtonLink to={paths.audit()}>{words.ui.clearFilters}</ButtonLink>}
            />
          ) : (
            <Empty title={words.audit.empty}>{words.audit.emptyText}</Empty>
          )
        }
      />
    </Page>
  )
}

function Chain({ chain }: { readonly chain: Schema<'AuditChain'> | undefined }) {
  if (chain === undefined || chain.entries === 0) return null
  const { entries, verified, last_hash: hash } = chain
  if (chain.broken_at !== null)
    return (
      <Banner tone="bad" title={words.audit.chainBroken(whole(chain.broken_at))}>
        {words.audit.chainBrokenText}
      </Banner>
    )
  return (
    <p className="flex h-8 shrink-0 items-center gap-2 px-6 text-12 text-ink-2 phone:px-4">
      <StateMark mark="good" word={words.audit.intact} />
      {verified < entries
        ? words.audit.chainChecking(whole(verified), whole(entries))
        : words.audit.chain(whole(entries))}
      <span className="mono-12 text-ink">
        {hash.slice(0, 4)}…{hash.slice(-4)}
      </span>
      <CopyIconButton text={hash} />
    </p>
  )
}

interface FilterProps {
  readonly filter: AuditListFilter
  readonly rows: readonly Entry[]
  readonly onChange: (change: AuditListFilter) => void
}

function Filter({ filter, rows, onChange }: FilterProps) {
  const { actor, action, target } = filter
  const values = (of: (entry: Entry) => string, chosen: string | undefined) =>
    [...new Set([...(chosen === undefined ? [] : [chosen]), ...rows.map(of)])].slice(0, 50)
  return (
    <>
      <FilterChip
        label={words.audit.filters.actor}
        options={values((entry) => entry.actor, actor).map((value) => ({ value, label: value }))}
        value={actor}
        onChange={(next) => onChange({ actor: next })}
      />
      <FilterChip
        label={words.audit.filters.action}
        options={Object.entries(words.audit.actions).map(([value, label]) => ({ value, label }))}
        value={action}
        onChange={(next) => onChange({ action: next })}
      />
      <FilterChip
        label={words.audit.filters.target}
        options={values((entry) => entry.target, target).map((value) => ({ value, label: value }))}
        value={target}
        onChange={(next) => onChange({ target: next })}
      />
    </>
  )
}

function columnsFor(filter: (change: AuditListFilter) => void): readonly Column<Entry>[] {
  const { columns } = words.audit
  const cell = (label: string, change: AuditListFilter) => (
    <button
      type="button"
      className="relative truncate text-left hover:underline"
      onClick={(event) => {
        event.preventDefault()
        event.stopPropagation()
        filter(change)
      }}
    >
      {label}
    </button>
  )
  return [
    { id: 'time', head: columns.time, width: 126, cell: ({ at }) => <Time at={at} /> },
    { id: 'actor', drop: 3, head: columns.actor, width: 190, cell: ({ actor }) => cell(actor, { actor }) },
    {
      id: 'action',
      head: columns.action,
      width: 170,
      cell: ({ action }) => cell(words.audit.actions[action] ?? action, { action }),
    },
    { id: 'target', head: columns.target, width: 220, cell: (entry) => <Target entry={entry} /> },
    {
      id: 'changed',
      drop: 1,
      head: columns.changed,
      cell: ({ detail }) => <span className="block truncate text-ink-2">{inShort(detail)}</span>,
    },
    {
      id: 'chain',
      drop: 2,
      head: columns.chain,
      width: 64,
      cell: ({ intact }) => (
        <StateMark mark={intact ? 'good' : 'bad'} word={intact ? words.audit.intact : words.audit.broken} />
      ),
    },
  ]
}

const phoneRow = ({ actor, action, target, at, intact }: Entry) => (
  <PhoneRow
    mark={
      <StateMark
        mark={intact ? 'good' : 'bad'}
        word={intact ? words.audit.intact : words.audit.broken}
        size={9}
      />
    }
    title={`${words.audit.actions[action] ?? action} ${target}`}
    note={actor}
    endNote={<Time at={at} />}
  />
)

function Time({ at }: { readonly at: string }) {
  const nowMs = useNow()
  return (
    <time dateTime={at} title={at} className="tabular-nums text-ink-2">
      {moment(at, nowMs)}
    </time>
  )
}

function Target({ entry }: { readonly entry: Entry }) {
  const to = targetPath(entry)
  if (to === undefined) return <span className="block truncate font-strong">{entry.target}</span>
  return (
    <TextLink to={to} className="relative block truncate font-strong">
      {entry.target}
    </TextLink>
  )
}
