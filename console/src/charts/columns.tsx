/** Stacked columns over time, with the axis at the right: sums by group. */
import { useMemo, useState } from 'react'
import { valueTicks, type TimeTick } from './axis.ts'
import { paint, type Colour } from './colours.ts'
import { ChartFrame, type ChartTable } from './frame.tsx'
import { useWidth } from './size.ts'
import { stacked, tallest } from './stack.ts'
import { Tip } from './tip.tsx'

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
  /** In the order of the stack, from below. */
  readonly series: readonly ColumnSeries[]
  /** The sum of each slot in the period before: a dashed outline. */
  readonly before?: readonly number[] | undefined
  /** From the earliest on. */
  readonly marks?: readonly ColumnMark[]
  readonly ticks: readonly TimeTick[]
  /** Of the axis and of what is read out. */
  readonly valueText: (value: number) => string
  readonly axisText?: (value: number) => string
  readonly slotText: (atMs: number) => string
  /** A click, or `↵`, on a slot; `series` undefined: the whole slot. */
  readonly onSelect?: (slot: number, series: number | undefined) => void
  readonly height?: number
  /** The share of a slot that is a gap: 0.22 of days, 0 to 0.3 of minutes. */
  readonly gap?: number
  /** Lines of the axis. */
  readonly lines?: number
}

const AXIS_WIDTH = 44
const LABELS_HEIGHT = 20
/** Nearer to an end, a label would stand outside of the picture. */
const HALF_LABEL = 16
const TOP = 12

export function Columns(props: ColumnsProps) {
  const {
    caption,
    slots,
    slotMs,
    series,
    before,
    marks = [],
    ticks,
    valueText,
    axisText = valueText,
    slotText,
    onSelect,
    height = 250,
    gap = 0.24,
    lines = 3,
  } = props
  const [ref, width] = useWidth<HTMLDivElement>()
  const [at, setAt] = useState<number>()
  const columns = useMemo(
    () => slots.map((_, slot) => series.map(({ values }) => values[slot] ?? 0)),
    [slots, series],
  )
  const parts = useMemo(() => stacked(columns), [columns])
  const scale = valueTicks(Math.max(tallest(columns), ...(before ?? [])), lines)
  const most = scale.at(-1) ?? 1
  const plotWidth = Math.max(0, width - AXIS_WIDTH)
  const plotHeight = height - LABELS_HEIGHT
  const pitch = slots.length === 0 ? 0 : plotWidth / slots.length
  const barWidth = Math.max(1, pitch * (1 - gap))
  const y = (value: number): number => plotHeight - (value / most) * (plotHeight - TOP)
  const xOf = (ms: number): number => ((ms - (slots[0] ?? 0)) / slotMs) * pitch
  const describe = (slot: number): string =>
    [
      slotText(slots[slot] ?? 0),
      ...marksIn(marks, slots[slot] ?? 0, slotMs),
      ...series.map(({ label, values }) => `${label} ${valueText(values[slot] ?? 0)}`),
    ].join(', ')
  const table = (): ChartTable => ({
    heads: ['', ...series.map(({ label }) => label)],
    rows: slots.map((slot, index) => [
      [slotText(slot), ...marksIn(marks, slot, slotMs)].join(', '),
      ...series.map(({ values }) => valueText(values[index] ?? 0)),
    ]),
  })
  return (
    <ChartFrame
      caption={caption}
      points={slots.length}
      describe={describe}
      at={at}
      onAt={setAt}
      table={table}
      {...(onSelect && { onEnter: (slot) => onSelect(slot, undefined) })}
    >
      <div ref={ref}>
        <svg
          width={width}
          height={height}
          className="block overflow-visible"
          onPointerLeave={() => setAt(undefined)}
        >
          {scale.map((value) => (
            <g key={value}>
              <path d={`M0 ${Math.round(y(value)) + 0.5}H${plotWidth}`} stroke="var(--line)" />
              <text x={plotWidth + 8} y={y(value) + 4} className="fill-ink-3 text-11">
                {axisText(value)}
              </text>
            </g>
          ))}
          {parts.map((column, slot) => (
            <g key={slot} onPointerEnter={() => setAt(slot)}>
              <rect x={slot * pitch} y={0} width={pitch} height={plotHeight} fill="transparent" />
              {column.map(({ series: index, from, to }, place) => (
                <rect
                  key={index}
                  x={slot * pitch + (pitch - barWidth) / 2}
                  y={y(to)}
                  width={barWidth}
                  // A hairline between the parts, where there is room for one.
                  height={Math.max(0.5, y(from) - y(to) - (place > 0 && barWidth > 6 ? 1 : 0))}
                  fill={paint(series[index]?.colour ?? 'rest')}
                  opacity={at === undefined || at === slot ? 1 : 0.75}
                  className={onSelect && 'cursor-pointer'}
                  onClick={() => onSelect?.(slot, index)}
                />
              ))}
              {before?.[slot] !== undefined && (
                <rect
                  x={slot * pitch + (pitch - barWidth) / 2 + 0.5}
                  y={y(before[slot])}
                  width={Math.max(0, barWidth - 1)}
                  height={plotHeight - y(before[slot])}
                  fill="none"
                  stroke="var(--ink-3)"
                  strokeDasharray="3 2"
                  pointerEvents="none"
                />
              )}
            </g>
          ))}
          {marks.map((mark, index) => (
            <MarkView
              key={`${mark.atMs} ${mark.text}`}
              mark={mark}
              x={xOf(mark.atMs)}
              endX={marks[index + 1] ? xOf(marks[index + 1]!.atMs) : plotWidth}
              height={plotHeight}
            />
          ))}
          {ticks.map((tick) => (
            <text
              key={tick.atMs}
              x={Math.min(plotWidth, xOf(tick.atMs) + barWidth / 2)}
              y={height - 3}
              textAnchor={anchorAt(xOf(tick.atMs), plotWidth)}
              className="fill-ink-3 text-11"
            >
              {tick.text}
            </text>
          ))}
        </svg>
        {at !== undefined && (
          <Tip
            x={(at + 0.5) * pitch}
            width={plotWidth}
            title={[slotText(slots[at] ?? 0), ...marksIn(marks, slots[at] ?? 0, slotMs)].join(' · ')}
            // As in the picture, the first series is at the bottom.
            lines={series
              .flatMap(({ label, colour, values }) =>
                (values[at] ?? 0) > 0 ? [{ label, colour, value: valueText(values[at] ?? 0) }] : [],
              )
              .toReversed()}
          />
        )}
      </div>
    </ChartFrame>
  )
}

function marksIn(marks: readonly ColumnMark[], fromMs: number, slotMs: number): readonly string[] {
  return marks.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + slotMs).map(({ text }) => text)
}

/** A letter is about so wide. */
const LETTER_WIDTH = 5.6

/** Its text stands there where it ends before the next mark; the tip of its slot has it too. */
function MarkView({
  mark: { text, sign },
  x,
  endX,
  height,
}: {
  readonly mark: ColumnMark
  readonly x: number
  readonly endX: number
  readonly height: number
}) {
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

function anchorAt(x: number, width: number): 'start' | 'middle' | 'end' {
  return x < HALF_LABEL ? 'start' : x > width - HALF_LABEL ? 'end' : 'middle'
}
