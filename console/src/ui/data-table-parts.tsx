/** Rows and heads of the one table. They are memoised, and take plain values. */
import { ArrowDown, ArrowUp } from 'lucide-react'
import { memo, type MouseEvent, type ReactNode } from 'react'
import { words } from '../words/words.ts'
import { classes } from './classes.ts'
import type { Column } from './data-table-column.ts'
import { Link, type Address } from './link.tsx'
import { Bar, barWidth } from './loading.tsx'
import { Tick } from './switch.tsx'

/** Only texts are cut: every cell that cuts costs the browser time with each frame of scrolling. */
const CELL = 'whitespace-nowrap px-2.5 first:pl-6 last:pr-6 phone:first:pl-4 phone:last:pr-4'

interface HeadProps<Row> {
  readonly columns: readonly Column<Row>[]
  readonly sort: string | undefined
  readonly onSort: ((sort: string) => void) | undefined
  readonly tick: ReactNode
}

export function HeadView<Row>({ columns, sort = '', onSort, tick }: HeadProps<Row>) {
  const [isDown, by] = sort.startsWith('-') ? [true, sort.slice(1)] : [false, sort]
  return (
    <thead>
      <tr>
        {tick !== undefined && (
          <th className="sticky top-0 border-y border-line bg-surface pl-6 text-left">{tick}</th>
        )}
        {columns.map((column) => {
          const isSorted = column.sort !== undefined && column.sort === by
          const canSort = column.sort !== undefined && onSort !== undefined
          return (
            <th
              key={column.id}
              scope="col"
              aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : undefined}
              className={classes(
                CELL,
                'sticky top-0 z-1 h-8 border-y border-line bg-surface text-12 font-medium text-ink-2',
                column.align === 'right' ? 'text-right' : 'text-left',
              )}
            >
              {canSort ? (
                <button
                  type="button"
                  className={classes(
                    'inline-flex items-center gap-1 hover:text-ink',
                    isSorted && 'font-semibold text-ink',
                  )}
                  // Numbers are looked at from the largest down first.
                  onClick={() =>
                    onSort(
                      isSorted
                        ? isDown
                          ? by
                          : `-${by}`
                        : column.align === 'right'
                          ? `-${column.sort}`
                          : `${column.sort}`,
                    )
                  }
                >
                  {isSorted &&
                    (isDown ? (
                      <ArrowDown size={12} strokeWidth={2.25} aria-hidden />
                    ) : (
                      <ArrowUp size={12} strokeWidth={2.25} aria-hidden />
                    ))}
                  {column.head}
                </button>
              ) : (
                column.head
              )}
            </th>
          )
        })}
      </tr>
    </thead>
  )
}

interface RowProps<Row> {
  readonly row: Row
  readonly at: number
  readonly height: number
  readonly href: Address | undefined
  readonly onPeek: ((row: Row) => void) | undefined
  readonly isSelected: boolean
}

interface FullRowProps<Row> extends RowProps<Row> {
  readonly columns: readonly Column<Row>[]
  readonly tick?: boolean
  readonly tickLabel?: string
  readonly onTick?: (ticked: boolean) => void
}

/** The row shows the focus of its link. */
const FOCUSED =
  'has-[[data-row]:focus-visible]:outline-2 has-[[data-row]:focus-visible]:-outline-offset-2 has-[[data-row]:focus-visible]:outline-accent'

/** What a click on it is for itself, not for its row. */
const PRESSED = 'a, button, input, label, select, textarea, [role=menuitem]'

/** A click anywhere in a row is one on its link, but text can be selected and copied. */
function pressRow(event: MouseEvent<HTMLElement>, peek: (() => void) | undefined): void {
  const link = event.currentTarget.querySelector<HTMLAnchorElement>('[data-row]')
  const isInside = event.target instanceof Element && event.target.closest(PRESSED) !== null
  // React also reports clicks in dialogs and menus that a cell opened elsewhere on the page.
  const isOurs = event.target instanceof Node && event.currentTarget.contains(event.target)
  if (link === null || isInside || !isOurs || getSelection()?.type === 'Range') return
  if (event.button === 1 || event.ctrlKey || event.metaKey) window.open(link.href, '_blank', 'noopener')
  else if (event.button !== 0) return
  else if (peek && isPlainClick(event)) peek()
  else link.click()
}

