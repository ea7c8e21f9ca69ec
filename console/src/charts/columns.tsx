/** Stacked columns over time: sums by group, slot by slot. */
import { useMemo } from 'react'
import { fromZero, type AxisText } from './axis.ts'
import { paint, type Colour } from './colours.ts'
import { Plot, type PlotBrush, type PlotFrame } from './plot.tsx'
import { stacked, tallest, type Part } from './stack.ts'

export interface ColumnSeries {
  readonly label: string
  readonly colour: Colour
  /** One value a slot. */
  readonly values: readonly number[]
}

export interface ColumnMark {
  readonly atMs: number
  readonly text: string
  /** A letter in its circle. */
  readonly sign?: string
}

interface ColumnsProps {
  /** The finding, in a sentence. */
  readonly caption: string
  /** When each slot begins. */
  readonly slots: readonly number[]
  readonly slotMs: number
  /** The zone of the axis, where it is not the one that is shown. */
  readonly zone?: string | undefined
  /** In the order of the stack, from below. */
  readonly series: readonly ColumnSeries[]
  /** The sum of each slot in the period before: a dashed outline. */
  readonly before?: readonly number[] | undefined
  /** From the earliest on. */
  readonly marks?: readonly ColumnMark[]
  readonly valueText: (value: number) => string
  /** Undefined: without an axis of values. */
  readonly axisText?: AxisText | undefined
  readonly slotText: (atMs: number) => string
  /** A click, or `↵`, on a slot; `series` undefined: the whole slot. */
  readonly onSelect?: (slot: number, series: number | undefined) => void
  readonly brush?: PlotBrush
  readonly height?: number
  /** The share of a slot that is a gap. */
  readonly gap?: number
  /** Lines of the axis. */
  readonly lines?: number
}

/** Room above the columns of a chart without an axis, in pixels. */
const BARE_TOP = 4

export function Columns(props: ColumnsProps) {
  const { slots, slotMs, series, before, marks = [], valueText, axisText, slotText, onSelect } = props
  const columns = useMemo(
    () => slots.map((_, slot) => series.map(({ values }) => values[slot] ?? 0)),
    [slots, series],
  )
  const parts = useMemo(() => stacked(columns), [columns])
  const most = Math.max(tallest(columns), ...(before ?? []))
  const scale = axisText
    ? fromZero(most, props.lines ?? 3, axisText)
    : { ticks: [], share: (value: number) => value / Math.max(1, most) }
  const [fromMs = 0, lastMs = 0] = [slots[0], slots.at(-1)]
  return (
    <Plot
      caption={props.caption}
      span={{ fromMs, toMs: lastMs + slotMs }}
      zone={props.zone}
      stops={slots}
      stopText={(slot) =>
        [slotText(slots[slot] ?? 0), ...marksIn(marks, slots[slot] ?? 0, slotMs)].join(' · ')
      }
      slotMs={slotMs}
      series={series.map(({ label, colour, values }) => ({
        label,
        colour,
        text: (slot) => valueText(values[slot] ?? 0),
        isNothing: (slot) => !((values[slot] ?? 0) > 0),
      }))}
      isStacked
      scale={scale}
      height={props.height ?? 250}
      {...(!axisText && { top: BARE_TOP })}
      onEnter={onSelect && ((slot) => onSelect(slot, undefined))}
      brush={props.brush}
    >
      {(frame) => (
        <>
          <Bars {...props} frame={frame} parts={parts} />
          {marks.map((mark, index) => (
            <MarkView
              key={`${mark.atMs} ${mark.text}`}
              mark={mark}
              x={frame.x(mark.atMs)}
              endX={marks[index + 1] ? frame.x(marks[index + 1]!.atMs) : frame.width}
              height={frame.height}
            />
          ))}
        </>
      )}
    </Plot>
  )
}

interface BarsProps extends Pick<
  ColumnsProps,
  'slots' | 'slotMs' | 'series' | 'before' | 'onSelect' | 'gap'
> {
  readonly frame: PlotFrame
  readonly parts: readonly (readonly Part[])[]
}

function Bars({ frame, parts, slots, slotMs, series, before, onSelect, gap = 0.24 }: BarsProps) {
  const { x, y, height } = frame
  return slots.map((ms, slot) => {
    const pitch = x(ms + slotMs) - x(ms)
    const width = Math.max(0.75, pitch * (1 - gap))
    const left = x(ms) + (pitch - width) / 2
    const earlier = before?.[slot]
    return (
      <g key={ms}>
        {parts[slot]?.map(({ series: index, from, to }, place) => (
          <rect
            key={index}
            x={left}
            y={y(to)}
            width={width}
            // A hairline between the parts, where there is room for one.
            height={Math.max(0.5, y(from) - y(to) - (place > 0 && width > 6 ? 1 : 0))}
            fill={paint(series[index]?.colour ?? 'rest')}
            className={onSelect && 'cursor-pointer'}
            onClick={() => onSelect?.(slot, index)}
          />
        ))}
        {earlier !== undefined && (
          <rect
            x={left + 0.5}
            y={y(earlier)}
            width={Math.max(0, width - 1)}
            height={height - y(earlier)}
            fill="none"
            stroke="var(--ink-3)"
            strokeDasharray="3 2"
            pointerEvents="none"
          />
        )}
      </g>
    )
  })
}

function marksIn(marks: readonly ColumnMark[], fromMs: number, slotMs: number): readonly string[] {
  return marks.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + slotMs).map(({ text }) => text)
}

/** The mean width of a letter, in pixels. */
const LETTER_WIDTH = 5.6

interface MarkViewProps {
  readonly mark: ColumnMark
  readonly x: number
  readonly endX: number
  readonly height: number
}

/** Its text is shown where it ends before the next mark; the cursor names it too. */
function MarkView({ mark: { text, sign }, x, endX, height }: MarkViewProps) {
  const hasRoom = x + 18 + text.length * LETTER_WIDTH <= endX
  return (
    <g pointerEvents="none">
      <path d={`M${x} 0V${height}`} stroke="var(--ink-2)" strokeDasharray="1.5 3" strokeWidth="1.5" />
      <circle cx={x} cy={0} r="5.5" fill="var(--ink-2)" />
      {sign !== undefined && (
        <text x={x} y={3} textAnchor="middle" fontSize={8} className="fill-surface font-semibold">
          {sign}
        </text>
      )}
      {hasRoom && (
        <text x={x + 10} y={4} className="fill-ink-2 text-11">
          {text}
        </text>
      )}
    </g>
  )
}
