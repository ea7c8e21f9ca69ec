/** The one chart over time: grid, both axes, a cursor for pointer and keys, its values, and a range that is marked by dragging. */
import { useState, type PointerEvent, type ReactNode } from 'react'
import { DAY_MS } from '../time/day.ts'
import type { TimeSpan } from '../time/range.ts'
import { maxTicks, timeTicks } from '../time/ticks.ts'
import { timeZone, useZone } from '../time/zone.ts'
import { words } from '../words/words.ts'
import type { ValueScale } from './axis.ts'
import { brushIn, brushOf, type Brush } from './brush.ts'
import type { Colour } from './colours.ts'
import { ChartFrame } from './frame.tsx'
import { useWidth } from './size.ts'
import { Tip } from './tip.tsx'

export interface PlotSeries {
  readonly label: string
  readonly colour: Colour
  readonly text: (stop: number) => string
  /** It is left out of what the cursor says, but not of the table. */
  readonly isNothing?: (stop: number) => boolean
}

/** The part of a chart inside its axes, in pixels. */
export interface PlotFrame {
  readonly width: number
  readonly height: number
  readonly x: (ms: number) => number
  readonly y: (value: number) => number
}

export interface PlotBrush {
  /** The marked range, if it is narrower than the whole. */
  readonly marked: TimeSpan | undefined
  /** Undefined: the mark is removed. */
  readonly onMark: (span: TimeSpan | undefined) => void
}

interface PlotProps {
  /** The finding, in a sentence. */
  readonly caption: string
  readonly span: TimeSpan
  /** The zone of the axis. Default: the one that is shown; days of the ledger are UTC. */
  readonly zone?: string | undefined
  /** Moments that the cursor stops at, oldest first. */
  readonly stops: readonly number[]
  readonly stopText: (stop: number) => string
  /** Each stop is a slot of this length. Undefined: it is a point. */
  readonly slotMs?: number
  readonly series: readonly PlotSeries[]
  /** The cursor lists series from the top of a stack. */
  readonly isStacked?: boolean
  readonly scale: ValueScale
  readonly height: number
  /** Room above the highest value, in pixels. */
  readonly top?: number
  readonly axisWidth?: number
  readonly onEnter?: ((stop: number) => void) | undefined
  readonly brush?: PlotBrush | undefined
  readonly children: (frame: PlotFrame) => ReactNode
}

const AXIS_WIDTH = 44
export const LABELS_HEIGHT = 20
/** Nearer to an end, half of a label would lie outside. */
const HALF_LABEL = 18

export function Plot(props: PlotProps) {
  const { caption, span, stops, stopText, slotMs, series, scale, height, brush, top = 12 } = props
  const [ref, width] = useWidth<HTMLDivElement>()
  const [at, setAt] = useState<number>()
  useZone()
  const frame = frameOf(span, scale, {
    width: Math.max(0, width - (scale.ticks.length === 0 ? 0 : (props.axisWidth ?? AXIS_WIDTH))),
    height: height - LABELS_HEIGHT,
    top,
  })
  const found = (event: PointerEvent<SVGSVGElement>): number | undefined => {
    const left = event.clientX - event.currentTarget.getBoundingClientRect().left
    const ms = span.fromMs + (left / Math.max(1, frame.width)) * (span.toMs - span.fromMs)
    return stopAt(ms, span, stops, slotMs)
  }
  const marking = useBrush({ brush, stops, slotMs: slotMs ?? 0, at })
  const { dragged, isDragging } = marking
  const saidAt = (stop: number): readonly PlotSeries[] =>
    series.filter(({ isNothing }) => isNothing?.(stop) !== true)
  // Where nothing happened, zeros are read out, not silence.
  const describe = (stop: number): string => {
    const said = saidAt(stop)
    const lines = (said.length === 0 ? series : said).map(({ label, text }) => `${label} ${text(stop)}`)
    return [stopText(stop), ...lines].join(', ')
  }
  return (
    <ChartFrame
      caption={caption}
      points={stops.length}
      describe={describe}
      at={at}
      onAt={(next) => {
        setAt(next)
        if (next === undefined) marking.stop()
      }}
      onEnter={brush ? marking.enter : (stop) => props.onEnter?.(stop)}
      table={() => ({
        heads: ['', ...series.map(({ label }) => label)],
        rows: stops.map((_, stop) => [stopText(stop), ...series.map(({ text }) => text(stop))]),
      })}
    >
      <div ref={ref}>
        <svg
          aria-hidden
          width={width}
          height={height}
          className={`block overflow-visible ${brush ? 'cursor-crosshair touch-pan-y select-none' : ''}`}
          onPointerMove={(event) => setAt(found(event) ?? (isDragging ? at : undefined))}
          onPointerLeave={() => !isDragging && setAt(undefined)}
          onPointerDown={(event) => {
            if (!brush) return
            event.currentTarget.setPointerCapture(event.pointerId)
            marking.begin(found(event))
          }}
          onPointerUp={() => brush && marking.end()}
        >
          <rect width={frame.width} height={frame.height} fill="transparent" />
          <Grid frame={frame} scale={scale} />
          <TimeAxis frame={frame} span={span} zone={props.zone ?? timeZone()} slotMs={slotMs} />
          {props.children(frame)}
          {at !== undefined && !dragged && <Cursor frame={frame} atMs={stops[at] ?? 0} slotMs={slotMs} />}
          {dragged && slotMs !== undefined && (
            <BrushView
              x={frame.x(stops[dragged.first] ?? 0)}
              end={frame.x((stops[dragged.last] ?? 0) + slotMs)}
              height={frame.height}
            />
          )}
        </svg>
        {at !== undefined && !isDragging && stops[at] !== undefined && (
          <Tip
            x={frame.x(stops[at] + (slotMs ?? 0) / 2)}
            width={frame.width}
            title={stopText(at)}
            lines={(props.isStacked === true ? saidAt(at).toReversed() : saidAt(at)).map(
              ({ label, colour, text }) => ({ label, colour, value: text(at) }),
            )}
          />
        )}
      </div>
      {brush && marking.isKept && (
        <button type="button" className="sr-only focus:not-sr-only" onClick={() => brush.onMark(undefined)}>
          {words.ui.clear}
        </button>
      )}
    </ChartFrame>
  )
}

