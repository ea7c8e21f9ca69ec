/** What was spent of a budget against its even pace, and when it will be used up. */
import { fromZero, type AxisText } from './axis.ts'
import { burnUpLayout, mostOf, type BurnUpData } from './burn-up-layout.ts'
import { Plot, type PlotFrame } from './plot.tsx'

interface BurnMark {
  readonly atMs: number
  readonly text: string
}

interface BurnUpProps extends BurnUpData {
  /** The finding, in a sentence. */
  readonly caption: string
  readonly marks: readonly BurnMark[]
  readonly valueText: (value: number) => string
  readonly axisText: AxisText
  readonly slotText: (atMs: number) => string
  readonly words: {
    readonly now: string
    readonly pace: string
    /** Above the moment at which it is used up. */
    readonly usedUp: string | undefined
    readonly spent: string
  }
  readonly height?: number
}

/** Room for what is written above the limit, in pixels. */
const TOP = 60
const LINES = 5
/** Of the axis, that a number takes: nearer to the limit, two numbers would overlap. */
const LABEL_SHARE = 0.06

export function BurnUp(props: BurnUpProps) {
  const { caption, valueText, axisText, slotText, words, points, limit, height = 300 } = props
  const most = mostOf(props)
  const { ticks } = fromZero(most, LINES, axisText)
  return (
    <Plot
      caption={caption}
      span={props}
      zone="UTC"
      stops={points.map(({ atMs }) => atMs)}
      stopText={(stop) => slotText(points[stop]?.atMs ?? 0)}
      series={[{ label: words.spent, colour: 's1', text: (stop) => valueText(points[stop]?.value ?? 0) }]}
      scale={{
        // The limit has its own line and its own number.
        ticks: ticks.filter(({ value }) => value <= most && Math.abs(value - limit) > most * LABEL_SHARE),
        share: (value) => (most <= 0 ? 0 : value / most),
      }}
      height={height}
      top={TOP}
      axisWidth={70}
    >
      {(frame) => <Lines {...props} frame={frame} />}
    </Plot>
  )
}

function Lines(props: BurnUpProps & { readonly frame: PlotFrame }) {
  const { frame, marks, axisText, words, points, limit } = props
  const { width: plotWidth, height: plotHeight } = frame
  const layout = burnUpLayout(props, { width: plotWidth, height: plotHeight, top: TOP })
  const { x, y, now } = layout
  const usedUpMs = props.forecast?.usedUpMs
  const valueAt = (atMs: number): number => points.findLast((point) => point.atMs <= atMs)?.value ?? 0
  return (
    <>
      <path d={layout.area} fill="var(--s1)" opacity="0.12" />
      {layout.band !== undefined && <path d={layout.band} fill="var(--s1)" opacity="0.18" />}
      <path d={layout.pace} stroke="var(--ink-3)" strokeDasharray="3 3" fill="none" />
      <text
        className="fill-ink-3 text-11"
        textAnchor="middle"
        transform={paceLabel(plotWidth, plotHeight, y(limit))}
      >
        {words.pace}
      </text>
      <path d={`M0 ${Math.round(y(limit)) + 0.5}H${plotWidth}`} stroke="var(--bad-fill)" strokeWidth="1.25" />
      <text x={plotWidth + 8} y={y(limit) + 4} className="fill-bad text-11 font-semibold">
        {axisText(limit, 0)}
      </text>
      <path d={layout.line} stroke="var(--s1)" strokeWidth="2" fill="none" strokeLinejoin="round" />
      {layout.forecast !== undefined && (
        <path d={layout.forecast} stroke="var(--s1)" strokeWidth="2" strokeDasharray="2 3" fill="none" />
      )}
      {usedUpMs !== undefined && (
        <g>
          <path
            d={`M${x(usedUpMs)} ${y(limit)}V${plotHeight}`}
            stroke="var(--warn-fill)"
            strokeDasharray="2 3"
          />
          <circle cx={x(usedUpMs)} cy={y(limit)} r="4" fill="var(--warn-fill)" />
          <text
            x={x(usedUpMs) + (isFarRight(x(usedUpMs), plotWidth) ? -8 : 8)}
            y={y(limit) - 9}
            textAnchor={isFarRight(x(usedUpMs), plotWidth) ? 'end' : 'start'}
            className="fill-warn text-11 font-semibold"
          >
            {words.usedUp}
          </text>
        </g>
      )}
      {marks.map((mark) => (
        <g key={mark.text}>
          <circle
            cx={x(mark.atMs)}
            cy={y(valueAt(mark.atMs))}
            r="3.5"
            fill="var(--surface)"
            stroke="var(--ink-2)"
            strokeWidth="1.5"
          />
          <text
            x={x(mark.atMs) + 9}
            y={Math.min(y(valueAt(mark.atMs)) + 15, plotHeight - 6)}
            className="fill-ink-2 text-11"
          >
            {mark.text}
          </text>
        </g>
      ))}
      {points.length > 0 && (
        <>
          <circle cx={now.x} cy={now.y} r="3.5" fill="var(--s1)" />
          <text
            x={now.x - 8}
            y={now.y - 9}
            textAnchor={now.x < 80 ? 'start' : 'end'}
            className="fill-ink text-11 font-semibold"
          >
            {words.now}
          </text>
        </>
      )}
    </>
  )
}

function isFarRight(x: number, width: number): boolean {
  return x > width - 190
}

/** Along the line, near its end. */
function paceLabel(width: number, height: number, limitY: number): string {
  const share = 0.84
  const angle = (Math.atan2(limitY - height, Math.max(1, width)) * 180) / Math.PI
  return `translate(${width * share} ${height + (limitY - height) * share - 6}) rotate(${angle})`
}
