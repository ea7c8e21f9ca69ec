/** End dates from today on: one row each, soonest first, with a mark at the end and circles where notices are sent. */
import { useState, type ReactNode } from 'react'
import { month } from '../../app/format.ts'
import { DAY_MS } from '../../time/day.ts'
import { classes } from '../../ui/classes.ts'
import { MARK_SHAPES, type Mark } from '../../ui/state-mark.tsx'
import { Tag } from '../../ui/tag.tsx'
import { paint, type Colour } from '../colours.ts'
import { ChartFrame, type ChartTable } from '../frame.tsx'
import { Meter } from '../meter.tsx'
import { useWidth } from '../size.ts'
import { monthsOn, noticesOn, timelineX, type Notice, type TimelineScale } from './timeline-layout.ts'

/** `soon`: used, and the end is near. */
export type EndKind = 'soon' | 'used' | 'unused'

export interface TimelineRow {
  readonly key: string
  readonly name: ReactNode
  /** Beside the name. */
  readonly note: string
  readonly kind: EndKind
  readonly endMs: number
  readonly notices: readonly Notice[]
  /** `1 Dec`. */
  readonly date: string
  /** `14 days`. */
  readonly left: string
  /** Beside the name, in amber. */
  readonly warning: string | undefined
  /** Of the columns behind the timeline. */
  readonly cells: readonly ReactNode[]
  /** More about it, for the pointer. */
  readonly hint: string
  /** At the end of its second line on a phone. */
  readonly phoneNote: ReactNode
}

export interface TimelineColumn {
  readonly head: string
  readonly width: number
  readonly isNumber?: boolean
  /** Least width of the chart that has room for it. */
  readonly from?: number
}

interface TimelineProps {
  readonly caption: string
  readonly words: { readonly name: string; readonly end: string; readonly today: string }
  readonly fromMs: number
  readonly days: number
  readonly columns: readonly TimelineColumn[]
  readonly rows: readonly TimelineRow[]
  /** In the place of rows. */
  readonly empty: ReactNode
  readonly describe: (row: number) => string
  readonly onEnter: (row: number) => void
  readonly table: () => ChartTable
  readonly isTable: boolean
  readonly onTable: (isTable: boolean) => void
}

const ROW_HEIGHT = 28
const NAME_WIDTH = 238
const TIGHT_NAME_WIDTH = 204
/** Narrower, it is a list with bars. */
const LEAST_WIDTH = 640
const TIGHT_WIDTH = 900

const LINES: Record<EndKind, { readonly colour: Colour; readonly mark: Mark; readonly dash?: string }> = {
  soon: { colour: 'warn', mark: 'warn' },
  used: { colour: 'ink-2', mark: 'good' },
  unused: { colour: 'off', mark: 'off', dash: '1.5 3' },
}

export function TimelineChart(props: TimelineProps) {
  const { rows } = props
  const [ref, width] = useWidth<HTMLDivElement>()
  const [at, setAt] = useState<number>()
  const last = rows.length - 1
  return (
    <ChartFrame
      caption={props.caption}
      points={rows.length}
      describe={props.describe}
      at={at}
      onAt={setAt}
      walk={(arrow, from = -1) =>
        Math.min(last, Math.max(0, from + (arrow === 'ArrowUp' || arrow === 'ArrowLeft' ? -1 : 1)))
      }
      onEnter={props.onEnter}
      table={props.table}
      isTable={props.isTable}
      onTable={props.onTable}
    >
      <div ref={ref}>
        {width === 0 ? null : rows.length === 0 ? (
          <EmptyTimeline {...props} width={width} />
        ) : width < LEAST_WIDTH ? (
          <PhoneRows {...props} at={at} />
        ) : (
          <Rows {...props} width={width} at={at} />
        )}
      </div>
    </ChartFrame>
  )
}

interface RowsProps extends TimelineProps {
  readonly width: number
  readonly at: number | undefined
}

