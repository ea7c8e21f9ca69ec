/**
 * The one table: a real `<table>`, its head sticky, rows beyond 60 virtual. Rows are links; `j` and `k` walk, `↵` opens,
 * `space` peeks.
 */
import { columnVisibilityFeature, tableFeatures, useTable, type RowData } from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { words } from '../words/words.ts'
import { classes } from './classes.ts'
import { GroupView, HeadView, LoadingView, PhoneRowView, RowView } from './data-table-parts.tsx'
import { useKeys } from './keyboard.ts'
import { usePhone } from './media.ts'
import { Problem } from './problem.tsx'
import { Tick } from './switch.tsx'

export interface Column<Row> {
  readonly id: string
  readonly head: ReactNode
  /** In pixels. Columns without one share what is left. */
  readonly width?: number
  readonly align?: 'right'
  /** The server's name of the order: a click on the head sorts by it. */
  readonly sort?: string
  /** Makes no objects that outlive it: rows are memoised. */
  readonly cell: (row: Row) => ReactNode
  readonly className?: string
}

export interface Group {
  readonly key: string
  readonly head: ReactNode
}

export interface DataTableProps<Row extends RowData> {
  /** Its accessible name. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  /** Undefined: still loading. */
  readonly rows: readonly Row[] | undefined
  readonly rowKey: (row: Row) => string
  readonly error?: unknown
  readonly retry?: (() => void) | undefined
  /** What stands there when there are no rows: say what to do next. */
  readonly empty: ReactNode
  /** 31 in Requests, 32 plain, 36 with bars, 46 with two lines. Fingers get at least 40. */
  readonly rowHeight?: number
  /** The page of a row. */
  readonly href?: (row: Row) => string
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
  /** There is more: called when the end comes near. */
  readonly onEnd?: (() => void) | undefined
  /** The table scrolls by itself. Otherwise it is as long as it is, and the page scrolls. */
  readonly fill?: boolean
  /** Two lines for a narrow screen. Without it, the table scrolls sideways. */
  readonly phoneRow?: (row: Row) => ReactNode
  /** The least width before it scrolls sideways. */
  readonly minWidth?: number
  readonly className?: string
}

const VIRTUAL_FROM = 60
const GROUP_HEIGHT = 36
const PHONE_ROW_HEIGHT = 57
/** Rows beyond the visible ones, so that a quick wheel shows no gap. */
const OVERSCAN = 12

type Item<Row> = { readonly row: Row; readonly index: number } | { readonly group: Group }

const features = tableFeatures({ columnVisibilityFeature })

