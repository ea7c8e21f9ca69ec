/** Requests: what became of each, over time, with one of them beside the list. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Play, Square } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { requestQueries, type RequestRow } from '../../api/queries/requests.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { nowMs } from '../../time/now.ts'
import { paths } from '../../app/paths.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { RangeControl } from '../../app/range-control.tsx'
import { useStreamState } from '../../app/stream.ts'
import { useZone } from '../../time/zone.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { usePhone } from '../../ui/media.ts'
import { Page } from '../../ui/page.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { phoneRow, requestColumns } from '../../parts/requests/columns.tsx'
import { FilterBar, PhoneFilters } from './filter-bar.tsx'
import { FindField } from './find-field.tsx'
import { filtersOf, timesOf, USUAL_SPAN, type RequestSearch } from './filters.ts'
import { NoRequests } from './empty.tsx'
import { useTail } from './live.ts'
import { rememberList } from '../../parts/requests/neighbours.ts'
import { RangeCount, RequestHistogram } from '../../parts/requests/request-histogram.tsx'
import { Views } from './views.tsx'
import { requests as place } from './place.ts'

const Peek = lazyPart(async () => (await import('./peek.tsx')).Peek)

const ROW_HEIGHT = 31

export function RequestsPage() {
  const search = place.useSearch()
  const change = useChangeSearch<RequestSearch>()
  const zone = useZone()
  const isPhone = usePhone()
  const { since, from, to } = search
  // The end of "the last hour" stands still until something else is asked for.
  const question = [since, from, to, search.live].join()
  const [asOf, setAsOf] = useState(() => ({ question, ms: nowMs() }))
  if (asOf.question !== question) setAsOf({ question, ms: nowMs() })
  const { window, marked } = timesOf({ since, from, to }, asOf.ms)
  const filters = filtersOf(search, marked ?? window)
  const sort = search.sort ?? '-at'
  const list = useInfiniteQuery(requestQueries.list(filters, sort))
  const histogram = useQuery(requestQueries.histogram(filtersOf(search, window), isPhone ? 80 : 120))
  const isLive = search.live === true
  const peek = isPhone ? undefined : search.peek
  const region = useRef<HTMLDivElement>(null)
  const tail = useTail(isLive, filters, () => mayMove(region.current))
  const rows = useMemo(() => {
    if (list.data === undefined) return undefined
    const listed = list.data.pages.flatMap(({ data }) => data)
    if (tail.rows.length === 0) return listed
    const seen = new Set(tail.rows.map(({ id }) => id))
    return [...tail.rows, ...listed.filter(({ id }) => !seen.has(id))]
  }, [list.data, tail.rows])
  useEffect(() => rememberList((rows ?? []).map(({ id }) => id)), [rows])
  const columns = useMemo(() => requestColumns(zone === 'utc' ? words.shell.utc : words.shell.local), [zone])
  const views = <Views search={search} failed={histogram.data?.facets?.outcome['failed']} />
  return (
    <Page
      title={words.places.requests}
      fill
      beside={views}
      actions={
        <>
          <LiveButton
            isLive={isLive}
            onChange={(live) => change({ live, sort: undefined, from: undefined, to: undefined })}
          />
          {!isPhone && <CopyButton text={() => location.href} label={words.ui.copyLink} />}
          {isPhone && <PhoneFilters search={search} facets={histogram.data?.facets} />}
          {!isPhone && (
            <RangeControl search={since === undefined ? { from, to } : { since }} usual={USUAL_SPAN} />
          )}
        </>
      }
      side={peek === undefined ? undefined : <Peek id={peek} onClose={() => change({ peek: undefined })} />}
      sideWidth={424}
    >
      <div className="flex flex-wrap items-center gap-2 px-6 pt-2.5 phone:px-4">
        {isPhone && <FindField facets={histogram.data?.facets} />}
        {isPhone && (
          <div className="flex w-full items-center gap-1.5">
            {views}
            <span className="ml-auto">
              <RangeControl bare search={since === undefined ? { from, to } : { since }} usual={USUAL_SPAN} />
            </span>
          </div>
        )}
        {!isPhone && <FilterBar search={search} facets={histogram.data?.facets} />}
        {!isPhone && (
          <span className="ml-auto">
            <RangeCount histogram={histogram.data} marked={marked} />
          </span>
        )}
      </div>
      <RequestHistogram
        histogram={histogram.data}
        isStale={histogram.isPlaceholderData}
        error={histogram.error}
        marked={marked}
        onMark={(range) =>
          change(
            range === undefined
              ? { from: undefined, to: undefined }
              : {
                  since: since ?? USUAL_SPAN,
                  from: new Date(range.fromMs).toISOString(),
                  to: new Date(range.toMs).toISOString(),
                  live: undefined,
                },
          )
        }
      />
      {tail.waiting > 0 && (
        <button
          type="button"
          className="h-7 shrink-0 border-t border-line bg-accent-tint text-12 text-accent"
          onClick={tail.show}
        >
          {words.requests.fresh(tail.waiting)}
        </button>
      )}
      <div ref={region} className="flex min-h-0 flex-1 flex-col phone:border-t phone:border-line">
        <DataTable<RequestRow>
          label={words.places.requests}
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          rowHeight={ROW_HEIGHT}
          query={list}
          href={({ id }) => paths.request(id)}
          onPeek={isPhone ? undefined : ({ id }) => change({ peek: id }, { replace: peek !== undefined })}
          selected={peek}
          sort={search.sort}
          onSort={(next) => change({ sort: next === '-duration' || next === '-cost' ? next : undefined })}
          empty={
            <NoRequests
              search={search}
              lookFurther={list.hasNextPage ? () => void list.fetchNextPage() : undefined}
            />
          }
          phoneRow={phoneRow}
        />
      </div>
      {tail.oneOf !== undefined && tail.oneOf > 1 && (
        <p className="shrink-0 border-t border-line px-6 py-1 text-12 text-ink-2">
          {words.requests.shownOf(tail.oneOf)}
        </p>
      )}
    </Page>
  )
}

/** Rows may slide in while the list is at its top and nobody points at it. */
function mayMove(region: HTMLElement | null): boolean {
  if (region === null) return true
  const scroller = region.querySelector<HTMLElement>('[role=region]')
  return (scroller?.scrollTop ?? 0) < 4 && !region.matches(':hover')
}

function LiveButton({
  isLive,
  onChange,
}: {
  readonly isLive: boolean
  readonly onChange: (live: true | undefined) => void
}) {
  const state = useStreamState()
  const isPhone = usePhone()
  const label = isLive
    ? state === 'lost'
      ? words.shell.reconnecting
      : words.shell.live
    : words.requests.live
  const icon = isLive ? (
    state === 'lost' ? (
      <StateMark mark="warn" word="" />
    ) : (
      <Square size={12} aria-hidden className="fill-current text-good-fill" />
    )
  ) : (
    <Play size={14} aria-hidden />
  )
  const toggle = (): void => onChange(isLive ? undefined : true)
  if (isPhone)
    return (
      <IconButton data-live look="plain" label={label} aria-pressed={isLive} onClick={toggle}>
        {icon}
      </IconButton>
    )
  return (
    <Button data-live icon={icon} aria-pressed={isLive} onClick={toggle}>
      {label}
    </Button>
  )
}