/** The stop that a moment belongs to. Undefined: there is none near it. */
function stopAt(
  ms: number,
  { fromMs, toMs }: TimeSpan,
  stops: readonly number[],
  slotMs: number | undefined,
): number | undefined {
  const found = stops.findLastIndex((stop) => stop <= ms)
  // Between two points it is the earlier one, and beyond the last nothing is known.
  const reachMs = slotMs ?? (found === stops.length - 1 ? (toMs - fromMs) / 100 : Infinity)
  return found < 0 || ms > (stops[found] ?? 0) + reachMs ? undefined : found
}

interface BrushOptions {
  readonly brush: PlotBrush | undefined
  readonly stops: readonly number[]
  readonly slotMs: number
  readonly at: number | undefined
}

/** Marks a range by dragging, or by a first and a second `↵`. */
function useBrush({ brush, stops, slotMs, at }: BrushOptions) {
  const [begun, setBegun] = useState<number>()
  const kept = brush?.marked && brushIn(brush.marked.fromMs, brush.marked.toMs, stops, slotMs)
  const isDragging = begun !== undefined
  const mark = ({ first, last }: Brush): void => {
    const [fromMs, toMs] = [stops[first], stops[last]]
    if (fromMs !== undefined && toMs !== undefined) brush?.onMark({ fromMs, toMs: toMs + slotMs })
  }
  return {
    isDragging,
    isKept: kept !== undefined,
    dragged: isDragging && at !== undefined ? brushOf(begun, at) : kept,
    begin: setBegun,
    stop: () => setBegun(undefined),
    end: () => {
      setBegun(undefined)
      // A click marks nothing: it removes the mark.
      if (isDragging && at !== undefined && at !== begun) mark(brushOf(begun, at))
      else if (kept) brush?.onMark(undefined)
    },
    enter: (stop: number) => {
      if (isDragging) mark(brushOf(begun, stop))
      setBegun(isDragging ? undefined : stop)
    },
  }
}

function frameOf(
  { fromMs, toMs }: TimeSpan,
  { share }: ValueScale,
  { width, height, top }: { readonly width: number; readonly height: number; readonly top: number },
): PlotFrame {
  return {
    width,
    height,
    x: (ms) => ((ms - fromMs) / Math.max(1, toMs - fromMs)) * width,
    y: (value) => height - share(value) * (height - top),
  }
}

export function Grid({
  frame,
  scale,
}: {
  readonly frame: Pick<PlotFrame, 'width' | 'height' | 'y'>
  readonly scale: ValueScale
}) {
  return (
    <>
      <path d={`M0 ${frame.height - 0.5}H${frame.width}`} stroke="var(--line)" />
      {scale.ticks.map(({ value, text }) => (
        <g key={value}>
          <path d={`M0 ${Math.round(frame.y(value)) - 0.5}H${frame.width}`} stroke="var(--line)" />
          <text x={frame.width + 8} y={frame.y(value) + 4} className="fill-ink-3 text-11">
            {text}
          </text>
        </g>
      ))}
    </>
  )
}

interface TimeAxisProps {
  readonly frame: PlotFrame
  readonly span: TimeSpan
  readonly zone: string | undefined
  readonly slotMs: number | undefined
}

function TimeAxis({ frame, span, zone, slotMs = 0 }: TimeAxisProps) {
  const { width, height, x } = frame
  // The name of a day lies below the middle of its column.
  const shiftMs = slotMs >= DAY_MS ? slotMs / 2 : 0
  return timeTicks(span, maxTicks(width), zone).map(({ atMs, text }) => {
    const left = x(atMs + shiftMs)
    if (left > width) return null
    return (
      <text
        key={atMs}
        x={left}
        y={height + LABELS_HEIGHT - 3}
        textAnchor={left < HALF_LABEL ? 'start' : left > width - HALF_LABEL ? 'end' : 'middle'}
        className="fill-ink-3 text-11"
      >
        {text}
      </text>
    )
  })
}

interface CursorProps {
  readonly frame: PlotFrame
  readonly atMs: number
  readonly slotMs: number | undefined
}

/** A band over a slot, or a line at a point. */
function Cursor({ frame: { x, height }, atMs, slotMs }: CursorProps) {
  if (slotMs === undefined)
    return <path d={`M${x(atMs)} 0V${height}`} stroke="var(--line-strong)" pointerEvents="none" />
  const width = Math.max(1, x(atMs + slotMs) - x(atMs))
  return (
    <rect
      x={x(atMs)}
      width={width}
      height={height}
      fill="var(--ink)"
      opacity={width < 3 ? 0.4 : 0.08}
      pointerEvents="none"
    />
  )
}

interface BrushViewProps {
  readonly x: number
  readonly end: number
  readonly height: number
}

function BrushView({ x, end, height }: BrushViewProps) {
  return (
    <g pointerEvents="none">
      <rect x={x} y={0} width={end - x} height={height} fill="var(--accent)" opacity="0.12" />
      <path d={`M${x + 1} 0V${height}M${end - 1} 0V${height}`} stroke="var(--accent)" strokeWidth="2" />
    </g>
  )
}
