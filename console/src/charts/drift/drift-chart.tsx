/** Looks at a vector space over time: a step line for each deployment, best on top, with the limits of the guard. */
import { useState } from 'react'
import { useWidth } from '../size.ts'
import { paint, type Colour } from '../colours.ts'
import { ChartFrame } from '../frame.tsx'
import { Tip } from '../tip.tsx'
import type { TimeTick } from '../axis.ts'
import {
  COSINE_LIMITS,
  cosineDepth,
  DRIFT_TICKS,
  driftPath,
  driftX,
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
  readonly ticks: readonly TimeTick[]
  readonly words: { readonly warned: string; readonly quarantined: string; readonly time: string }
  readonly valueText: (value: number) => string
  readonly tipTitle: (atMs: number, looks: number) => string
}

const HEIGHT = 264
const AXIS = 68
const BELOW = 22

/** On a narrower picture they would lie under the lines; the colours and the axis say the same. */
const LEAST_WIDTH_OF_WORDS = 480

export function DriftChart(props: DriftChartProps) {
  const { caption, measure, series, fromMs, toMs, slotMs, ticks, valueText } = props
  const [ref, width] = useWidth<HTMLDivElement>()
  const [at, setAt] = useState<number>()
  const frame = { fromMs, toMs, width: Math.max(0, width - AXIS), height: HEIGHT }
  const slots = [...new Set(series.flatMap(({ looks }) => looks.map(({ atMs }) => atMs)))].toSorted(
    (a, b) => a - b,
  )
  const atMs = at === undefined ? undefined : slots[at]
  const valueAt = (one: DriftSeries, ms: number): number | null =>
    one.looks.find((look) => look.atMs === ms)?.[measure] ?? null
  const told = (value: number | null): string => (value === null ? '–' : valueText(value))
  const looksAt = (ms: number): number =>
    Math.max(0, ...series.map(({ looks }) => looks.find((look) => look.atMs === ms)?.looks ?? 0))
  return (
    <ChartFrame
      caption={caption}
      points={slots.length}
      at={at}
      onAt={setAt}
      describe={(index) =>
        `${props.tipTitle(slots[index] ?? 0, looksAt(slots[index] ?? 0))}: ${series.map((one) => `${one.name} ${told(valueAt(one, slots[index] ?? 0))}`).join(', ')}`
      }
      table={() => ({
        heads: [props.words.time, ...series.map(({ name }) => name)],
        rows: slots
          .toReversed()
          .map((ms) => [props.tipTitle(ms, looksAt(ms)), ...series.map((one) => told(valueAt(one, ms)))]),
      })}
    >
      <div
        ref={ref}
        onPointerMove={(event) => {
          const x = event.clientX - event.currentTarget.getBoundingClientRect().left
          const ms = fromMs + (x / Math.max(1, frame.width)) * (toMs - fromMs)
          const index = slots.findLastIndex((slot) => slot <= ms)
          setAt(index < 0 || ms - (slots[index] ?? 0) > 2 * slotMs ? undefined : index)
        }}
        onPointerLeave={() => setAt(undefined)}
      >
        {width > 0 && (
          <svg aria-hidden width={width} height={HEIGHT + BELOW} className="block text-11">
            <Zones measure={measure} width={frame.width} words={props.words} />
            {DRIFT_TICKS[measure].map((tick) => {
              const y = depth(measure, tick) * HEIGHT
              return (
                <g key={tick}>
                  <line x1={0} x2={frame.width} y1={y} y2={y} stroke="var(--line)" />
                  <text x={frame.width + 8} y={y + 4} fill="var(--ink-2)">
                    {measure === 'cosine' ? tick : `${tick * 100}%`}
                  </text>
                </g>
              )
            })}
            {ticks.map((tick) => (
              <text key={tick.atMs} x={driftX(tick.atMs, frame)} y={HEIGHT + 17} fill="var(--ink-2)">
                {tick.text}
              </text>
            ))}
            {series.map((one) => (
              <g key={one.name}>
                <path
                  d={driftPath(one.looks, measure, frame, slotMs)}
                  fill="none"
                  stroke={paint(one.colour)}
                  strokeWidth={1.6}
                />
                {one.looks
                  .filter((look) => look[measure] === null)
                  .map((look) => (
                    <circle
                      key={look.atMs}
                      cx={driftX(look.atMs, frame)}
                      cy={HEIGHT}
                      r={2.5}
                      fill="var(--surface)"
                      stroke={paint(one.colour)}
                    />
                  ))}
              </g>
            ))}
            {atMs !== undefined && (
              <line
                x1={driftX(atMs, frame)}
                x2={driftX(atMs, frame)}
                y1={0}
                y2={HEIGHT}
                stroke="var(--ink-3)"
              />
            )}
          </svg>
        )}
        {atMs !== undefined && (
          <Tip
            x={driftX(atMs, frame)}
            width={width}
            title={props.tipTitle(atMs, looksAt(atMs))}
            lines={series.map((one) => ({
              label: one.name,
              colour: one.colour,
              value: told(valueAt(one, atMs)),
            }))}
          />
        )}
      </div>
    </ChartFrame>
  )
}

function depth(measure: DriftMeasure, value: number): number {
  return measure === 'cosine' ? cosineDepth(value) : lengthDepth(value)
}

/** What the guard does at each depth. Of lengths there is one limit: beyond it is quarantine. */
function Zones({
  measure,
  width,
  words,
}: {
  readonly measure: DriftMeasure
  readonly width: number
  readonly words: DriftChartProps['words']
}) {
  const outside = depth(measure, measure === 'cosine' ? COSINE_LIMITS.quarantined : LENGTH_LIMIT) * HEIGHT
  const warned = measure === 'cosine' ? cosineDepth(COSINE_LIMITS.warned) * HEIGHT : outside
  const hasRoom = width >= LEAST_WIDTH_OF_WORDS
  return (
    <>
      {warned < outside && (
        <>
          <rect y={warned} width={width} height={outside - warned} fill="var(--warn-fill)" opacity={0.14} />
          <line x2={width} y1={warned} y2={warned} stroke="var(--warn-fill)" />
          {hasRoom && (
            <text x={8} y={warned + 15} fill="var(--warn)">
              {words.warned}
            </text>
          )}
        </>
      )}
      <rect y={outside} width={width} height={HEIGHT - outside} fill="var(--odd-fill)" opacity={0.12} />
      <line x2={width} y1={outside} y2={outside} stroke="var(--odd-fill)" />
      {hasRoom && (
        <text x={8} y={outside + 17} fill="var(--odd)">
          {words.quarantined}
        </text>
      )}
    </>
  )
}
