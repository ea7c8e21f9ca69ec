/** Lines over time on a canvas, by uPlot: for hundreds of points and more, with a cursor. */
import { useEffect, useMemo, useRef, useState, type RefObject } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useTheme } from '../app/theme.ts'
import { maxTicks, timeTicks } from '../time/ticks.ts'
import { useZone } from '../time/zone.ts'
import { fromZero, type AxisText, type ValueScale } from './axis.ts'
import { computed, type Colour } from './colours.ts'
import { ChartFrame, type ChartTable } from './frame.tsx'
import { useWidth } from './size.ts'
import { Tip } from './tip.tsx'

interface TimeSeries {
  readonly label: string
  readonly colour: Colour
  readonly values: readonly (number | null)[]
  readonly dash?: 'dashed' | 'dotted'
  /** The area below it, pale. */
  readonly fill?: boolean
  /** A step line. */
  readonly step?: boolean
  readonly strokeWidth?: number
}

interface TimeLine {
  readonly value: number
  readonly colour: Colour
  readonly label?: string
}

interface TimeChartProps {
  readonly caption: string
  readonly timesMs: readonly number[]
  readonly series: readonly TimeSeries[]
  readonly valueText: (value: number) => string
  /** Of the axis, where it is not `valueText`. */
  readonly axisText?: AxisText
  readonly timeText: (ms: number) => string
  /** Zero is included unless it is a logarithm. */
  readonly scale?: 'linear' | 'log'
  readonly ticks?: readonly number[]
  readonly range?: readonly [least: number, most: number]
  /** The whole range of time: the points may not cover it. */
  readonly timeRange: readonly [fromMs: number, toMs: number]
  readonly lines?: readonly TimeLine[]
  readonly height?: number
  readonly axisWidth?: number
}

const DASHES = { dashed: [5, 4], dotted: [1.5, 3] }
const FONT = '11px Inter, sans-serif'
const HEIGHT = 170
const LABELS_HEIGHT = 20
const AXIS_WIDTH = 44
/** Room that a label of the values needs, in pixels. */
const TICK_HEIGHT = 36
/** Diameter of a point that no line leads to, in pixels. */
const POINT_SIZE = 5

export function TimeChart(props: TimeChartProps) {
  const { caption, timesMs, series, valueText, timeText, height = HEIGHT } = props
  const [ref, width] = useWidth<HTMLDivElement>()
  const [at, setAt] = useState<number>()
  const theme = useTheme()
  const zone = useZone()
  const plot = useRef<UPlot>(undefined)
  const data = useMemo<UPlot.AlignedData>(
    () => [timesMs.map((ms) => ms / 1000), ...series.map(({ values }) => [...values])],
    [timesMs, series],
  )
  // New numbers alone are set below. The chart is made again when anything else that it shows changes.
  const shape = JSON.stringify([
    series.map(({ values: _, ...look }) => look),
    props.scale,
    props.range,
    props.timeRange,
    props.lines,
    props.ticks,
    height,
    props.axisWidth,
  ])
  const newest = useRef(props)
  newest.current = props
  useEffect(() => {
    const place = ref.current
    if (place === null || width === 0) return
    const made = new UPlot(optionsOf(newest, width, setAt), data, place)
    plot.current = made
    return () => {
      made.destroy()
      plot.current = undefined
    }
  }, [width, theme, zone, shape])
  useEffect(() => plot.current?.setData(data), [data])
  const describe = (index: number): string =>
    [
      timeText(timesMs[index] ?? 0),
      ...series.map(({ label, values }) => `${label} ${textOf(values[index], valueText)}`),
    ].join(', ')
  const table = (): ChartTable => ({
    heads: ['', ...series.map(({ label }) => label)],
    rows: timesMs.map((ms, index) => [
      timeText(ms),
      ...series.map(({ values }) => textOf(values[index], valueText)),
    ]),
  })
  const x =
    at === undefined || plot.current === undefined ? 0 : plot.current.valToPos((timesMs[at] ?? 0) / 1000, 'x')
  return (
    <ChartFrame
      caption={caption}
      points={timesMs.length}
      describe={describe}
      at={at}
      onAt={setAt}
      table={table}
    >
      <div ref={ref} style={{ height }} />
      {at !== undefined && (
        <>
          <span
            aria-hidden
            className="pointer-events-none absolute top-0 bottom-5 w-px bg-line-strong"
            style={{ left: x }}
          />
          <Tip
            x={x}
            width={width}
            title={timeText(timesMs[at] ?? 0)}
            lines={series.map(({ label, colour, values }) => ({
              label,
              colour,
              value: textOf(values[at], valueText),
            }))}
          />
        </>
      )}
    </ChartFrame>
  )
}

function textOf(value: number | null | undefined, text: (value: number) => string): string {
  return value === null || value === undefined ? '–' : text(value)
}