export function DataTable<Row extends RowData>(props: DataTableProps<Row>) {
  const {
    label,
    rows,
    rowKey,
    error,
    retry,
    empty,
    fill = true,
    phoneRow,
    foot,
    ticks,
    minWidth,
    className,
  } = props
  const isPhone = usePhone()
  const asList = isPhone && phoneRow !== undefined
  const region = useRef<HTMLDivElement>(null)
  const shown = useVisibleColumns(props)
  const items = useItems(rows, props.groupOf)
  const rowHeight = asList ? PHONE_ROW_HEIGHT : (props.rowHeight ?? 32)
  const view = useRowsInView({ items, rowHeight, region, fill: fill && !isPhone })
  useWalk(props, items, view.scrollTo, region)
  useEffect(() => {
    if (view.last >= items.length - OVERSCAN) props.onEnd?.()
  }, [view.last, items.length, props.onEnd])
  // Rows are memoised, so they keep one function that always calls the newest.
  const newest = useRef(props.onPeek)
  newest.current = props.onPeek
  const [peek] = useState(() => (row: Row) => newest.current?.(row))
  const span = shown.length + (ticks ? 1 : 0)
  const isBroken = error !== null && error !== undefined && rows === undefined
  const body = isBroken ? (
    <Problem error={error} retry={retry} />
  ) : rows !== undefined && rows.length === 0 ? (
    empty
  ) : undefined
  return (
    <div
      ref={region}
      role="region"
      aria-label={label}
      tabIndex={fill && !isPhone ? 0 : undefined}
      className={classes(
        'min-w-0',
        fill && !isPhone && 'scroll-quiet min-h-0 flex-1 overflow-auto',
        isPhone && !asList && 'scroll-quiet overflow-x-auto',
        className,
      )}
    >
      <table
        aria-label={label}
        aria-rowcount={rows === undefined ? undefined : items.length + 1}
        className="w-full table-fixed border-collapse"
        style={{ minWidth: asList ? undefined : minWidth }}
      >
        {!asList && (
          <>
            <colgroup>
              {ticks && <col style={{ width: 44 }} />}
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
        <tbody>
          {body !== undefined && (
            <tr>
              <td colSpan={span}>{body}</td>
            </tr>
          )}
          {rows === undefined && !isBroken && <LoadingView columns={asList ? 1 : span} height={rowHeight} />}
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

function TickAll<Row extends RowData>({
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

/** TanStack Table knows which columns are in sight; the cells are ours, so that a row stays a plain memoised component. */
function useVisibleColumns<Row extends RowData>({
  columns,
  hiddenColumns,
}: DataTableProps<Row>): readonly Column<Row>[] {
  const table = useTable({
    features,
    data: NO_ROWS,
    columns: useMemo(() => columns.map(({ id }) => ({ id })), [columns]),
    state: { columnVisibility: Object.fromEntries((hiddenColumns ?? []).map((id) => [id, false])) },
  })
  const visible = new Set(table.getVisibleLeafColumns().map(({ id }) => id))
  const key = [...visible].join(' ')
  return useMemo(() => columns.filter(({ id }) => visible.has(id)), [columns, key])
}

const NO_ROWS: readonly never[] = []

function useItems<Row>(
  rows: readonly Row[] | undefined,
  groupOf: ((row: Row) => Group) | undefined,
): readonly Item<Row>[] {
  return useMemo(() => {
    if (rows === undefined) return []
    if (groupOf === undefined) return rows.map((row, index) => ({ row, index }))
    const items: Item<Row>[] = []
    let before: string | undefined
    for (const [index, row] of rows.entries()) {
      const group = groupOf(row)
      if (group.key !== before) items.push({ group })
      before = group.key
      items.push({ row, index })
    }
    return items
  }, [rows, groupOf])
}

interface View {
  readonly indexes: readonly number[]
  /** Heights of what is not drawn. */
  readonly before: number
  readonly after: number
  readonly last: number
  readonly scrollTo: (index: number) => void
}

function useRowsInView<Row>({
  items,
  rowHeight,
  region,
  fill,
}: {
  readonly items: readonly Item<Row>[]
  readonly rowHeight: number
  readonly region: React.RefObject<HTMLDivElement | null>
  readonly fill: boolean
}): View {
  const isVirtual = items.length > VIRTUAL_FROM
  const [margin, setMargin] = useState(0)
  const scroller = (): HTMLElement | null => (fill ? region.current : scrollingAround(region.current))
  useEffect(() => {
    const [own, outer] = [region.current, scroller()]
    if (fill || !own || !outer) return
    setMargin(own.getBoundingClientRect().top - outer.getBoundingClientRect().top + outer.scrollTop)
  }, [fill, items.length])
  const virtualizer = useVirtualizer({
    count: items.length,
    enabled: isVirtual,
    getScrollElement: scroller,
    estimateSize: (index) => {
      const item = items[index]
      return item !== undefined && 'group' in item ? GROUP_HEIGHT : rowHeight
    },
    overscan: OVERSCAN,
    scrollMargin: fill ? 0 : margin,
  })
  const scrollTo = (index: number): void => {
    if (isVirtual) virtualizer.scrollToIndex(index, { align: 'auto' })
  }
  if (!isVirtual) {
    const indexes = items.map((_, index) => index)
    return { indexes, before: 0, after: 0, last: items.length - 1, scrollTo }
  }
  const inView = virtualizer.getVirtualItems()
  const [first, last] = [inView[0], inView.at(-1)]
  const offset = fill ? 0 : margin
  return {
    indexes: inView.map(({ index }) => index),
    before: first === undefined ? 0 : first.start - offset,
    after: last === undefined ? virtualizer.getTotalSize() : virtualizer.getTotalSize() - (last.end - offset),
    last: last?.index ?? 0,
    scrollTo,
  }
}

/** The nearest part of the page that scrolls: which one it is depends on the width of the screen. */
function scrollingAround(element: HTMLElement | null): HTMLElement | null {
  let around = element?.parentElement?.closest<HTMLElement>('[data-scroll]') ?? null
  while (around !== null && getComputedStyle(around).overflowY === 'visible')
    around = around.parentElement?.closest<HTMLElement>('[data-scroll]') ?? null
  return around
}

/** `j` and `k` move the focus from row to row, also to rows that are not drawn yet. */
function useWalk<Row extends RowData>(
  { onPeek, selected, rowKey }: DataTableProps<Row>,
  items: readonly Item<Row>[],
  scrollTo: (index: number) => void,
  region: React.RefObject<HTMLDivElement | null>,
): void {
  const focusRow = (at: number): void => {
    scrollTo(at)
    // The row may have to be drawn first.
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        region.current?.querySelector<HTMLElement>(`[data-at="${at}"] [data-row]`)?.focus(),
      ),
    )
  }
  const walk = (step: 1 | -1): boolean => {
    const focused = document.activeElement?.closest<HTMLElement>('[data-at]')
    const isOurs = focused && region.current?.contains(focused)
    const chosen = items.findIndex((item) => 'row' in item && rowKey(item.row) === selected)
    let at = isOurs ? Number(focused.dataset['at']) : chosen === -1 && step === 1 ? -1 : chosen
    do at += step
    while (items[at] !== undefined && !('row' in items[at]!))
    const item = items[at]
    if (item === undefined || !('row' in item)) return false
    focusRow(at)
    if (selected !== undefined) onPeek?.(item.row)
    return true
  }
  const arrow = (step: 1 | -1) => (): boolean => {
    const isInside = region.current?.contains(document.activeElement) === true
    return isInside && document.activeElement !== region.current ? walk(step) : false
  }
  useKeys({
    j: () => walk(1),
    k: () => walk(-1),
    ArrowDown: arrow(1),
    ArrowUp: arrow(-1),
    ' ': () => {
      const at = document.activeElement?.closest<HTMLElement>('[data-at]')?.dataset['at']
      const item = at === undefined ? undefined : items[Number(at)]
      if (onPeek === undefined || item === undefined || !('row' in item)) return false
      onPeek(item.row)
      return true
    },
  })
}
