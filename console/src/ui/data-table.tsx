/**
 * The one table: a real `<table>`, its head sticky, rows beyond 60 virtual. Rows are links; `j` and `k` walk, `↵` opens,
 * `space` peeks.
 */
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode, type RefObject } from 'react'
import { words } from '../words/words.ts'
import { classes } from './classes.ts'
import { fittingColumns, widthOf, type Column, type Group } from './data-table-column.ts'
import { GroupView, HeadView, LoadingView, PhoneRowView, RowView } from './data-table-parts.tsx'
import type { Address } from './link.tsx'
import { GROUP_HEIGHT, OVERSCAN, useItems, useRowsInView, useWalk } from './data-table-rows.ts'
import { STALE } from './loading.tsx'
import { usePhone } from './media.ts'
import { Problem } from './problem.tsx'
import { Tick } from './switch.tsx'

export type { Column, Group } from './data-table-column.ts'

export interface Query {
  readonly error: unknown
  readonly isPlaceholderData: boolean
  readonly refetch: () => unknown
  /** Of a list in pages: the table asks for the next one when its end comes near. */
  readonly hasNextPage?: boolean
  readonly isFetching?: boolean
  readonly fetchNextPage?: () => unknown
}

export interface DataTableProps<Row> {
  /** Its accessible name. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  /** Undefined: still loading. */
  readonly rows: readonly Row[] | undefined
  /** What answers with the rows: the table shows its error, and whether the rows answer an earlier question. */
  readonly query?: Query | undefined
  readonly rowKey: (row: Row) => string
  /** What stands there when there are no rows: say what to do next. */
  readonly empty: ReactNode
  /** 31 in Requests, 32 plain, 36 with bars, 46 with two lines. Fingers get at least 40. */
  readonly rowHeight?: number
  /** The page of a row. */
  readonly href?: (row: Row) => Address
  /** A click, or `space`, shows it beside the list. */
  readonly onPeek?: ((row: Row) => void) | undefined
  readonly selected?: string | undefined
  /** `-at`, `name`. */
  readonly sort?: string | undefined
  readonly onSort?: (sort: string) => void
  /** Rows of one group stand together; a head is put before each. */
  readonly groupOf?: (row: Row) => Group
  readonly hiddenColumns?: readonly string[]
  /** By the ids of columns: the sum row, which stays in sight. */
  readonly foot?: Readonly<Record<string, ReactNode>>
  /** Rows can be ticked, where something can be done with several. */
  readonly ticks?: {
    readonly ticked: ReadonlySet<string>
    readonly onChange: (ticked: Set<string>) => void
    readonly label: (row: Row) => string
  }
  /** The table scrolls by itself. Otherwise it is as long as it is, and the page scrolls. */
  readonly fill?: boolean
  /** Two lines for a narrow screen. Without it, the table scrolls sideways. */
  readonly phoneRow?: (row: Row) => ReactNode
  readonly className?: string
}

