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

/** Slots in which rides are counted. */
const RIDE_SLOT_MS = 300_000

export interface DriftSeries {
  readonly name: string
  readonly colour: Colour
  readonly looks: readonly (DriftLook & { readonly looks: number })[]
  /** Probe texts in live calls that were within the space, in slots of `RIDE_SLOT_MS`. */
  readonly rides: readonly DriftRides[]
  /** Those that were outside. */
  readonly badRides: readonly DriftLook[]
}

interface DriftRides {
  readonly atMs: number
  readonly rides: number
  readonly cosine: number
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
    readonly rides: (name: string) => string
    readonly ridesText: (value: string, rides: number) => string
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
  // Of a ride only the cosine of its text is known.
  const shown = measure === 'cosine' ? series : series.map((one) => ({ ...one, rides: [], badRides: [] }))
  const hasRides = shown.some(({ rides }) => rides.length > 0)
  const stops = [
    ...new Set(shown.flatMap(({ looks, rides }) => [...looks, ...rides].map(({ atMs }) => atMs))),
  ].toSorted((a, b) => a - b)
  const looksAt = (stop: number): number =>
    Math.max(0, ...shown.map((one) => one.looks.find(({ atMs }) => atMs === stops[stop])?.looks ?? 0))
  return (
    <Plot
      caption={props.caption}
      span={{ fromMs, toMs }}
      stops={stops}
      stopText={(stop) => props.tipTitle(stops[stop] ?? 0, looksAt(stop))}
      slotMs={hasRides ? RIDE_SLOT_MS : slotMs}
      series={shown.flatMap((one) => [
        checksOf(one, stops, props),
        ...(one.rides.length > 0 ? [ridesOf(one, stops, props)] : []),
      ])}
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
          {shown.map((one) => (
            <Line key={one.name} one={one} frame={frame} {...props} />
          ))}
          {frame.width >= WORDS_WIDTH &&
            shown.map((one) => <Dips key={one.name} one={one} frame={frame} {...props} />)}
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

function ridesOf({ name, colour, rides }: DriftSeries, stops: readonly number[], texts: Texts): PlotSeries {
  const at = (stop: number) => rides.find(({ atMs }) => atMs === stops[stop])
  return {
    label: texts.words.rides(name),
    colour,
    text: (stop) => {
      const found = at(stop)
      return found ? texts.words.ridesText(texts.valueText(found.cosine), found.rides) : '–'
    },
    isNothing: (stop) => at(stop) === undefined,
  }
}

interface LineProps extends Pick<DriftChartProps, 'measure' | 'fromMs' | 'toMs' | 'slotMs'> {
  readonly one: DriftSeries
  readonly frame: PlotFrame
}

/** Checks as a line; rides between them lighter and thinner; a ride that was outside as a diamond. */
function Line({ one, frame, measure, fromMs, toMs, slotMs }: LineProps) {
  const box = { fromMs, toMs, ...frame }
  const rides = one.rides.map((slot) => ({ ...slot, images: null, length: null }))
  return (
    <g fill="none" stroke={paint(one.colour)}>
      <path d={driftPath(rides, measure, box, RIDE_SLOT_MS)} strokeWidth={1} opacity={0.55} />
      <path d={driftPath(one.looks, measure, box, slotMs)} strokeWidth={1.6} />
      {one.looks
        .filter((look) => look[measure] === null && look.verdict === 'failed')
        .map((look) => (
          <circle key={look.atMs} cx={frame.x(look.atMs)} cy={frame.height} r={2.5} fill="var(--surface)" />
        ))}
      {one.badRides.map(({ atMs, cosine }) => (
        <path
          key={atMs}
          d="M0 -5.5 5.5 0 0 5.5 -5.5 0Z"
          transform={`translate(${frame.x(atMs)} ${Math.min(frame.y(cosine ?? 0), frame.height - 6)})`}
          fill="var(--odd-fill)"
          stroke="var(--surface)"
        />
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