/** Half of a label of the time axis, in pixels: nearer to the left end it would be cut off. */
const HALF_LABEL = 15

type Newest = Readonly<RefObject<TimeChartProps>>

/** Axes read the newest values; everything else is fixed while the chart lives. */
function optionsOf(newest: Newest, width: number, onAt: (index: number | undefined) => void): UPlot.Options {
  const { series, scale = 'linear', range, timeRange, ticks, lines = [], height = HEIGHT } = newest.current
  const axisWidth = newest.current.axisWidth ?? AXIS_WIDTH
  const [fromMs, toMs] = timeRange
  const [label, grid] = [computed('ink-2'), computedLine()]
  const times = timeTicks({ fromMs, toMs }, maxTicks(width - axisWidth))
  return {
    width,
    height,
    legend: { show: false },
    padding: [8, 0, 0, 0],
    cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: true, range: [fromMs / 1000, toMs / 1000] },
      y: {
        distr: scale === 'log' ? 3 : 1,
        range: range ? [range[0], range[1]] : () => [0, valueScale(newest).ticks.at(-1)?.value ?? 1],
      },
    },
    axes: [
      {
        stroke: label,
        font: FONT,
        size: LABELS_HEIGHT,
        gap: 4,
        grid: { show: false },
        ticks: { show: false },
        splits: () => times.map(({ atMs }) => atMs / 1000),
        values: (plot, splits) =>
          splits.map((seconds, index) =>
            plot.valToPos(seconds, 'x') < HALF_LABEL ? '' : (times[index]?.text ?? ''),
          ),
      },
      {
        side: 1,
        stroke: label,
        font: FONT,
        size: axisWidth,
        gap: 8,
        grid: { stroke: grid, width: 1 },
        ticks: { show: false },
        splits: () => (ticks ? [...ticks] : valueScale(newest).ticks.map(({ value }) => value)),
        values: (_plot, splits) =>
          ticks ? splits.map(newest.current.valueText) : valueScale(newest).ticks.map(({ text }) => text),
      },
    ],
    series: [{}, ...series.map((one) => lineOf(one))],
    hooks: {
      setCursor: [(plot) => onAt(plot.cursor.idx ?? undefined)],
      draw: [(plot) => drawLines(plot, lines)],
    },
  }
}

function valueScale({ current }: Newest): ValueScale {
  const { series, lines = [], height = HEIGHT, axisText = current.valueText } = current
  const values = [...series.flatMap((one) => one.values), ...lines.map(({ value }) => value)]
  const most = values.reduce<number>((highest, value) => Math.max(highest, value ?? 0), 0)
  return fromZero(most, Math.max(1, Math.floor((height - LABELS_HEIGHT) / TICK_HEIGHT)), axisText)
}

function lineOf({ label, colour, dash, fill, step, strokeWidth = 1.5 }: TimeSeries): UPlot.Series {
  const stroke = computed(colour)
  return {
    label,
    stroke,
    width: strokeWidth,
    // A value between two gaps has no line: it is a point.
    points: {
      show: true,
      size: POINT_SIZE,
      stroke,
      fill: stroke,
      filter: (plot, index) => alone(plot.data[index] ?? []),
    },
    ...(dash && { dash: DASHES[dash] }),
    ...(fill === true && { fill: translucent(stroke) }),
    ...(step === true && UPlot.paths.stepped && { paths: UPlot.paths.stepped({ align: 1 }) }),
  }
}

/** Places of the values without a neighbour. */
function alone(values: ArrayLike<number | null | undefined>): number[] {
  const isThere = (index: number): boolean => typeof values[index] === 'number'
  return Array.from(values, (_, index) => index).filter(
    (index) => isThere(index) && !isThere(index - 1) && !isThere(index + 1),
  )
}

function drawLines(plot: UPlot, lines: readonly TimeLine[]): void {
  const { ctx, bbox } = plot
  for (const { value, colour, label } of lines) {
    const y = Math.round(plot.valToPos(value, 'y', true)) + 0.5
    if (y < bbox.top || y > bbox.top + bbox.height) continue
    ctx.save()
    ctx.strokeStyle = ctx.fillStyle = computed(colour)
    ctx.lineWidth = devicePixelRatio
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(bbox.left + bbox.width, y)
    ctx.stroke()
    if (label !== undefined) {
      ctx.font = `${11 * devicePixelRatio}px Inter, sans-serif`
      ctx.fillText(label, bbox.left + 8 * devicePixelRatio, y - 4 * devicePixelRatio)
    }
    ctx.restore()
  }
}

function computedLine(): string {
  return getComputedStyle(document.documentElement).getPropertyValue('--line').trim()
}

/** `rgb(1, 2, 3)` → the same, pale. */
function translucent(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.15)')
}