const PHONE_ROW_HEIGHT = 57
const TICK_WIDTH = 44

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, rows, query, rowKey, empty, fill = true, phoneRow, foot, ticks, className } = props
  const isStale = query?.isPlaceholderData === true
  const isPhone = usePhone()
  const asList = isPhone && phoneRow !== undefined
  const region = useRef<HTMLDivElement>(null)
  const roomWidth = useWidth(region) - (ticks ? TICK_WIDTH : 0)
  const shown = useVisibleColumns(props, roomWidth)
  const items = useItems(rows, props.groupOf)
  const rowHeight = asList ? PHONE_ROW_HEIGHT : (props.rowHeight ?? 32)
  const view = useRowsInView({ items, rowHeight, region, fill: fill && !isPhone })
  useWalk(props, items, view.scrollTo, region)
  const nextPage = query?.hasNextPage === true && query.isFetching !== true ? query.fetchNextPage : undefined
  useEffect(() => {
    if (view.last >= items.length - OVERSCAN) void nextPage?.()
  }, [view.last, items.length, nextPage])
  // Rows are memoised, so they keep one function that always calls the newest.
  const newest = useRef(props.onPeek)
  useEffect(() => {
    newest.current = props.onPeek
  })
  const [peek] = useState(() => (row: Row) => newest.current?.(row))
  const span = shown.length + (ticks ? 1 : 0)
  const failed = query && query.error !== null && rows === undefined ? query : undefined
  const body = failed ? (
    <Problem error={failed.error} retry={() => void failed.refetch()} />
  ) : rows !== undefined && rows.length === 0 ? (
    empty
  ) : undefined
  return (
    <div
      ref={region}
      role="region"
      aria-label={label}
      aria-busy={isStale || undefined}
      tabIndex={fill && !isPhone ? 0 : undefined}
      className={classes(
        'min-w-0',
        fill && !isPhone && 'min-h-0 flex-1 overflow-auto',
        isPhone && !asList && 'overflow-x-auto',
        className,
      )}
    >
      {isStale && (
        <p role="status" className="appearing-late sticky top-10 left-0 z-1 h-0 text-right">
          <span className="mr-6 rounded-control border border-line bg-raised px-2 py-1 text-12 text-ink shadow-menu">
            {words.ui.loading}
          </span>
        </p>
      )}
      <table
        aria-label={label}
        aria-rowcount={rows === undefined ? undefined : items.length + 1}
        className="w-full table-fixed border-collapse"
        style={{ minWidth: asList ? undefined : widthOf(shown) + (ticks ? TICK_WIDTH : 0) }}
      >
        {!asList && (
          <>
            <colgroup>
              {ticks && <col style={{ width: TICK_WIDTH }} />}
              {shown.map((column) => (
                <col key={column.id} style={{ width: column.width }} />
              ))}
            </colgroup>
            <HeadView
              columns={shown}
              sort={props.sort}
              onSort={props.onSort}
              tick={ticks && rows && <TickAll rows={rows} rowKey={rowKey} ticks={ticks} />}
            />
          </>
        )}
        <tbody className={isStale ? STALE : undefined}>
          {body !== undefined && (
            <tr>
              <td colSpan={span}>{body}</td>
            </tr>
          )}
          {rows === undefined && !failed && (
            <LoadingView
              columns={
                asList ? [undefined] : [...(ticks ? [undefined] : []), ...shown.map(({ align }) => align)]
              }
              height={rowHeight}
            />
          )}
          {body === undefined && view.before > 0 && <tr aria-hidden style={{ height: view.before }} />}
          {body === undefined &&
            view.indexes.map((at) => {
              const item = items[at]
              if (item === undefined) return null
              if ('group' in item)
                return (
                  <GroupView
                    key={`group ${item.group.key}`}
                    head={item.group.head}
                    span={asList ? 1 : span}
                    height={GROUP_HEIGHT}
                  />
                )
              const key = rowKey(item.row)
              const shared = {
                row: item.row,
                at,
                height: rowHeight,
                href: props.href?.(item.row),
                onPeek: props.onPeek && peek,
                isSelected: key === props.selected,
              }
              if (asList) return <PhoneRowView key={key} {...shared} content={phoneRow} />
              return (
                <RowView
                  key={key}
                  {...shared}
                  columns={shown}
                  {...(ticks && {
                    tick: ticks.ticked.has(key),
                    tickLabel: ticks.label(item.row),
                    onTick: (next: boolean) => ticks.onChange(toggled(ticks.ticked, key, next)),
                  })}
                />
              )
            })}
          {body === undefined && view.after > 0 && <tr aria-hidden style={{ height: view.after }} />}
        </tbody>
        {foot && rows && rows.length > 0 && !asList && (
          <tfoot>
            <tr>
              {ticks && <td className="sticky bottom-0 border-t border-line bg-surface" />}
              {shown.map((column) => (
                <td
                  key={column.id}
                  className={classes(
                    'sticky bottom-0 h-8 truncate border-t border-line bg-surface px-2.5 font-semibold tabular-nums first:pl-6 last:pr-6',
                    column.align === 'right' && 'text-right',
                  )}
                >
                  {foot[column.id]}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  )
}

function toggled(ticked: ReadonlySet<string>, key: string, next: boolean): Set<string> {
  const result = new Set(ticked)
  if (next) result.add(key)
  else result.delete(key)
  return result
}

function TickAll<Row>({
  rows,
  rowKey,
  ticks,
}: {
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly ticks: NonNullable<DataTableProps<Row>['ticks']>
}) {
  const all = rows.length > 0 && rows.every((row) => ticks.ticked.has(rowKey(row)))
  return (
    <Tick
      label={words.ui.rows}
      checked={all}
      some={!all && ticks.ticked.size > 0}
      onChange={(next) => ticks.onChange(new Set(next ? rows.map(rowKey) : []))}
    />
  )
}

function useVisibleColumns<Row>(
  { columns, hiddenColumns = [] }: DataTableProps<Row>,
  roomWidth: number,
): readonly Column<Row>[] {
  const visible = columns.filter(({ id }) => !hiddenColumns.includes(id))
  const key = fittingColumns(visible, roomWidth)
    .map(({ id }) => id)
    .join(' ')
  return useMemo(() => columns.filter(({ id }) => key.split(' ').includes(id)), [columns, key])
}

/** The observer reports before the first paint, so that no column is seen to leave. */
function useWidth(region: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(Number.POSITIVE_INFINITY)
  useLayoutEffect(() => {
    if (region.current === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.floor(entry.contentRect.width))
    })
    observer.observe(region.current)
    return () => observer.disconnect()
  }, [region])
  return width
}