function FullRow<Row>({
  row,
  at,
  height,
  href,
  onPeek,
  isSelected,
  columns,
  tick,
  tickLabel,
  onTick,
}: FullRowProps<Row>) {
  return (
    <tr
      data-at={at}
      aria-rowindex={at + 2}
      aria-current={isSelected || undefined}
      className={classes(
        'border-b border-line coarse:h-10',
        FOCUSED,
        href !== undefined && 'cursor-pointer',
        isSelected ? 'bg-selected' : href !== undefined && 'hover:bg-hover',
      )}
      style={{ height }}
      onClick={(event) => pressRow(event, onPeek && (() => onPeek(row)))}
      onAuxClick={(event) => pressRow(event, undefined)}
    >
      {onTick && (
        <td className="pl-6">
          <Tick checked={tick ?? false} label={tickLabel ?? ''} onChange={onTick} />
        </td>
      )}
      {columns.map((column, index) => (
        <td
          key={column.id}
          className={classes(
            CELL,
            column.align === 'right' ? 'text-right tabular-nums' : 'truncate',
            column.className,
          )}
        >
          {index === 0 ? (
            <RowLink row={row} href={href} onPeek={onPeek} content={column.cell(row)} />
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
    </tr>
  )
}

function RowLink<Row>({
  row,
  href,
  onPeek,
  content,
}: Pick<RowProps<Row>, 'row' | 'href' | 'onPeek'> & { readonly content: ReactNode }) {
  if (href === undefined) return content
  return (
    <Link
      to={href}
      data-row
      draggable={false}
      className="outline-none"
      onClick={(event) => {
        // Enter opens the page instead of peeking.
        if (onPeek === undefined || isByKeyboard(event) || !isPlainClick(event)) return
        event.preventDefault()
        onPeek(row)
      }}
    >
      {content}
    </Link>
  )
}

/** Enter on a link fires a click: its detail is 0, or in Firefox 1 with no kind of pointer. */
function isByKeyboard({ detail, nativeEvent }: MouseEvent): boolean {
  return detail === 0 || (nativeEvent as PointerEvent).pointerType === ''
}

/** One that opens no other tab. */
function isPlainClick({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean {
  return button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey
}

export const RowView = memo(FullRow, isSameRow) as typeof FullRow

function PhoneRow<Row>({
  row,
  at,
  height,
  href,
  isSelected,
  content,
}: RowProps<Row> & { readonly content: (row: Row) => ReactNode }) {
  return (
    <tr
      data-at={at}
      aria-rowindex={at + 2}
      className={classes('relative border-b border-line', FOCUSED, isSelected && 'bg-selected')}
      style={{ height }}
    >
      <td className="relative px-4">
        {href === undefined ? (
          content(row)
        ) : (
          // On a phone all of the row is its link: there is no pointer to select text or to open a hint with.
          <Link to={href} data-row className="block outline-none after:absolute after:inset-0">
            {content(row)}
          </Link>
        )}
      </td>
    </tr>
  )
}

export const PhoneRowView = memo(PhoneRow, isSameRow) as typeof PhoneRow

/** Callbacks are ignored: their behaviour does not change, so only data decides whether a row renders again. */
function isSameRow<Row>(
  before: RowProps<Row> & { tick?: boolean; columns?: unknown; content?: unknown },
  after: RowProps<Row> & { tick?: boolean; columns?: unknown; content?: unknown },
): boolean {
  return (
    before.row === after.row &&
    before.at === after.at &&
    before.height === after.height &&
    JSON.stringify(before.href) === JSON.stringify(after.href) &&
    before.isSelected === after.isSelected &&
    before.tick === after.tick &&
    before.columns === after.columns &&
    before.content === after.content
  )
}

interface GroupViewProps {
  readonly head: ReactNode
  readonly span: number
  readonly height: number
}

export function GroupView({ head, span, height }: GroupViewProps) {
  return (
    <tr className="border-b border-line bg-canvas" style={{ height }}>
      <th scope="rowgroup" colSpan={span} className="px-6 text-left font-normal phone:px-4">
        {head}
      </th>
    </tr>
  )
}

interface LoadingViewProps {
  /** How each column is aligned. */
  readonly columns: readonly ('right' | undefined)[]
  readonly height: number
  readonly rows?: number
}

export function LoadingView({ columns, height, rows = 12 }: LoadingViewProps) {
  return Array.from({ length: rows }, (_, row) => (
    <tr key={row} className="border-b border-line" style={{ height }}>
      {columns.map((align, column) => (
        <td key={column} className={CELL}>
          {row === 0 && column === 0 && <span className="sr-only">{words.ui.loading}</span>}
          <Bar className={classes(barWidth(row, column), align === 'right' && 'ml-auto')} />
        </td>
      ))}
    </tr>
  ))
}
