/** What each type of vector keeps at each number of bytes: one line for each type through its widths, and what is wished for. */
import { useState, type PointerEvent, type ReactNode } from 'react'
import { ChartFrame, type ChartTable } from '../frame.tsx'
import { paint, type Colour } from '../colours.ts'
import { Grid } from '../plot.tsx'
import { useWidth } from '../size.ts'
import { Tip } from '../tip.tsx'
import {
  axesOf,
  bandWords,
  namesOf,
  notesOver,
  type Box,
  type KeptAxes,
  type KeptPoint,
} from './kept-layout.ts'
import { spotAt, towards, type Spot } from './map-layout.ts'
import { shapePath, type Shape } from './marks.ts'

export interface KeptLine {
  readonly name: string
  readonly colour: Colour
  readonly shape: Shape
  readonly isDashed?: boolean
  /** Smallest first. */
  readonly points: readonly (KeptPoint & { readonly title: string; readonly values: string })[]
}

/** A ringed point with words above the chart. */
export interface KeptNote {
  readonly point: KeptPoint
  readonly title: string
  readonly text: string
}

interface KeptChartProps {
  readonly caption: string
  readonly lines: readonly KeptLine[]
  readonly notes: readonly KeptNote[]
  readonly wish: { readonly share: number; readonly text: string }
  readonly bytesText: (bytes: number) => string
  readonly shareText: (share: number) => string
  readonly table: () => ChartTable
  readonly isTable: boolean
  readonly onTable: (isTable: boolean) => void
}

const HEIGHT = 292
/** Above the highest share: two lines of a note and the line to its point. */
const TOP = 46
const BOTTOM = 22
const SHARES_WIDTH = 46
/** Of 12 px semibold and 11 px; a little more than most letters take. */
const LETTER = { name: 6.8, note: 6 }
const RING = 10

export function KeptChart(props: KeptChartProps) {
  const { lines, notes, wish } = props
  const [box, wholeWidth] = useWidth<HTMLDivElement>()
  const [at, setAt] = useState<number>()
  const width = Math.max(0, wholeWidth - SHARES_WIDTH)
  const axes = axesOf(
    lines.flatMap(({ points }) => points),
    { width, height: HEIGHT },
  )
  const points = lines.flatMap((line) => line.points.map((point) => ({ ...point, line })))
  const spots = points.map(axes.spot)
  const band = bandWords(spots, wish.text.length * LETTER.note, width, heightOf(axes, wish.share))
  const pointed = at === undefined ? undefined : points[at]
  const find = (event: PointerEvent<SVGSVGElement>): void => {
    const { left, top } = event.currentTarget.getBoundingClientRect()
    setAt(spotAt(spots, event.clientX - left, event.clientY - top - TOP, 24))
  }
  return (
    <ChartFrame
      caption={props.caption}
      points={points.length}
      describe={(index) => `${points[index]?.title}: ${points[index]?.values}`}
      at={at}
      onAt={setAt}
      walk={(arrow, from) => towards(spots, from, arrow)}
      table={props.table}
      isTable={props.isTable}
      onTable={props.onTable}
    >
      <div ref={box} className="relative">
        <svg
          aria-hidden
          width={wholeWidth}
          height={TOP + HEIGHT + BOTTOM}
          className="block overflow-visible"
          onPointerMove={find}
          onPointerLeave={() => setAt(undefined)}
        >
          {width > 0 && (
            <g transform={`translate(0 ${TOP})`}>
              <Wish axes={axes} width={width} {...wish} words={band} />
              <Axes axes={axes} width={width} bytesText={props.bytesText} shareText={props.shareText} />
              <Lines lines={lines} notes={notes} axes={axes} width={width} words={band} />
              <Notes notes={notes} axes={axes} width={width} />
              {pointed && <Ring spot={axes.spot(pointed)} stroke="var(--accent)" />}
            </g>
          )}
        </svg>
        {pointed && (
          <Tip
            x={axes.spot(pointed).x}
            width={width}
            title={pointed.title}
            lines={[{ label: pointed.line.name, colour: pointed.line.colour, value: pointed.values }]}
          />
        )}
      </div>
    </ChartFrame>
  )
}

interface PartProps {
  readonly axes: KeptAxes
  readonly width: number
}

interface WordsProps {
  /** Where the words of the band are. */
  readonly words: Box
}

