/** Lines over time, of values slot by slot. */
import type { TimeSpan } from '../time/range.ts'
import { fromZero, type AxisText, type ValueScale } from './axis.ts'
import { paint, type Colour } from './colours.ts'
import { linePaths } from './line-paths.ts'
import { LABELS_HEIGHT, Plot, type PlotFrame } from './plot.tsx'

interface LineSeries {
  readonly label: string
  readonly colour: Colour
  /** One value a moment. null: nothing is known. */
  readonly values: readonly (number | null)[]
  readonly dash?: 'dashed' | 'dotted'
  /** The area below it, pale. */
  readonly fill?: boolean
  /** A value holds until the next one. */
  readonly step?: boolean
}

interface LinesProps {
  readonly caption: string
  readonly timesMs: readonly number[]
  readonly series: readonly LineSeries[]
  readonly valueText: (value: number) => string
  /** Of the axis, where it is not `valueText`. */
  readonly axisText?: AxisText
  readonly timeText: (ms: number) => string
  /** The whole range of time: the points may not cover it. */
  readonly span: TimeSpan
  /** A logarithmic axis. Undefined: it is linear, from zero. */
  readonly log?: { readonly ticks: readonly number[]; readonly least: number; readonly most: number }
  readonly height?: number
  readonly axisWidth?: number
}

const DASHES = { dashed: '5 4', dotted: '1.5 3' }
/** Room that a label of the values needs, in pixels. */
const TICK_HEIGHT = 36

export function Lines(props: LinesProps) {
  const { timesMs, series, valueText, timeText, height = 170 } = props
  return (
    <Plot
      caption={props.caption}
      span={props.span}
      stops={timesMs}
      stopText={(stop) => timeText(timesMs[stop] ?? 0)}
      series={series.map(({ label, colour, values }) => ({
        label,
        colour,
        text: (stop) => (values[stop] == null ? '–' : valueText(values[stop])),
      }))}
      scale={scaleOf(props, height)}
      height={height}
      {...(props.axisWidth !== undefined && { axisWidth: props.axisWidth })}
    >
      {(frame) =>
        series.map((one) => (
          <LineView key={one.label} one={one} timesMs={timesMs} toMs={props.span.toMs} frame={frame} />
        ))
      }
    </Plot>
  )
}

function scaleOf({ series, valueText, axisText = valueText, log }: LinesProps, height: number): ValueScale {
  if (log) {
    const ticks = log.ticks.map((value) => ({ value, text: valueText(value) }))
    return { ticks, share: (value) => Math.log(value / log.least) / Math.log(log.most / log.least) }
  }
  const most = series
    .flatMap(({ values }) => values)
    .reduce<number>((top, value) => Math.max(top, value ?? 0), 0)
  return fromZero(most, Math.max(1, Math.floor((height - LABELS_HEIGHT) / TICK_HEIGHT)), axisText)
}

interface LineViewProps {
  readonly one: LineSeries
  readonly timesMs: readonly number[]
  readonly toMs: number
  readonly frame: PlotFrame
}

function LineView({ one, timesMs, toMs, frame }: LineViewProps) {
  const { colour, values, dash, fill = false, step = false } = one
  const points = timesMs.map((ms, index) => {
    const value = values[index] ?? null
    return { x: frame.x(ms), y: value === null ? null : frame.y(value) }
  })
  const paths = linePaths(points, { isStep: step, bottom: frame.height, endX: frame.x(toMs) })
  return (
    <g pointerEvents="none">
      {fill && <path d={paths.area} fill={paint(colour)} opacity="0.15" />}
      <path
        d={paths.line}
        fill="none"
        stroke={paint(colour)}
        strokeWidth="1.5"
        strokeLinejoin="round"
        strokeDasharray={dash && DASHES[dash]}
      />
      {paths.alone.map(({ x, y }) => (
        <circle key={x} cx={x} cy={y} r="2.5" fill={paint(colour)} />
      ))}
    </g>
  )
}
