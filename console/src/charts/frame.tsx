/**
 * The body that every chart has: a caption that says the finding, one tab stop, arrow keys that move a cursor over the
 * points with their values read out, and a table with the same numbers behind `t`.
 */
import { useId, useState, type KeyboardEvent, type ReactNode } from 'react'
import { words } from '../words/words.ts'
import { classes } from '../ui/classes.ts'

export interface ChartTable {
  readonly heads: readonly ReactNode[]
  /** How many columns, from the left, are text; the others are numbers. Default: the first. */
  readonly texts?: number
  readonly rows: readonly (readonly ReactNode[])[]
}

export type ArrowKey = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown'

const ARROWS: readonly ArrowKey[] = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown']

export interface ChartFrameProps {
  /** A sentence: `p95 212 ms, 1.9 ms of it Torana; a peak of 440 ms at 16:25`. */
  readonly caption: string
  /** How many points the arrow keys walk over. */
  readonly points: number
  /** What is read out at a point. */
  readonly describe: (index: number) => string
  /** Where the cursor is: keyboard and pointer share it. */
  readonly at: number | undefined
  readonly onAt: (index: number | undefined) => void
  /** Where an arrow key leads, where points do not stand in a row. */
  readonly walk?: (key: ArrowKey, at: number | undefined) => number
  /** Keys of this chart alone. */
  readonly keys?: Readonly<Record<string, () => void>>
  /** Whether the table is shown, where a button beside the chart decides it too. */
  readonly isTable?: boolean
  readonly onTable?: (isTable: boolean) => void
  /** `↵` at a point. */
  readonly onEnter?: (index: number) => void
  /** Made when it is asked for. */
  readonly table: () => ChartTable
  readonly className?: string
  readonly children: ReactNode
}

export function ChartFrame(props: ChartFrameProps) {
  const { caption, points, describe, at, onAt, walk, keys, onEnter, table, className, children } = props
  const [isOwnTable, setOwnTable] = useState(false)
  const isTable = props.isTable ?? isOwnTable
  const setTable = props.onTable ?? setOwnTable
  const detailsId = useId()
  const step = (by: number): void =>
    onAt(Math.min(points - 1, Math.max(0, (at ?? (by > 0 ? -1 : points)) + by)))
  const onKeyDown = (event: KeyboardEvent): void => {
    const actions: Record<string, () => void> = {
      ArrowRight: () => step(event.shiftKey ? 10 : 1),
      ArrowLeft: () => step(event.shiftKey ? -10 : -1),
      Home: () => onAt(0),
      End: () => onAt(points - 1),
      Enter: () => at !== undefined && onEnter?.(at),
      Escape: () => onAt(undefined),
      t: () => setTable(!isTable),
      ...(walk && Object.fromEntries(ARROWS.map((arrow) => [arrow, () => onAt(walk(arrow, at))]))),
      ...keys,
    }
    // In the table, all other keys scroll; on a link inside of the chart, Enter opens the link.
    const isOfInside = isTable
      ? event.key !== 't'
      : event.key === 'Enter' && event.target !== event.currentTarget
    const action = isOfInside ? undefined : actions[event.key]
    if (action === undefined || (event.key === 'Escape' && at === undefined)) return
    event.preventDefault()
    event.stopPropagation()
    action()
  }
  return (
    <figure
      tabIndex={0}
      aria-label={caption}
      aria-details={detailsId}
      className={classes('relative min-w-0 rounded-chip', className)}
      onKeyDown={onKeyDown}
      onBlur={() => onAt(undefined)}
    >
      {isTable ? <TableTwin label={caption} {...table()} /> : children}
      <figcaption id={detailsId} className="sr-only">
        {caption} {words.ui.chartKeys}
      </figcaption>
      <span aria-live="polite" className="sr-only">
        {at === undefined ? '' : describe(at)}
      </span>
    </figure>
  )
}

function TableTwin({ label, heads, texts = 1, rows }: ChartTable & { readonly label: string }) {
  return (
    <div role="region" aria-label={label} tabIndex={0} className="max-h-80 overflow-auto">
      <table aria-label={label} className="w-full border-collapse text-12">
        <thead>
          <tr>
            {heads.map((head, index) => (
              <th
                key={index}
                scope="col"
                className={classes(
                  'sticky top-0 h-7 border-b border-line bg-surface px-2 font-medium text-ink-2',
                  index < texts ? 'text-left' : 'text-right',
                )}
              >
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index} className="border-b border-line">
              {row.map((cell, column) => (
                <td
                  key={column}
                  className={classes(
                    'h-7 px-2 whitespace-nowrap',
                    column < texts ? 'max-w-44 truncate text-left' : 'text-right tabular-nums',
                  )}
                >
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