function heightOf(axes: KeptAxes, share: number): number {
  return axes.spot({ bytes: 1, kept: share }).y
}

/** The band of what is enough. */
function Wish({ axes, width, share, text, words }: PartProps & KeptChartProps['wish'] & WordsProps) {
  const y = heightOf(axes, share)
  return (
    <>
      <rect width={width} height={y} fill="var(--good-tint)" />
      <path d={`M0 ${y}H${width}`} stroke="var(--good-fill)" strokeDasharray="4 3" />
      <text x={words.left} y={words.top + 12} fill="var(--good)" className="text-11">
        {text}
      </text>
    </>
  )
}

function Axes({
  axes,
  width,
  bytesText,
  shareText,
}: PartProps & Pick<KeptChartProps, 'bytesText' | 'shareText'>): ReactNode {
  const ticks = axes.shares.map((value) => ({ value, text: shareText(value) }))
  return (
    <>
      <Grid
        frame={{ width, height: HEIGHT, y: (share) => heightOf(axes, share) }}
        scale={{ ticks, share: (value) => value }}
      />
      {axes.bytes.map((bytes) => {
        const { x } = axes.spot({ bytes, kept: 1 })
        return (
          <g key={bytes}>
            <path d={`M${x} ${HEIGHT}v4`} stroke="var(--line-strong)" />
            <text x={x} y={HEIGHT + 17} textAnchor="middle" className="fill-ink-3 text-11 tabular-nums">
              {bytesText(bytes)}
            </text>
          </g>
        )
      })}
    </>
  )
}

function Lines({
  lines,
  notes,
  axes,
  width,
  words,
}: PartProps & WordsProps & { readonly lines: readonly KeptLine[]; readonly notes: readonly KeptNote[] }) {
  const drawn = lines.map(({ points }) => points.map(axes.spot))
  const rings = notes.map(({ point }): Box => {
    const { x, y } = axes.spot(point)
    return { left: x - RING, top: y - RING, right: x + RING, bottom: y + RING }
  })
  const names = namesOf(
    drawn,
    lines.map(({ name }) => name.length * LETTER.name),
    [...rings, words],
    { width, height: HEIGHT },
  )
  return lines.map(({ name, colour, shape, isDashed }, line) => (
    <g key={name}>
      <path
        d={`M${drawn[line]?.map(({ x, y }) => `${x} ${y}`).join('L')}`}
        fill="none"
        stroke={paint(colour)}
        strokeWidth={1.4}
        {...(isDashed === true && { strokeDasharray: '4 3' })}
      />
      {drawn[line]?.map(({ x, y }, place) => (
        <path key={place} d={shapePath(shape, 9)} transform={`translate(${x} ${y})`} fill={paint(colour)} />
      ))}
      {names[line] && (
        <text
          x={names[line].left}
          y={names[line].top + 12}
          className="fill-ink text-12 font-strong"
          stroke="var(--surface)"
          strokeWidth={3}
          paintOrder="stroke"
        >
          {name}
        </text>
      )}
    </g>
  ))
}

function Notes({ notes, axes, width }: PartProps & { readonly notes: readonly KeptNote[] }) {
  const spots = notes.map(({ point }) => axes.spot(point))
  const middles = notesOver(
    spots.map(({ x }) => x),
    notes.map(({ title, text }) => Math.max(title.length * LETTER.name, text.length * LETTER.note)),
    width + SHARES_WIDTH,
  )
  return notes.map(({ title, text }, place) => {
    const spot = spots[place] ?? { x: 0, y: 0 }
    return (
      <g key={title}>
        <path
          d={`M${middles[place]} -12L${spot.x} ${Math.min(-2, spot.y - RING)}V${spot.y - RING}`}
          fill="none"
          stroke="var(--ink-2)"
        />
        <Ring spot={spot} stroke="var(--ink)" />
        <text textAnchor="middle" x={middles[place]} y={-32} className="fill-ink text-12 font-strong">
          {title}
        </text>
        <text textAnchor="middle" x={middles[place]} y={-17} className="fill-ink-2 text-11 tabular-nums">
          {text}
        </text>
      </g>
    )
  })
}

function Ring({ spot: { x, y }, stroke }: { readonly spot: Spot; readonly stroke: string }) {
  return <circle cx={x} cy={y} r={RING} fill="none" stroke={stroke} strokeWidth={1.6} />
}