function Rows(props: RowsProps) {
  const { rows, words, width, at } = props
  const shown = props.columns
    .map((column, index) => ({ ...column, index }))
    .filter(({ from = 0 }) => width >= from)
  const nameWidth = width < TIGHT_WIDTH ? TIGHT_NAME_WIDTH : NAME_WIDTH
  const scale = {
    ...props,
    width: shown.reduce((room, column) => room - column.width, width - nameWidth),
  }
  return (
    <table aria-label={props.caption} className="w-full table-fixed border-collapse text-12">
      <colgroup>
        <col style={{ width: nameWidth }} />
        <col />
        {shown.map((column) => (
          <col key={column.index} style={{ width: column.width }} />
        ))}
      </colgroup>
      <thead>
        <tr className="h-8 border-b border-line text-ink-2">
          <th scope="col" className="px-2 text-left font-medium">
            {words.name}
          </th>
          <th scope="col" className="p-0 font-medium">
            <span className="sr-only">{words.end}</span>
            <Months scale={scale} today={words.today} />
          </th>
          {shown.map(({ index, head, isNumber }) => (
            <th
              key={index}
              scope="col"
              className={classes('px-2 font-medium whitespace-nowrap', isNumber ? 'text-right' : 'text-left')}
            >
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr
            key={row.key}
            className={classes(
              'h-7 border-b border-line',
              index === at
                ? 'bg-selected [--ground:var(--selected)]'
                : '[--ground:var(--surface)] hover:bg-hover hover:[--ground:var(--hover)]',
            )}
          >
            <td className="p-0">
              <span className="flex items-baseline gap-2 px-2">
                <span className="min-w-0 flex-1 truncate text-13 font-strong">{row.name}</span>
                <Warning row={row} />
                <span className="max-w-20 truncate text-11 text-ink-2">{row.note}</span>
              </span>
            </td>
            <td className="p-0" title={row.hint}>
              <span className="sr-only">{`${row.date} ${row.left}`}</span>
              <EndLine row={row} scale={scale} />
            </td>
            {shown.map(({ index: column, isNumber }) => (
              <td key={column} className={classes('truncate px-2', isNumber && 'text-right tabular-nums')}>
                {row.cells[column]}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Warning({ row: { warning } }: { readonly row: TimelineRow }) {
  return warning !== undefined && <Tag tone="warn">{warning}</Tag>
}

interface MonthsProps {
  readonly scale: TimelineScale
  readonly today: string
  readonly anchor?: 'start' | 'middle'
}

function Months({ scale, today, anchor = 'middle' }: MonthsProps) {
  return (
    <svg aria-hidden width={scale.width} height={16} className="block overflow-visible text-11">
      <text x={0} y={12} textAnchor={anchor} className="fill-ink font-semibold">
        {today}
      </text>
      {monthsOn(scale).map(
        ({ ms, x, isNamed }) =>
          isNamed && (
            <text key={ms} x={x} y={12} textAnchor="middle" className="fill-ink-2">
              {month(ms)}
            </text>
          ),
      )}
    </svg>
  )
}

function Grid({ scale, height }: { readonly scale: TimelineScale; readonly height: number }) {
  return (
    <>
      <path d={`M.5 0V${height}`} stroke="var(--line-strong)" />
      {monthsOn(scale).map(({ ms, x }) => (
        <path key={ms} d={`M${Math.round(x) + 0.5} 0V${height}`} stroke="var(--line)" />
      ))}
    </>
  )
}

function EndLine({ row, scale }: { readonly row: TimelineRow; readonly scale: TimelineScale }) {
  const { colour, mark, dash } = LINES[row.kind]
  const [endX, y] = [timelineX(row.endMs, scale), ROW_HEIGHT / 2]
  return (
    <svg aria-hidden width={scale.width} height={ROW_HEIGHT} className="block overflow-visible">
      <Grid scale={scale} height={ROW_HEIGHT} />
      <path d={`M0 ${y}H${endX}`} stroke={paint(colour)} strokeWidth={1.6} strokeDasharray={dash} />
      {noticesOn(row.endMs, row.notices, scale).map(({ x, isSent }) => (
        <circle
          key={x}
          cx={x}
          cy={y}
          r={3}
          fill={isSent ? paint(colour) : 'var(--ground)'}
          stroke={paint(colour)}
          strokeWidth={1.4}
        />
      ))}
      <circle cx={endX} cy={y} r={6.5} fill="var(--ground)" />
      <g transform={`translate(${endX - 6} ${y - 6})`} color={paint(colour)}>
        {MARK_SHAPES[mark]}
      </g>
      <text x={endX + 12} y={y + 4} className="text-12">
        <tspan className={classes('font-semibold', row.kind === 'soon' ? 'fill-warn' : 'fill-ink')}>
          {row.date}
        </tspan>
        <tspan dx={4} className={row.kind === 'soon' ? 'fill-warn' : 'fill-ink-2'}>
          {row.left}
        </tspan>
      </text>
    </svg>
  )
}

function EmptyTimeline(props: TimelineProps & { readonly width: number }) {
  return (
    <>
      <Months scale={props} today={props.words.today} anchor="start" />
      <div className="relative border-y border-line">
        <svg aria-hidden width={props.width} height={36} className="block">
          <Grid scale={props} height={36} />
        </svg>
        <p className="absolute inset-y-0 left-4 flex items-center bg-surface pr-2">{props.empty}</p>
      </div>
    </>
  )
}

function PhoneRows({ rows, fromMs, days, at }: TimelineProps & { readonly at: number | undefined }) {
  return (
    <ul>
      {rows.map((row, index) => {
        const { colour, mark } = LINES[row.kind]
        const isSoon = row.kind === 'soon'
        return (
          <li
            key={row.key}
            className={classes(
              'flex flex-col gap-1 border-b border-line py-2.5',
              index === at && 'bg-selected',
            )}
          >
            <span className="flex items-baseline gap-2">
              <span className="min-w-0 truncate font-strong">{row.name}</span>
              <span className="shrink-0 text-12 text-ink-3">{row.note}</span>
              <Warning row={row} />
              <span className={classes('ml-auto shrink-0 text-12', isSoon ? 'text-warn' : 'text-ink-2')}>
                {row.date}, {row.left}
              </span>
            </span>
            <span className="flex items-center gap-2.5">
              <svg aria-hidden width={12} height={12} color={paint(colour)} className="shrink-0">
                {MARK_SHAPES[mark]}
              </svg>
              <span className="min-w-0 flex-1">
                <Meter share={(row.endMs - fromMs) / (days * DAY_MS)} colour={colour} />
              </span>
              <span className="w-18 shrink-0 truncate text-right text-12 text-ink-2">{row.phoneNote}</span>
            </span>
          </li>
        )
      })}
    </ul>
  )
}
