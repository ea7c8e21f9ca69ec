/** Checks of a vector space over time: a step line for each deployment, best on top, with the limits of the guard. */
import { age, cosine, share } from '../../app/format.ts'
import { paint, type Colour } from '../colours.ts'
import { LABELS_HEIGHT, Plot, type PlotFrame, type PlotSeries } from '../plot.tsx'
import {
  DRIFT_LIMITS,
  DRIFT_TICKS,
  dipsIn,
  driftDepth,
  driftPath,
  type DriftLook,
  type DriftMeasure,
} from './drift-layout.ts'

export interface DriftSeries {
  readonly name: string
  readonly colour: Colour
  readonly looks: readonly (DriftLook & { readonly looks: number })[]
}

interface DriftChartProps {
  readonly caption: string
  readonly measure: DriftMeasure
  readonly series: readonly DriftSeries[]
  readonly fromMs: number
  readonly toMs: number
  readonly slotMs: number
  readonly words: {
    readonly warned: string
    readonly quarantined: string
    readonly dip: (value: string, time: string) => string
  }
  readonly valueText: (value: number) => string
  readonly tipTitle: (atMs: number, looks: number) => string
}

const HEIGHT = 264
const AXIS_WIDTH = 68

/** Narrowest chart whose limits are named: below it the words would lie under the lines. */
const WORDS_WIDTH = 480

export function DriftChart(props: DriftChartProps) {
  const { measure, series, fromMs, toMs, slotMs } = props
  const stops = [...new Set(series.flatMap(({ looks }) => looks.map(({ atMs }) => atMs)))].toSorted(
    (a, b) => a - b,
  )
  const looksAt = (stop: number): number =>
    Math.max(0, ...series.map((one) => one.looks.find(({ atMs }) => atMs === stops[stop])?.looks ?? 0))
  return (
    <Plot
      caption={props.caption}
      span={{ fromMs, toMs }}
      stops={stops}
      stopText={(stop) => props.tipTitle(stops[stop] ?? 0, looksAt(stop))}
      slotMs={slotMs}
      series={series.map((one) => checksOf(one, stops, props))}
      scale={{
        ticks: DRIFT_TICKS[measure].map((value) => ({
          value,
          text: measure === 'length' ? `${value * 100}%` : `${value}`,
        })),
        share: (value) => 1 - driftDepth(measure, value),
      }}
      height={HEIGHT + LABELS_HEIGHT}
      top={0}
      axisWidth={AXIS_WIDTH}
    >
      {(frame) => (
        <>
          <Zones measure={measure} frame={frame} words={props.words} />
          {series.map((one) => (
            <Line key={one.name} one={one} frame={frame} {...props} />
          ))}
          {frame.width >= WORDS_WIDTH &&
            series.map((one) => <Dips key={one.name} one={one} frame={frame} {...props} />)}
        </>
      )}
    </Plot>
  )
}

type Texts = Pick<DriftChartProps, 'measure' | 'valueText' | 'words'>

function checksOf({ name, colour, looks }: DriftSeries, stops: readonly number[], texts: Texts): PlotSeries {
  const at = (stop: number) => looks.find(({ atMs }) => atMs === stops[stop])
  return {
    label: name,
    colour,
    text: (stop) => {
      const value = at(stop)?.[texts.measure] ?? null
      return value === null ? '–' : texts.valueText(value)
    },
    isNothing: (stop) => at(stop) === undefined,
  }
}

interface LineProps extends Pick<DriftChartProps, 'measure' | 'fromMs' | 'toMs' | 'slotMs'> {
  readonly one: DriftSeries
  readonly frame: PlotFrame
}

/** Checks as a line. */
function Line({ one, frame, measure, fromMs, toMs, slotMs }: LineProps) {
  const box = { fromMs, toMs, ...frame }
  return (
    <g fill="none" stroke={paint(one.colour)}>
      <path d={driftPath(one.looks, measure, box, slotMs)} strokeWidth={1.6} />
      {one.looks
        .filter((look) => look[measure] === null && look.verdict === 'failed')
        .map((look) => (
          <circle key={look.atMs} cx={frame.x(look.atMs)} cy={frame.height} r={2.5} fill="var(--surface)" />
        ))}
    </g>
  )
}

/** Dips that are named: more would lie over one another. */
const MAX_DIPS = 3
/** Room of the words of the zones at the left. */
const ZONE_WORDS = 240

/** What the line did outside the good zone: how far, how long, and where a quarantine began that still lasts. */
function Dips({ one, frame, measure, slotMs, words }: LineProps & Texts) {
  return dipsIn(one.looks, slotMs)
    .slice(-MAX_DIPS)
    .map(({ fromMs, toMs, worst, isOpen }) => {
      const value = worst[measure]
      const x = frame.x(isOpen ? fromMs : toMs)
      if (value === null || x < ZONE_WORDS) return null
      const isOut = worst.verdict === 'quarantined'
      const text = measure === 'length' ? share(value, 1) : cosine(value, 4)
      return (
        <g key={fromMs} fill={isOut ? 'var(--odd)' : 'var(--warn)'}>
          {isOpen && isOut && (
            <path d={`M${x} 0V${frame.height}`} stroke="var(--odd-fill)" strokeDasharray="2 3" fill="none" />
          )}
          <text
            x={x + (isOpen ? -8 : 6)}
            y={Math.min(frame.y(value) + 4, frame.height - 4)}
            textAnchor={isOpen ? 'end' : 'start'}
            className="text-11 font-semibold"
          >
            {isOpen ? `${one.name} ${text}` : words.dip(text, age(toMs - fromMs))}
          </text>
        </g>
      )
    })
}

interface ZonesProps {
  readonly measure: DriftMeasure
  readonly frame: PlotFrame
  readonly words: DriftChartProps['words']
}

/** What the guard does at each depth. */
function Zones({ measure, frame: { width, height }, words }: ZonesProps) {
  const [warned, outside] = [DRIFT_LIMITS[measure].warned, DRIFT_LIMITS[measure].quarantined].map(
    (limit) => driftDepth(measure, limit) * height,
  ) as [number, number]
  const hasRoom = width >= WORDS_WIDTH
  return (
    <>
      {warned < outside && (
        <>
          <rect y={warned} width={width} height={outside - warned} fill="var(--warn-fill)" opacity={0.14} />
          <line x2={width} y1={warned} y2={warned} stroke="var(--warn-fill)" />
          {hasRoom && (
            <text className="text-11" x={8} y={warned + 15} fill="var(--warn)">
              {words.warned}
            </text>
          )}
        </>
      )}
      <rect y={outside} width={width} height={height - outside} fill="var(--odd-fill)" opacity={0.12} />
      <line x2={width} y1={outside} y2={outside} stroke="var(--odd-fill)" />
      {hasRoom && (
        <text className="text-11" x={8} y={outside + 17} fill="var(--odd)">
          {words.quarantined}
        </text>
      )}
    </>
  )
}
