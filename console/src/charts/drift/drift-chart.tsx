/** Checks of a vector space over time: a step line for each deployment, best on top, with the limits of the guard. */
import { paint, type Colour } from '../colours.ts'
import { LABELS_HEIGHT, Plot, type PlotFrame } from '../plot.tsx'
import {
  COSINE_LIMITS,
  cosineDepth,
  DRIFT_TICKS,
  driftPath,
  LENGTH_LIMIT,
  lengthDepth,
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
  readonly words: { readonly warned: string; readonly quarantined: string }
  readonly valueText: (value: number) => string
  readonly tipTitle: (atMs: number, looks: number) => string
}

const HEIGHT = 264
const AXIS_WIDTH = 68

/** Narrowest chart whose limits are named: below it the words would lie under the lines. */
const WORDS_WIDTH = 480

export function DriftChart(props: DriftChartProps) {
  const { measure, series, fromMs, toMs, slotMs, valueText } = props
  const stops = [...new Set(series.flatMap(({ looks }) => looks.map(({ atMs }) => atMs)))].toSorted(
    (a, b) => a - b,
  )
  const lookAt = ({ looks }: DriftSeries, stop: number) => looks.find(({ atMs }) => atMs === stops[stop])
  return (
    <Plot
      caption={props.caption}
      span={{ fromMs, toMs }}
      stops={stops}
      stopText={(stop) =>
        props.tipTitle(stops[stop] ?? 0, Math.max(0, ...series.map((one) => lookAt(one, stop)?.looks ?? 0)))
      }
      slotMs={slotMs}
      series={series.map((one) => ({
        label: one.name,
        colour: one.colour,
        text: (stop) => {
          const value = lookAt(one, stop)?.[measure] ?? null
          return value === null ? '–' : valueText(value)
        },
      }))}
      scale={{
        ticks: DRIFT_TICKS[measure].map((value) => ({
          value,
          text: measure === 'cosine' ? `${value}` : `${value * 100}%`,
        })),
        share: (value) => 1 - depth(measure, value),
      }}
      height={HEIGHT + LABELS_HEIGHT}
      top={0}
      axisWidth={AXIS_WIDTH}
    >
      {(frame) => (
        <>
          <Zones measure={measure} frame={frame} words={props.words} />
          {series.map((one) => (
            <g key={one.name}>
              <path
                d={driftPath(one.looks, measure, { fromMs, toMs, ...frame }, slotMs)}
                fill="none"
                stroke={paint(one.colour)}
                strokeWidth={1.6}
              />
              {one.looks
                .filter((look) => look[measure] === null)
                .map((look) => (
                  <circle
                    key={look.atMs}
                    cx={frame.x(look.atMs)}
                    cy={frame.height}
                    r={2.5}
                    fill="var(--surface)"
                    stroke={paint(one.colour)}
                  />
                ))}
            </g>
          ))}
        </>
      )}
    </Plot>
  )
}

function depth(measure: DriftMeasure, value: number): number {
  return measure === 'cosine' ? cosineDepth(value) : lengthDepth(value)
}

interface ZonesProps {
  readonly measure: DriftMeasure
  readonly frame: PlotFrame
  readonly words: DriftChartProps['words']
}

/** What the guard does at each depth. Of lengths there is one limit: beyond it is quarantine. */
function Zones({ measure, frame: { width, height }, words }: ZonesProps) {
  const outside = depth(measure, measure === 'cosine' ? COSINE_LIMITS.quarantined : LENGTH_LIMIT) * height
  const warned = measure === 'cosine' ? cosineDepth(COSINE_LIMITS.warned) * height : outside
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
