/** The requests of one key, model or deployment: how they ended over time, and each of them. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { requestQueries, type RequestFilters, type RequestRow } from '../../api/queries/requests.ts'
import { nowMs } from '../../time/now.ts'
import { paths } from '../../app/paths.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { RangeControl } from '../../app/range-control.tsx'
import { rangeOf, SPANS, type RangeSearch, type Span } from '../../time/range.ts'
import { useZone } from '../../time/zone.ts'
import { Button } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { TextLink, type Address } from '../../ui/link.tsx'
import { usePhone } from '../../ui/media.ts'
import { words } from '../../words/words.ts'
import { phoneRow, requestColumns } from './columns.tsx'
import { rememberList } from './neighbours.ts'
import { RangeCount, RequestHistogram } from './request-histogram.tsx'

const USUAL_SPAN: Span = '24h'
const ROW_HEIGHT = 31

/** Whose requests they are. It is a filter of the page Requests, by the same name. */
type Whose = { readonly key: string } | { readonly model: string } | { readonly deployment: string }

interface Asked {
  readonly of: Whose
  readonly search: RangeSearch
}

function useFilters({ of, search: { since, from, to } }: Asked): RequestFilters {
  // The end of "the last day" stands still until something else is asked for.
  const range = useMemo(() => rangeOf({ since, from, to }, USUAL_SPAN, nowMs()), [since, from, to])
  return {
    from: new Date(range.fromMs).toISOString(),
    to: new Date(range.toMs).toISOString(),
    ...('key' in of && { key: [of.key] }),
    ...('model' in of && { model: [of.model] }),
    ...('deployment' in of && { deployment: of.deployment }),
  }
}

/** The page Requests with the same rows. */
function pathOf({ of, search: { since, from, to } }: Asked): Address {
  const range = from === undefined ? { since: since ?? USUAL_SPAN } : { from, to }
  return paths.requests({ ...of, ...range })
}

/** How they ended over time. What is marked opens in Requests. */
export function OutcomesOf({ height, ...asked }: Asked & { readonly height?: number }) {
  const isPhone = usePhone()
  const navigate = useNavigate()
  useZone()
  const histogram = useQuery(requestQueries.histogram(useFilters(asked), isPhone ? 80 : 120))
  return (
    <section>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-6 pt-4 phone:px-4">
        <RangeCount histogram={histogram.data} marked={undefined} />
        <TextLink to={pathOf(asked)}>{words.requests.openInRequests}</TextLink>
        <span className="ml-auto">
          <RangeControl search={asked.search} usual={USUAL_SPAN} bare />
        </span>
      </div>
      <RequestHistogram
        histogram={histogram.data}
        isStale={histogram.isPlaceholderData}
        error={histogram.error}
        marked={undefined}
        {...(height !== undefined && { height })}
        onMark={(range) =>
          range &&
          void navigate(
            paths.requests({
              ...asked.of,
              from: new Date(range.fromMs).toISOString(),
              to: new Date(range.toMs).toISOString(),
            }),
          )
        }
      />
    </section>
  )
}

interface RequestsOfProps extends Asked {
  /** Columns that would say the same in each row. */
  readonly hiddenColumns: readonly string[]
}

export function RequestsOf({ hiddenColumns, ...asked }: RequestsOfProps) {
  const zone = useZone()
  const list = useInfiniteQuery(requestQueries.list(useFilters(asked), '-at'))
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data), [list.data])
  useEffect(() => rememberList((rows ?? []).map(({ id }) => id)), [rows])
  const columns = useMemo(() => requestColumns(zone === 'utc' ? words.shell.utc : words.shell.local), [zone])
  const lookFurther = list.hasNextPage ? () => void list.fetchNextPage() : undefined
  return (
    <>
      <OutcomesOf {...asked} />
      <DataTable<RequestRow>
        label={words.places.requests}
        columns={columns}
        hiddenColumns={hiddenColumns}
        rows={rows}
        rowKey={({ id }) => id}
        rowHeight={ROW_HEIGHT}
        fill={false}
        query={list}
        href={({ id }) => paths.request(id)}
        empty={<None search={asked.search} lookFurther={lookFurther} />}
        phoneRow={phoneRow}
      />
    </>
  )
}

interface NoneProps {
  readonly search: RangeSearch
  /** Undefined: there is nothing further back. */
  readonly lookFurther: (() => void) | undefined
}

function None({ search, lookFurther }: NoneProps) {
  const change = useChangeSearch<RangeSearch>()
  const text = words.requests
  const longer = SPANS[SPANS.indexOf(search.since ?? USUAL_SPAN) + 1]
  return (
    <Empty
      title={text.none}
      actions={
        <>
          {lookFurther && <Button onClick={lookFurther}>{text.lookFurther}</Button>}
          {longer !== undefined && (
            <Button onClick={() => change({ since: longer, from: undefined, to: undefined })}>
              {text.lookBack(longer)}
            </Button>
          )}
        </>
      }
    />
  )
}
