/** Lines over time on a canvas, by uPlot: for hundreds of points and more, with a cursor, and a mark by dragging. */
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useTheme } from '../app/theme.ts'
import { useZone } from '../app/zone.ts'
import { endTicks } from './axis.ts'
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
  readonly timeText: (ms: number) => string
  /** Of the axis below, where shorter than what the tip says. */
  readonly axisTimeText?: (ms: number) => string
  /** Zero is included unless it is a logarithm. */
  readonly scale?: 'linear' | 'log'
  readonly ticks?: readonly number[]
  readonly range?: readonly [least: number, most: number]
  /** The whole range of time, where the points don't cover it. */
  readonly timeRange?: readonly [fromMs: number, toMs: number]
  /** Small pictures name both ends of the range and its middle; round times would be one or two. */
  readonly timeTicks?: 'round' | 'ends'
  readonly lines?: readonly TimeLine[]
  readonly height?: number
  readonly axisWidth?: number
  readonly onMark?: (range: { readonly fromMs: number; readonly toMs: number }) => void
}

const DASHES = { dashed: [5, 4], dotted: [1.5, 3] }
const FONT = '11px Inter, sans-serif'
const LABELS_HEIGHT = 20
const ENDS_HEIGHT = 14
const AXIS_WIDTH = 44

export function TimeChart(props: TimeChartProps) {
  const { caption, timesMs, series, valueText, timeText, height = 170 } = props
  const ends = props.timeTicks === 'ends' ? props.timeRange : undefined
  const plotHeight = ends === undefined ? height : height - ENDS_HEIGHT
  const [ref, width] = useWidth<HTMLDivElement>()
  const [at, setAt] = useState<number>()
  const theme = useTheme()
  const zone = useZone()
  const drawn = useRef<UPlot>(undefined)
  const [plot, setPlot] = useState<UPlot>()
  const data = useMemo<UPlot.AlignedData>(
    () => [timesMs.map((ms) => ms / 1000), ...series.map(({ values }) => [...values])],
    [timesMs, series],
  )
  const labels = series.map(({ label, colour, dash }) => `${label} ${colour} ${dash}`).join()
  const shape = [
    width,
    height,
    theme,
    zone,
    labels,
    props.scale,
    props.range,
    props.timeRange,
    props.lines?.length,
    props.ticks,
  ].join(' ')
  const make = useEffectEvent((place: HTMLElement) =>
    width === 0 ? undefined : new UPlot(optionsOf(props, width, plotHeight, setAt), data, place),
  )
  useEffect(() => {
    const made = ref.current === null ? undefined : make(ref.current)
    drawn.current = made
    setPlot(made)
    return () => made?.destroy()
    // New numbers alone are set below. Another shape is another chart.
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- The text of the shape stands for what it is made of.
  }, [ref, shape])
  useEffect(() => drawn.current?.setData(data), [data])
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
  const x = at === undefined || plot === undefined ? 0 : plot.valToPos((timesMs[at] ?? 0) / 1000, 'x')
  return (
    <ChartFrame
      caption={caption}
      points={timesMs.length}
      describe={describe}
      at={at}
      onAt={setAt}
      table={table}
    >
      <div ref={ref} style={{ height: plotHeight }} />
      {ends && (
        <p
          aria-hidden
          className="flex items-end justify-between text-11 leading-none text-ink-2 tabular-nums"
          style={{ height: ENDS_HEIGHT, paddingRight: props.axisWidth ?? AXIS_WIDTH }}
        >
          {endTicks(ends[0], ends[1], 2, props.axisTimeText ?? timeText).map(({ atMs, text }) => (
            <span key={atMs}>{text}</span>
          ))}
        </p>
      )}
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

/** Of a time below the picture, in pixels. */
const HALF_LABEL = 15
/** Some room above the highest line. */
const HEADROOM = 1.05

function optionsOf(
  props: TimeChartProps,
  width: number,
  height: number,
  onAt: (index: number | undefined) => void,
): UPlot.Options {
  const {
    series,
    valueText,
    timeText,
    axisTimeText = timeText,
    scale = 'linear',
    range,
    timeRange,
    ticks,
    lines = [],
    axisWidth = AXIS_WIDTH,
    onMark,
  } = props
  const [label, grid] = [computed('ink-2'), computedLine()]
  return {
    width,
    height,
    legend: { show: false },
    // Half of the lowest number stands below the plot.
    padding: [8, 0, props.timeTicks === 'ends' ? 6 : 0, 0],
    cursor: {
      x: false,
      y: false,
      points: { show: false },
      drag: { x: onMark !== undefined, y: false, setScale: false },
    },
    scales: {
      x: { time: true, ...(timeRange && { range: [timeRange[0] / 1000, timeRange[1] / 1000] }) },
      y: {
        distr: scale === 'log' ? 3 : 1,
        ...(range
          ? { range: [range[0], range[1]] }
          : scale === 'linear' && { range: (_plot, _least, most) => [0, most > 0 ? most * HEADROOM : 1] }),
      },
    },
    axes: [
      {
        stroke: label,
        font: FONT,
        size: LABELS_HEIGHT,
        gap: 4,
        show: props.timeTicks !== 'ends',
        grid: { show: false },
        ticks: { show: false },
        space: 70,
        // At the very left half of it would be cut off.
        values: (plot, splits) =>
          splits.map((seconds) =>
            plot.valToPos(seconds, 'x') < HALF_LABEL ? '' : axisTimeText(seconds * 1000),
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
        space: 40,
        ...(ticks && { splits: () => [...ticks] }),
        values: (_plot, splits) => splits.map((value) => (value === null ? '' : valueText(value))),
      },
    ],
    series: [
      {},
      ...series.map(({ label: name, colour, dash, fill, step, strokeWidth = 1.5 }): UPlot.Series => {
        const stroke = computed(colour)
        return {
          label: name,
          stroke,
          width: strokeWidth,
          points: { show: false },
          ...(dash && { dash: DASHES[dash] }),
          ...(fill === true && { fill: translucent(stroke) }),
          ...(step === true && UPlot.paths.stepped && { paths: UPlot.paths.stepped({ align: 1 }) }),
        }
      }),
    ],
    hooks: {
      setCursor: [(plot) => onAt(plot.cursor.idx ?? undefined)],
      setSelect: [
        (plot) => {
          const { left, width: wide } = plot.select
          if (wide < 4 || onMark === undefined) return
          onMark({ fromMs: plot.posToVal(left, 'x') * 1000, toMs: plot.posToVal(left + wide, 'x') * 1000 })
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        },
      ],
      draw: [(plot) => drawLines(plot, lines)],
    },
  }
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
